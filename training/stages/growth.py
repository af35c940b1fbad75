"""Between two rounds: say where the policy is weak and why, and grow exactly there (section 3.2.2)."""

from functools import partial

from agent_world.evals.arena import load_trajectories
from agent_world.graphs.complexify import grow
from agent_world.graphs.deps import Deps
from agent_world.graphs.diagnose import diagnose
from agent_world.graphs.synthesize import SynthesisRequest
from agent_world.memory.store import read_record, write_record
from agent_world.memory.workspace import Outcome
from agent_world.schema import ArenaResult, Diagnosis, Environment, Weakness
from agent_world.training.stages.factory import split_of, synthesize_in, write_environment_tools
from agent_world.training.stages.learning import training_bundles
from agent_world.training.stages.units import each, told


async def diagnose_round(deps: Deps, number: int, results: list[ArenaResult]) -> Diagnosis:
    """Weak environments, ranked, with a guideline each; from the runs on the fixed and on the fresh arena tasks."""
    path = deps.settings.workspace / "diagnoses" / f"round_{number}.json"
    if not path.exists():
        bundles = [deps.store.bundle(environment) for environment in split_of(deps).arena]
        trajectories = [t for result in results for t in load_trajectories(deps.settings.workspace, result)]
        write_record(path, await diagnose(number, trajectories, bundles, deps))
    return read_record(path, Diagnosis)


async def expand(deps: Deps, number: int, diagnosis: Diagnosis) -> str:
    """Targeted tasks in training environments like the weak ones, and grown databases where diversity lacks."""
    weaknesses = diagnosis.weaknesses[: deps.settings.growth.weaknesses]
    if not weaknesses:
        return "nothing weak was found, so nothing was added"
    grown = await _grow_databases(deps, number, weaknesses)
    chosen = choose_targets(deps, number, weaknesses)
    guidelines = tuple(weakness.guideline for weakness in weaknesses)
    request = SynthesisRequest(
        graph=deps.settings.growth.graph,
        program=deps.settings.growth.program,
        seed=deps.settings.seed + 1000 * number + 1,
        round=number,
        guidelines=guidelines,
        append=True,
    )
    units = {unit: partial(synthesize_in, unit, request) for unit in chosen}
    outcomes = await each(f"targeted_{number}", units, deps, needed=False)
    added = sum(task.round == number for e in chosen for task in deps.store.bundle(e).tasks())
    extra = f", {len(grown)} database grown" if grown else ""
    return told(f"{added} targeted tasks in {len(chosen)} training environments{extra}", outcomes)


def choose_targets(deps: Deps, number: int, weaknesses: tuple[Weakness, ...]) -> list[str]:
    """Training environments of the weak environments' types first, then others, in order; grown ones included."""
    heads = {environment: bundle.environment() for environment, bundle in training_bundles(deps).items()}
    weak_types = {deps.store.bundle(w.environment).environment().taxonomy[:1] for w in weaknesses}

    def rank(environment: str) -> tuple[bool, bool, str]:
        fresh = environment.endswith(f"_r{number}")
        return (not fresh, heads[environment].taxonomy[:1] not in weak_types, environment)

    return sorted(heads, key=rank)[: deps.settings.growth.environments]


async def _grow_databases(deps: Deps, number: int, weaknesses: tuple[Weakness, ...]) -> list[str]:
    wanting = [w for w in weaknesses if w.guideline.needs_state_diversity]
    if not wanting:
        return []
    originals = [e for e in choose_targets(deps, number, tuple(wanting)) if e in split_of(deps).training]
    wanted = originals[: deps.settings.growth.grown]
    units = {unit: partial(_grow_database, unit, number) for unit in wanted}
    outcomes = await each(f"grown_{number}", units, deps, needed=False)
    return [unit for unit, outcome in outcomes.items() if not outcome.failure]


async def _grow_database(environment: str, number: int, deps: Deps) -> Outcome:
    bundle = await grow(deps.store.bundle(environment), number, deps)
    outcome = await write_environment_tools(bundle.id, deps)
    return outcome.model_copy(update={"line": f"{_rows(bundle.environment())} rows now, {outcome.line}"})


def _rows(environment: Environment) -> int:
    return sum(table.rows for table in environment.database.tables)
