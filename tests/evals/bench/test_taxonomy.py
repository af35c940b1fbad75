"""The taxonomy benchmark on a small crawl: figures with their peer, and a clear word on a crawl without categories."""

import json
from pathlib import Path

import pytest

from agent_world.errors import UsageError
from agent_world.evals.bench.taxonomy import measure_taxonomy

KINDS = {
    "weather": ("storms", "rainfall", "hurricanes", "snow depth", "wind", "humidity", "frost", "sunshine"),
    "finance": ("stock prices", "currency rates", "bank loans", "bonds", "dividends", "invoices", "taxes", "payrolls"),
    "sports": ("football scores", "tennis players", "chess games", "marathons", "cycling races", "golf", "judo", "ski"),
}


def crawl(path: Path, labelled: bool) -> Path:
    rows = [
        {"name": f"{thing} finder", "description": f"Find {kind} facts about {thing} by place and day.", "tools": []}
        | ({"labels": {"primary": kind}} if labelled else {})
        for kind, things in KINDS.items()
        for thing in things
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


async def test_time_and_agreement_are_measured_beside_the_peer(tmp_path: Path) -> None:
    noted: list[str] = []
    took, types, clusters = await measure_taxonomy(crawl(tmp_path / "a.jsonl", labelled=True), noted.append)
    assert took.unit == "s"
    assert took.note.startswith("24 servers read")
    for figure in (types, clusters):
        assert 0 < figure.value <= 1
        assert figure.baseline is not None
        assert figure.met == (figure.value > figure.baseline)
    assert noted


async def test_a_crawl_without_categories_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"labels\.primary"):
        await measure_taxonomy(crawl(tmp_path / "a.jsonl", labelled=False), print)
