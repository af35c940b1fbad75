"""The pages of cards: one of an environment, one of all. They need nothing else: no network, no scripts."""

from collections.abc import Sequence
from pathlib import Path

from agent_world.evals.card import Card, Signal, folder_of
from agent_world.evals.pictures import draw_graph, draw_rates, draw_tasks, picture_of
from agent_world.evals.records import ToolGraph
from agent_world.evals.report import embedded, open_templates
from agent_world.evals.stats import show_pass_at
from agent_world.memory.store import write_text
from agent_world.schema import Rate


def write_card_page(card: Card, graph: ToolGraph | None, workspace: Path) -> Path:
    """`cards/<id>/card.html`. The same card, the same bytes."""
    path = folder_of(workspace, card.environment) / "card.html"
    write_text(path, render_card(card, graph))
    return path


def write_index_page(cards: Sequence[Card], workspace: Path) -> Path:
    path = workspace / "cards" / "index.html"
    template = open_templates().get_template("cards.html.jinja")
    write_text(path, template.render(cards=cards, mark=mark_of, workspace=workspace.name))
    return path


def render_card(card: Card, graph: ToolGraph | None) -> str:
    pictures = {"rates": picture_of(lambda: draw_rates(rates_of(card)))}
    if card.tasks:
        pictures["tasks"] = picture_of(lambda: draw_tasks(card.tasks))
    if graph is not None and graph.tools:
        pictures["graph"] = picture_of(lambda: draw_graph(graph))
    shown = {name: embedded(svg) for name, svg in pictures.items()}
    template = open_templates().get_template("card.html.jinja")
    return template.render(card=card, pictures=shown, mark=mark_of, show_pass_at=show_pass_at)


def mark_of(signal: Signal) -> str:
    return "–" if signal.good is None else "✓" if signal.good else "✗"


def rates_of(card: Card) -> dict[str, tuple[float, float, float]]:
    """What is drawn: floor, models, oracle."""
    run = card.measured
    found = {"doing nothing": _span(run.idle), "random calls": _span(run.chance)}
    found |= {f"a model, pass@{p.k}": (p.value, p.low, p.high) for p in card.pass_at}
    return found | {"reference solution": _span(run.oracle)}


def _span(rate: Rate) -> tuple[float, float, float]:
    return rate.value, rate.low, rate.high
