"""What a build would take, before it is begun: units, seconds, and calls and tokens of chat models at most."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from agent_world.agents.synthesizer.program_llm import LIKELY_TURNS, MOST_TURNS
from agent_world.agents.themes import collect_themes
from agent_world.agents.themes.sources import extra_sources
from agent_world.graphs.mine import PASSES
from agent_world.graphs.validate import most_turns
from agent_world.memory.workspace import Workspace
from agent_world.settings import ModelConfig, Role, Settings

SECONDS = {"mine": 4.0, "page": 0.25, "tools": 1.0, "task": 0.6}
"""Of one core, on the offline web: a theme's mining beside its pages, a page, an environment's tools, a task. A real
web is slower by its answers."""
CALL = {"seconds": 8.0, "read": 6000.0, "written": 900.0}
"""Of one call of a chat model, about: prompts carry schemas, rows and earlier answers. Where the workspace holds calls
of the same model, theirs are taken."""
ENOUGH = 5
"""Calls from which a mean says something."""
MOST_CALLS = 40
"""Of one task, about."""
TURNS = 8
"""Of one attempt at a task, about; at most as many as `graphs/validate.py` allows for the longest tasks."""


@dataclass(frozen=True, slots=True)
class Calls:
    """What one role asks."""

    role: Role
    likely: int
    most: int
    """With every retry."""


async def estimate(settings: Settings) -> list[str]:
    """Lines for people. Themes are read, as their number decides all else; nothing is written to the workspace."""
    with tempfile.TemporaryDirectory() as scratch:
        aside = settings.model_copy(update={"workspace": Path(scratch)})
        sources = (*settings.themes, *extra_sources(settings.workspace))
        themes, dropped = await collect_themes(aside.model_copy(update={"themes": sources}))
    space = Workspace(settings.workspace)
    finished = {unit for unit, outcome in space.outcomes("mine").items() if not outcome.failure}
    count, left = sum(theme.id not in finished for theme in themes), sum(item.kind == "theme" for item in dropped)
    mining, tasks = settings.mining, settings.tasks.graph + settings.tasks.program
    pages = count * (mining.pages + settings.complexify.rounds * settings.complexify.pages)
    asked = [_Asked(calls, model, _mean(space, calls.role, model)) for calls, model in _with_models(settings, count)]
    seconds = count * (SECONDS["mine"] + SECONDS["tools"] + tasks * SECONDS["task"]) + pages * SECONDS["page"]
    minutes = (seconds + sum(one.seconds for one in asked)) / settings.concurrency / 60
    lines = [
        f"{len(themes)} themes, {left} dropped as junk or repeats",
        *(
            [f"{len(themes) - count} of them are done in {settings.workspace}; the rest:"]
            if count < len(themes)
            else []
        ),
        f"Mining: at most {pages} pages, {count * mining.queries} searches; {settings.complexify.rounds} rounds each",
        f"Tools: at most {count * settings.tools.max_tools} in {count} environments",
        f"Tasks: {count * tasks} wanted",
        f"About {minutes:.0f} minutes on {settings.concurrency} cores, as many themes at once",
    ]
    told = [one.line() for one in asked]
    return [*lines, *(["Chat models:", *told] if told else ["No chat model is set: no tokens, no cost."])]


@dataclass(frozen=True, slots=True)
class _Asked:
    calls: Calls
    model: ModelConfig
    mean: dict[str, float]

    @property
    def seconds(self) -> float:
        return self.calls.likely * self.mean["seconds"]

    def line(self) -> str:
        likely, most = self.calls.likely, self.calls.most
        read, written = (round(likely * self.mean[kind]) for kind in ("read", "written"))
        known = self.model.dollars(read, written)
        price = "price not set (input_price, output_price)"
        if known is not None:
            price = f"about {known:.2f} dollars, at most {known * most / max(1, likely):.2f}"
        time = f"{self.mean['seconds']:.0f} s each"
        told = (
            f"about {likely} calls ({time}), at most {most} with retries, about {read} tokens read, {written} written"
        )
        return f"  {self.calls.role} ({self.model.name}): {told}, {price}"


def _with_models(settings: Settings, themes: int) -> Iterator[tuple[Calls, ModelConfig]]:
    for role in get_args(Role):
        config = settings.role(role)
        if config.engine == "llm" and config.model and role != "diagnoser":
            yield _calls(role, settings, themes, config.model.retries + 1), config.model


def _calls(role: Role, settings: Settings, themes: int, tries: int) -> Calls:
    """`tries`: how often an answer is asked for that must have a form. Turns with tools are not asked for again."""
    tasks, mining = settings.tasks, settings.mining
    wanted = tasks.graph + tasks.program
    likely, most = 0, 0
    match role:
        case "miner":
            likely, most = mining.turns + 1, mining.turns + 2 * PASSES * tries
        case "coder":
            likely, most = 1 + settings.tools.repairs, (1 + settings.tools.repairs) * tries
        case "synthesizer":
            likely = 1 + wanted + tasks.program * LIKELY_TURNS
            most = (1 + tasks.graph * tasks.tries) * tries + tasks.program * tasks.tries * MOST_TURNS
        case "validator":
            likely, most = (wanted * tasks.attempts * turns for turns in (TURNS, most_turns(MOST_CALLS)))
        case "taxonomist":
            names = settings.taxonomy.clusters + settings.taxonomy.types
            return Calls(role, min(names, themes), names * tries)
    return Calls(role, themes * likely, themes * most)


def _mean(space: Workspace, role: Role, model: ModelConfig) -> dict[str, float]:
    """Of one call: as measured in the workspace, else about."""
    for spent in space.spent():
        if (spent.role, spent.model) == (role, model.name) and spent.calls >= ENOUGH:
            sums = {"seconds": spent.seconds, "read": spent.input_tokens, "written": spent.output_tokens}
            return {name: value / spent.calls for name, value in sums.items()}
    return CALL
