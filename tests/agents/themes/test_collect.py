import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from agent_world.agents.themes import collect_themes, salient, words
from agent_world.errors import UsageError
from agent_world.schema import Dropped, Theme
from agent_world.settings import McpThemeSource, PrdThemeSource, Settings, ThemeSource, ToolDocsThemeSource

EXAMPLES = Path(__file__).parents[3] / "examples" / "themes"


async def collect(*sources: ThemeSource) -> tuple[list[Theme], list[Dropped]]:
    with tempfile.TemporaryDirectory() as workspace:
        return await collect_themes(Settings(workspace=Path(workspace), themes=sources))


def docs(path: Path, **content: Any) -> ToolDocsThemeSource:
    path.write_text(json.dumps(content))
    return ToolDocsThemeSource(path=path)


@pytest.mark.server
async def test_the_three_kinds_of_source_give_themes() -> None:
    server = McpThemeSource(command=("{python}", "-m", "mcp_server_time"), name="World clock")
    tool_docs = ToolDocsThemeSource(path=EXAMPLES / "flight_operations.json")
    themes, dropped = await collect(server, tool_docs, PrdThemeSource(path=EXAMPLES / "storm_watch.md"))
    assert [(t.id, t.kind) for t in themes] == [
        ("flight_operations", "tool_docs"), ("storm_watch", "prd"), ("world_clock", "mcp"),
    ]  # fmt: skip
    assert dropped == []
    assert {tool.name for tool in themes[2].tools} == {"get_current_time", "convert_time"}
    assert {"storm", "hurricane"} <= set(themes[1].keywords)


async def test_every_example_is_readable_and_its_own_theme() -> None:
    sources = [ToolDocsThemeSource(path=p) for p in sorted(EXAMPLES.glob("*.json"))]
    papers = [PrdThemeSource(path=p) for p in sorted(EXAMPLES.glob("*.md")) if p.name != "README.md"]
    themes, dropped = await collect(*sources, *papers)
    assert len(themes) == len(sources) + len(papers) >= 15
    assert dropped == []
    assert all(len(theme.keywords) > 4 and len(theme.description) > 40 for theme in themes)


async def test_a_theme_met_twice_is_kept_once_and_the_other_reported(tmp_path: Path) -> None:
    about = "Prices of stocks at the close of"
    first = docs(tmp_path / "a.json", name="Stock Quotes", description=f"{about} every day.", functions=[])
    second = docs(tmp_path / "b.json", name="stock quotes", description=f"{about} each day.", functions=[])
    themes, dropped = await collect(first, second)
    assert [t.source for t in themes] == ["a.json"]
    assert [(d.kind, d.reason) for d in dropped] == [("theme", "same theme as a.json: meaning 0.99")]


@pytest.mark.parametrize("content", ["", "not json", "[]", '{"name": "x"}', '{"name": "x", "functions": [{}]}'])
async def test_damaged_tool_documentation_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "broken.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"broken\.json"):
        await collect(ToolDocsThemeSource(path=path))


async def test_a_missing_prd_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no PRD .*gone\.md"):
        await collect(PrdThemeSource(path=tmp_path / "gone.md"))


async def test_a_tool_that_cannot_be_read_is_reported_and_the_others_make_the_theme(tmp_path: Path) -> None:
    source = docs(tmp_path / "half.json", name="Stock", description="Stocks", functions=[{"name": "quote"}, {"x": 1}])
    themes, dropped = await collect(source)
    assert [tool.name for tool in themes[0].tools] == ["quote"]
    assert [(d.kind, d.id) for d in dropped] == [("tool", "stock/tool 1")]
    assert "half.json: Stock: tool 1: it has no name" in dropped[0].reason


def test_telling_words_are_singular_and_free_of_grammar() -> None:
    assert words("listFlights: the airlines and their flights, by city") == ["flight", "airline", "flight", "city"]
    assert salient("storm storm wind pressure", 2, ["wind speeds"]) == ("storm", "pressure")
