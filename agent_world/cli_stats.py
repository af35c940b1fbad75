"""The verb `stats`: the card of one environment, a table of all, or the panels of the paper's figure 4."""

import asyncio
import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from agent_world.cli_options import DEFAULT, Config, Machine, find_bundle, open_store, show
from agent_world.errors import UsageError
from agent_world.progress import Progress
from agent_world.settings import Settings, load_settings

if TYPE_CHECKING:
    from agent_world.evals.card import Card
    from agent_world.memory.store import Bundle


def stats(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ENV] [KEY=VALUE]...", help="Id of one environment (all if left out); settings on top."
        ),
    ] = None,
    config: Config = DEFAULT,
    fresh: Annotated[bool, typer.Option("--fresh", help="Look again, also where nothing has changed.")] = False,
    panels: Annotated[bool, typer.Option("--panels", help="The six panels of the paper's figure 4.")] = False,
    machine: Machine = False,
) -> None:
    """Show whether an environment is good: its tasks, receipts, floor and oracle, data and walls; also as a page."""
    from agent_world.evals.card_page import mark_of, write_index_page

    environments = [word for word in words or () if "=" not in word]
    if len(environments) > (0 if panels else 1):
        raise UsageError(
            f"Too many words: {environments[-1]}; {'--panels is of a workspace' if panels else 'name one'}."
        )
    environment = environments[0] if environments else None
    settings = load_settings(config, [word for word in words or () if "=" in word])
    store = open_store(settings)
    if panels:
        _panels(settings, machine)
        return
    if environment is not None:
        (card,) = _cards([find_bundle(environment, settings)], settings, fresh)
        page = settings.workspace / "cards" / environment / "card.html"
        _show_card(card, machine)
    else:
        cards = _cards(list(store.bundles()), settings, fresh)
        page = write_index_page(cards, settings.workspace)
        if machine:
            print(json.dumps([_record(card) for card in cards], ensure_ascii=False, indent=1))
        else:
            show([_row(card) for card in cards], machine)
            for number, signal in enumerate(cards[0].signals if cards else (), start=1):
                held = "".join(mark_of(card.signals[number - 1]) for card in cards)
                print(f"sign {number}, {signal.name}: {held}")
    if not machine:
        print(f"With pictures: {page}")


def _panels(settings: Settings, machine: bool) -> None:
    from agent_world.evals.panels import panels_of, write_panels

    found = panels_of(settings.workspace)
    folder = write_panels(found, settings.workspace)
    if machine:
        print(found.model_dump_json(indent=1))
        return
    show([
        {"panel": f"({p.letter}) {p.title}", "n": p.n, "mean": p.mean, "most": p.most,
         "bars": ", ".join(f"{name}: {number}" for name, number in p.bars.items()), "origin": p.origin,
         "the paper's": p.paper}
        for p in found.panels
    ], machine)  # fmt: skip
    print(f"As pictures: {folder}")


def _cards(bundles: "list[Bundle]", settings: Settings, fresh: bool) -> "list[Card]":
    from agent_world.evals.card import Card, card_of
    from agent_world.evals.card_page import write_card_page
    from agent_world.evals.records import read_tool_graph
    from agent_world.graphs.deps import open_deps

    async def run() -> "list[Card]":
        found: list[Card] = []
        progress = Progress(Console(highlight=False, stderr=True))
        async with open_deps(settings, progress, checkpoints=False) as deps:
            with progress.stage("Cards"):
                for number, bundle in enumerate(bundles, start=1):
                    deps.note(f"{number} of {len(bundles)}, {bundle.id}")
                    card = await card_of(bundle, deps, fresh=fresh)
                    write_card_page(card, read_tool_graph(bundle), settings.workspace)
                    found.append(card)
        return found

    return asyncio.run(run())


def _record(card: "Card") -> dict[str, Any]:
    return card.model_dump(mode="json") | {"signals": [signal.model_dump() for signal in card.signals]}


def _row(card: "Card") -> dict[str, Any]:
    from agent_world.evals.card_page import mark_of
    from agent_world.evals.stats import percent

    levels = " ".join(str(sum(card.tasks.get(str(level), {}).values())) for level in range(1, 6))
    run = card.measured
    return {
        "environment": card.environment, "signs": "".join(map(mark_of, card.signals)), "tasks": card.task_count,
        "levels 1-5": levels, "calls": card.calls_mean, "tools": len(card.tools), "tokens": card.tokens,
        "rows": card.rows, "nothing": percent(run.idle.value), "random": percent(run.chance.value),
        "oracle": percent(run.oracle.value), "replays": f"{run.replayed}/{card.task_count}",
        "pass@1": percent(card.pass_at[0].value) if card.pass_at else "–",
    }  # fmt: skip


def _show_card(card: "Card", machine: bool) -> None:
    from agent_world.evals.card_page import mark_of
    from agent_world.evals.stats import show_pass_at

    if machine:
        print(json.dumps(_record(card), ensure_ascii=False, indent=1))
        return
    print(f"{card.name} ({card.environment}): {card.description}")
    print(f"{card.verdict}.")
    for signal in card.signals:
        print(f"  {mark_of(signal)} {signal.name}: {signal.detail}")
    levels = "; ".join(f"level {k}: " + ", ".join(f"{n} {s}" for s, n in v.items()) for k, v in card.tasks.items())
    print(
        f"{card.task_count} tasks ({levels or 'none'}), {card.writing} change the state; {card.calls_mean} calls each."
    )
    print(f"{len(card.tools)} tools, {card.tokens} tokens ({card.tokens_by}); {card.rows} rows.")
    for found in card.pass_at:
        print(show_pass_at(found))
    show([receipt.model_dump() for receipt in card.receipts], machine)
    if card.rejections:
        show([{"not kept because of": reason, "candidates": n} for reason, n in card.rejections.items()], machine)
