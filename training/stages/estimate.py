"""What a build would take, before it is begun: units, seconds, and calls and tokens of chat models at most."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from agent_world.agents.themes import collect_themes
from agent_world.settings import ModelConfig, Role, Settings

SECONDS = {"mine": 4.0, "page": 0.25, "tools": 1.0, "task": 0.6}
"""Of one core, on the offline web: a theme's mining beside its pages, a page, an environment's tools, a task. A real
web is slower by its answers."""
TOKENS_IN, TOKENS_OUT = 6000, 900
"""Of one call, about: prompts carry schemas, rows and earlier answers."""


@dataclass(frozen=True, slots=True)
class Calls:
    role: Role
    most: int

    def line(self, model: ModelConfig) -> str:
        read, written = self.most * TOKENS_IN, self.most * TOKENS_OUT
        price = "price not set (input_price, output_price)"
        if model.input_price is not None and model.output_price is not None:
            price = f"about {(read * model.input_price + written * model.output_price) / 1e6:.2f} dollars"
        tokens = f"about {read} tokens read, {written} written"
        return f"  {self.role} ({model.name}): at most {self.most} calls, {tokens}, {price}"


async def estimate(settings: Settings) -> list[str]:
    """Lines for people. Themes are read, as their number decides all else; nothing is written to the workspace."""
    with tempfile.TemporaryDirectory() as scratch:
        themes, dropped = await collect_themes(settings.model_copy(update={"workspace": Path(scratch)}))
    count, left = len(themes), sum(item.kind == "theme" for item in dropped)
    mining, tasks = settings.mining, settings.tasks.graph + settings.tasks.program
    pages = count * (mining.pages + settings.complexify.rounds * settings.complexify.pages)
    seconds = count * SECONDS["mine"] + pages * SECONDS["page"] + count * (SECONDS["tools"] + tasks * SECONDS["task"])
    minutes = seconds / settings.concurrency / 60
    lines = [
        f"{count} themes, {left} dropped as junk or repeats",
        f"Mining: at most {pages} pages, {count * mining.queries} searches; {settings.complexify.rounds} rounds each",
        f"Tools: at most {count * settings.tools.max_tools} in {count} environments",
        f"Tasks: {count * tasks} wanted",
        f"About {minutes:.0f} minutes on {settings.concurrency} cores, as many themes at once",
    ]
    costs = [(calls, settings.role(calls.role)) for calls in _calls(settings, count)]
    told = [calls.line(role.model) for calls, role in costs if role.engine == "llm" and role.model]
    return [*lines, *(["Chat models:", *told] if told else ["No chat model is set: no tokens, no cost."])]


def _calls(settings: Settings, themes: int) -> list[Calls]:
    wanted = settings.tasks.graph + settings.tasks.program
    return [
        Calls("miner", themes * (settings.mining.turns + 1)),
        Calls("coder", themes * (1 + settings.tools.repairs)),
        Calls("synthesizer", themes * wanted * settings.tasks.tries),
        Calls("validator", themes * wanted * settings.tasks.attempts),
        Calls("taxonomist", settings.taxonomy.clusters + settings.taxonomy.types),
    ]
