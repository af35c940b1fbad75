"""The verbs of the factory, one stage each: `mine`, `complexify`, `tools`, `taxonomy`. `build` runs them all."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_world.cli_options import DEFAULT, Config, Fresh, Machine, Overrides, find_bundle, show
from agent_world.errors import UsageError
from agent_world.progress import Progress
from agent_world.settings import Settings, load_settings

if TYPE_CHECKING:
    from agent_world.graphs.deps import Deps
    from agent_world.memory.store import Bundle

taxonomy_app = typer.Typer(no_args_is_help=True, help="The place of every environment: types and clusters.")


def add_verbs(app: typer.Typer) -> None:
    app.command()(mine)
    app.command()(complexify)
    app.command()(tools)
    app.add_typer(taxonomy_app, name="taxonomy")


def mine(
    words: Annotated[
        list[str] | None, typer.Argument(help="Ids of themes (all when none is named), and settings as key=value.")
    ] = None,
    config: Config = DEFAULT,
    fresh: Fresh = False,
) -> None:
    """Mine a database for each theme, then complexify it. Killed and run again, it goes on."""
    from agent_world.training.stages import factory
    from agent_world.training.stages.factory_report import report_factory

    named = [word for word in words or [] if "=" not in word]
    settings = load_settings(config, [word for word in words or [] if "=" in word])

    async def work(deps: "Deps") -> None:
        if deps.engine("miner") == "llm":
            deps.model("miner")
        with deps.progress.stage("Themes"):
            deps.progress.say(f"Themes: {await factory.gather_themes(deps)}")
        known = factory.themes_of(deps)
        unknown = [name for name in named if name not in known]
        if unknown:
            raise UsageError(f"There is no theme {unknown[0]!r}; `agent-world themes list` shows them.")
        with deps.progress.stage("Mining"):
            deps.progress.say(f"Mining: {await factory.mine_all(deps, named or sorted(known))}")
        for line in (await asyncio.to_thread(report_factory, deps)).cost_lines():
            deps.progress.say(line)

    _in_workspace(settings, work, fresh=fresh)


def complexify(
    environment: str, config: Config = DEFAULT, overrides: Overrides = None,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds to add.")] = 1,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last round back, to the byte.")] = False,
) -> None:  # fmt: skip
    """Enrich an environment's database: more rows, tables and links, each round recorded with its score."""
    from agent_world.graphs.complexify import complexify_bundle, undo_round

    settings = load_settings(config, overrides or [])
    bundle = _without_tasks(environment, settings)

    async def work(deps: "Deps") -> None:
        if undo:
            had_tools = bool(bundle.tools())
            number = await asyncio.to_thread(undo_round, bundle, deps)
            deps.progress.say(f"{environment} is what it was before round {number}.")
            if had_tools and not bundle.tools():
                deps.progress.say(f"It had no tools then; agent-world tools {environment} writes them.")
            return
        for _ in range(rounds):
            number = len(bundle.environment().rounds) + 1
            await complexify_bundle(bundle, deps, number)
            done = next((r for r in bundle.environment().rounds if r.number == number), None)
            if done is None:
                deps.progress.say(f"Round {number}: nothing more to add.")
                break
            changes = "; ".join(done.changes)
            deps.progress.say(f"Round {number}: score {done.score_before:.2f} to {done.score_after:.2f}. {changes}")
            if done.left_out:
                left = "; ".join(done.left_out)
                deps.progress.say(
                    f"Left out, as {environment} has tools: {left}. Mined anew, it gets them before its tools."
                )

    _in_workspace(settings, work)


def tools(environment: str, config: Config = DEFAULT, overrides: Overrides = None, machine: Machine = False) -> None:
    """Write an environment's tools with unit tests, run them, and keep the valid ones."""
    from agent_world.training.stages.factory import write_environment_tools

    settings = load_settings(config, overrides or [])
    bundle = _without_tasks(environment, settings)

    async def work(deps: "Deps") -> None:
        await write_environment_tools(environment, deps)

    _in_workspace(settings, work)
    verdicts = bundle.environment().tools if bundle.root.exists() else ()
    rows = [v.model_dump(include={"tool", "kept", "tests_passed", "tests_total", "reason"}) for v in verdicts]
    show([*rows, *(_unserved(bundle) if verdicts else [])], machine)


@taxonomy_app.command("show")
def show_taxonomy(overrides: Overrides = None, config: Config = DEFAULT, machine: Machine = False) -> None:
    """Print types, clusters and environments, and draw them."""
    from rich import print as show_tree
    from rich.tree import Tree

    from agent_world.agents.taxonomist.taxonomy import FILE, read_taxonomy
    from agent_world.evals.pictures import picture_of_taxonomy
    from agent_world.memory.store import write_text

    settings = load_settings(config, overrides or [])
    found = read_taxonomy(settings.workspace / FILE)
    if not found.types:
        raise UsageError(f"There is no taxonomy in {settings.workspace}; `agent-world build` makes one.")
    if machine:
        print(json.dumps(found.types, ensure_ascii=False, indent=1))
        return
    tree = Tree(f"{len(found.places())} environments")
    for kind, clusters in found.types.items():
        branch = tree.add(kind)
        for cluster, members in clusters.items():
            branch.add(cluster).add(", ".join(members))
    show_tree(tree)
    path = settings.workspace / "report" / "taxonomy.svg"
    write_text(path, picture_of_taxonomy(found.types))
    print(f"Drawn in {path}; to change it, edit {settings.workspace / FILE}.")


def _unserved(bundle: "Bundle") -> list[dict[str, Any]]:
    """A line for each tool of the theme's real service that no tool of the environment is."""
    from agent_world.agents.coder.data import read_data
    from agent_world.agents.coder.service import unserved

    left = unserved(read_data(bundle), bundle.environment().theme, bundle.tools())
    return [
        {"tool": tool, "kept": False, "tests_passed": 0, "tests_total": 0, "reason": f"not mirrored: {reason}"}
        for tool, reason in left.items()
    ]


def _without_tasks(environment: str, settings: Settings) -> "Bundle":
    bundle = find_bundle(environment, settings)
    if bundle.tasks():
        path = Path(bundle.root, "tasks.jsonl")
        raise UsageError(f"{environment} has tasks that rest on what it is now; remove {path} to change it.")
    return bundle


def _in_workspace(settings: Settings, work: "Callable[[Deps], Awaitable[None]]", *, fresh: bool = False) -> None:
    from agent_world.graphs.deps import open_deps
    from agent_world.memory.workspace import own_workspace

    async def run() -> None:
        with own_workspace(settings, fresh=fresh):
            async with open_deps(settings, Progress(), checkpoints=False) as deps:
                await work(deps)

    asyncio.run(run())
