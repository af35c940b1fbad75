"""Lists of servers, tool documentation and PRDs in all their forms; junk and repeats; sources added by hand."""

import gzip
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from agent_world.agents.miner.fit import terms_of
from agent_world.agents.themes import collect_themes
from agent_world.agents.themes.collect import collect as collect_all
from agent_world.agents.themes.collect import read_source_themes
from agent_world.agents.themes.make import make_theme, theme_id
from agent_world.agents.themes.provenance import ThemeOrigin, join_themes, place_of
from agent_world.agents.themes.sources import add_source, extra_sources, guess_source
from agent_world.cli import main
from agent_world.errors import UsageError
from agent_world.memory.store import read_records, write_records
from agent_world.schema import Dropped, Theme
from agent_world.settings import (
    McpThemeSource,
    PrdThemeSource,
    ServersThemeSource,
    Settings,
    ThemeSource,
    ToolDocsThemeSource,
)

PARAMETERS = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
CRAWL = [
    {
        "name": "Weather", "description": "Forecasts and warnings for any place on earth.",
        "tools": [{"name": "get_forecast", "description": "Forecast.", "input_schema": PARAMETERS}],
        "crawled": {"tools": []},
    },
    {
        "name": "Chess", "description": "Games of chess with their players, openings and results.", "tools": [],
        "crawled": {"tools": [{"name": "find_game", "parameters": [{"name": "player", "type": "string"}]}]},
    },
    {"description": "nameless"},
]  # fmt: skip


def crawl(path: Path, entries: list[Any]) -> ServersThemeSource:
    text = "\n".join(json.dumps(entry) for entry in entries).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return ServersThemeSource(path=str(path))


async def collect(tmp_path: Path, *sources: ThemeSource) -> tuple[list[Theme], list[Dropped]]:
    return await collect_themes(Settings(workspace=tmp_path / "workspace", themes=sources))


@pytest.mark.parametrize("name", ["servers.jsonl", "servers.jsonl.gz"])
async def test_a_crawl_gives_a_theme_for_each_server_with_its_tools(tmp_path: Path, name: str) -> None:
    themes, dropped = await read_source_themes(crawl(tmp_path / name, CRAWL))
    assert [(t.id, [tool.name for tool in t.tools]) for t in themes] == [
        ("weather", ["get_forecast"]), ("chess", ["find_game"]),
    ]  # fmt: skip
    assert themes[0].source == f"{name}: Weather"
    assert [(d.kind, d.id, d.reason) for d in dropped] == [("theme", f"{name}, server 3", "no server: it has no name")]


@pytest.mark.parametrize(
    "document",
    [
        {"servers": [{"server": {"name": "io.github.someone/tide-tables", "description": "Tides."}, "_meta": {}}]},
        {"servers": [{"name": "io.github.someone/tide-tables", "description": "Tides."}], "metadata": {"count": 1}},
        {"servers": [{"qualifiedName": "@someone/tides", "displayName": "tide-tables", "description": "Tides."}]},
        [{"name": "tide-tables", "description": "Tides."}],
        {"serverInfo": {"name": "tide-tables"}, "instructions": "Tides.", "tools": []},
    ],
)
async def test_registries_are_read_in_their_own_forms(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "registry.json"
    path.write_text(json.dumps(document))
    (theme,), _ = await read_source_themes(ServersThemeSource(path=str(path)))
    assert (theme.id, theme.name, theme.description) == ("tide_tables", "tide-tables", "Tides.")


@pytest.fixture
def registry() -> Iterator[str]:
    """Two registries on loopback: pages by cursor, and by number."""

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            place = urlsplit(self.path)
            asked = parse_qs(place.query)
            if place.path == "/cursor":
                at = int(asked.get("cursor", ["0"])[0])
                more = {"nextCursor": str(at + 1)} if at < 2 else {}
                page: Any = {"servers": [{"server": {"name": f"a/s{at}", "description": "d"}}], "metadata": more}
            else:
                at = int(asked.get("page", ["1"])[0])
                page = {"servers": [{"displayName": f"s{at}"}], "pagination": {"currentPage": at, "totalPages": 3}}
            body = json.dumps(page).encode()
            self.send_response(200 if place.path != "/broken" else 503)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_all_pages_of_a_registry_are_read(registry: str) -> None:
    themes, _ = await read_source_themes(ServersThemeSource(path=f"{registry}/cursor?limit=1"))
    assert [t.name for t in themes] == ["s0", "s1", "s2"]
    themes, _ = await read_source_themes(ServersThemeSource(path=f"{registry}/numbers", limit=2))
    assert [t.name for t in themes] == ["s1", "s2"]
    with pytest.raises(UsageError, match="503"):
        await read_source_themes(ServersThemeSource(path=f"{registry}/broken"))


async def test_an_openapi_document_is_a_theme_with_a_tool_an_operation(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(
        "openapi: 3.0.0\ninfo: {title: Pet shop, description: Pets and their orders.}\npaths:\n  /pets/{id}:\n"
        "    get:\n      operationId: getPet\n      responses: {200: {description: found}}\n"
        "      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]\n"
    )
    (theme,), _ = await read_source_themes(ToolDocsThemeSource(path=path))
    assert (theme.id, [tool.name for tool in theme.tools]) == ("pet_shop", ["getPet"])


async def test_a_data_set_of_tools_is_mapped_back_to_services(tmp_path: Path) -> None:
    rows = [
        {"name": "stocks.quote", "description": "a", "parameters": PARAMETERS},
        {"name": "stocks.history", "description": "b", "parameters": PARAMETERS},
        {"name": "play", "description": "c", "parameters": PARAMETERS, "api_name": "Jukebox"},
        {"name": "lonely", "description": "d", "parameters": PARAMETERS},
    ]
    path = tmp_path / "tools.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    themes, _ = await read_source_themes(ToolDocsThemeSource(path=path))
    assert [(t.name, len(t.tools)) for t in themes] == [("stocks", 2), ("Jukebox", 1), ("tools", 1)]


def make_pdf(path: Path, lines: list[str]) -> None:
    """The smallest PDF that shows these lines."""
    drawn = "BT /F1 12 Tf 50 750 Td " + " ".join(f"({line}) Tj 0 -16 Td" for line in lines) + " ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]  # fmt: skip
    data, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(data)}\n"
    )
    path.write_text(data + end + "%%EOF\n")


async def test_prds_are_read_as_markdown_text_html_and_pdf(tmp_path: Path) -> None:
    heading, prose = "PRD: Harbour log", "A log of all ships that call at a harbour."
    (tmp_path / "a.md").write_text(f"# {heading}\n\n{prose}\n")
    (tmp_path / "a.txt").write_text(f"{heading}\n{prose}\n")
    page = f"<nav><p>Home</p></nav><h1>{heading}</h1><script>x</script><p>{prose}</p>"
    (tmp_path / "a.html").write_text(page)
    make_pdf(tmp_path / "a.pdf", [heading, prose])
    for name in ("a.md", "a.txt", "a.html", "a.pdf"):
        (theme,), _ = await read_source_themes(PrdThemeSource(path=tmp_path / name))
        assert (theme.name, theme.description, theme.kind) == ("Harbour log", prose, "prd"), name


@pytest.mark.parametrize("content", [b"", b"no pdf", b"%PDF-1.4\n%%EOF"])
async def test_a_broken_pdf_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.pdf").write_bytes(content)
    with pytest.raises(UsageError, match=r"a\.pdf"):
        await read_source_themes(PrdThemeSource(path=tmp_path / "a.pdf"))


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": f"{name} of the service", "input_schema": PARAMETERS}


async def test_junk_is_dropped_with_its_reason(tmp_path: Path) -> None:
    entries = [
        {"name": "Hello World", "description": "My first server", "tools": []},
        {"name": "Calculator", "description": "Adds two numbers for you whenever you want", "tools": [tool("add")]},
        {"name": "Zzz", "description": "tbd", "tools": []},
        {"name": "Test results", "description": "Results of laboratory tests, with patients, dates, units and the "
         "limits that a doctor would want to see beside them.", "tools": [tool("find_result")]},
    ]  # fmt: skip
    themes, dropped = await collect(tmp_path, crawl(tmp_path / "a.jsonl", entries))
    assert [t.name for t in themes] == ["Test results"]
    reasons = {d.id.partition(" ")[0]: d.reason for d in dropped}
    assert "by its name" in reasons["hello_world"]
    assert "its tools are only add" in reasons["calculator"]
    assert "too little is known" in reasons["zzz"]


async def test_repeats_are_found_by_meaning_and_by_tools_and_the_richest_is_kept(tmp_path: Path) -> None:
    tools = [tool(name) for name in ("list_flights", "get_flight", "book_flight")]
    entries = [
        {"name": "Flights", "description": "Search and book airline flights between airports.", "tools": tools[:2]},
        {"name": "Flights", "description": "Search and book airline flights between airports.", "tools": tools},
        {"name": "Flight booking", "description": "Booking of flights of airlines.", "tools": tools},
        {"name": "Flights", "description": "Wine tastings: small glasses of several wines, side by side.", "tools": []},
    ]
    themes, dropped = await collect(tmp_path, crawl(tmp_path / "a.jsonl", entries))
    assert [(t.id, len(t.tools)) for t in themes] == [("flights", 3), ("flights_2", 0)]
    assert len(dropped) == 2
    assert all(d.reason.startswith("same theme as a.jsonl: Flights") for d in dropped)
    assert any("of the tools" in d.reason for d in dropped)


FUNCTION = {"type": "function", "function": {"name": "get_tide", "description": "Tide.", "parameters": PARAMETERS}}
TOOL = {"name": "get_tide", "description": "Tide at a place.", "inputSchema": PARAMETERS}
SERVER = {"name": "tides", "description": "Tides of the world."}
LISTING = {"tools": [TOOL]}


@pytest.mark.parametrize(
    ("name", "content", "kind", "theme"),
    [
        ("a.json", {"servers": [{"server": SERVER, "_meta": {}}]}, "servers", "tides"),
        (
            "a.json",
            {"servers": [{"qualifiedName": "@a/b", "displayName": "tides"}], "pagination": {}},
            "servers",
            "tides",
        ),
        ("a.json", {"qualifiedName": "@a/b", "displayName": "tides", "tools": [TOOL]}, "tool_docs", "a"),
        ("a.json", {"server": SERVER, "_meta": {}}, "servers", "tides"),
        ("a.json", [SERVER], "servers", "tides"),
        ("a.json", [{**SERVER, **LISTING}], "servers", "tides"),
        ("a.json", {"serverInfo": {"name": "tides"}, **LISTING}, "servers", "tides"),
        ("harbour-tides.json", [FUNCTION], "tool_docs", "harbour_tides"),
        ("harbour-tides.json", FUNCTION, "tool_docs", "harbour_tides"),
        ("harbour-tides.json", LISTING, "tool_docs", "harbour_tides"),
        ("harbour-tides.json", {"jsonrpc": "2.0", "id": 1, "result": LISTING}, "tool_docs", "harbour_tides"),
        ("harbour-tides.json", [TOOL, {**TOOL, "name": "get_wave"}], "tool_docs", "harbour_tides"),
        ("harbour-tides.yaml", {"tools": [TOOL]}, "tool_docs", "harbour_tides"),
        ("harbour-tides.json.gz", [FUNCTION], "tool_docs", "harbour_tides"),
        ("a.json", {"name": "Tides", "functions": [FUNCTION]}, "tool_docs", "tides"),
        ("a.jsonl", SERVER, "servers", "tides"),
        ("a.jsonl", {**TOOL, "api_name": "Tides"}, "tool_docs", "tides"),
    ],
)
async def test_a_file_is_told_by_what_it_holds(tmp_path: Path, name: str, content: Any, kind: str, theme: str) -> None:
    path = tmp_path / name
    text = json.dumps(content, indent=None if name.endswith(".jsonl") else 1).encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    source = guess_source([str(path)])
    assert source.kind == kind
    themes, dropped = await read_source_themes(source)
    assert [found.id for found in themes] == [theme]
    assert dropped == []


async def test_a_name_that_a_person_gives_counts(tmp_path: Path) -> None:
    path = tmp_path / "export (3).json"
    path.write_text(json.dumps([TOOL, {**TOOL, "name": "get_wave"}]))
    (theme,), _ = await read_source_themes(guess_source([str(path)], name="Sea state"))
    assert (theme.id, len(theme.tools)) == ("sea_state", 2)
    path.write_text(json.dumps([SERVER]))
    with pytest.raises(UsageError, match="names of their own; leave --name out"):
        guess_source([str(path)], name="Sea state")


def test_a_source_is_told_from_what_a_person_writes(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    assert isinstance(guess_source([str(tmp_path / "a.md")]), PrdThemeSource)
    assert isinstance(guess_source(["https://example.org/v0/servers"]), ServersThemeSource)
    server = guess_source(["uvx", "mcp-server-time"], name="Clock")
    assert server == McpThemeSource(command=("uvx", "mcp-server-time"), name="Clock")
    told = guess_source(["https://example.org/mcp"], headers={"X-Key": "${KEY}"})
    assert told == McpThemeSource(address="https://example.org/mcp", name="example.org", headers={"X-Key": "${KEY}"})
    for content in ('{"a": 1}', "[1, 2]", '"text"', "no json", '{"mcpServers": {}}'):
        (tmp_path / "odd.json").write_text(content)
        with pytest.raises(UsageError, match=r"odd\.json"):
            guess_source([str(tmp_path / "odd.json")])
    for words, kind in ((["gone.md"], None), (["what"], None), (["x"], "poem")):
        with pytest.raises(UsageError):
            guess_source(words, kind)


PRD = """---
title: Front
tags: [a]
---
<!-- draft -->
[![build](https://x.org/b.svg)](https://x.org)

Harbour log
===========

A log of **all ships** that call
at a [harbour](https://x.org), with `cargo`.

- not this
"""


async def test_a_prd_is_described_by_its_first_paragraph_and_named_by_its_heading(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    for text, name in ((PRD, "Harbour log"), (PRD.replace("Harbour log\n===========\n", ""), "Front")):
        path.write_text(text)
        (theme,), _ = await read_source_themes(PrdThemeSource(path=path))
        assert theme.name == name
        assert theme.description == "A log of all ships that call at a harbour, with cargo."
        assert not {"tag", "draft", "title"} & set(theme.keywords)


async def test_themes_in_other_scripts_have_ids_keywords_and_words_of_their_own(tmp_path: Path) -> None:
    papers = {
        "zh": ("城市天气预报", "查询每个城市的天气、气温和降雨量，并按日期比较不同城市的天气。"),
        "zh2": ("图书馆借阅", "登记图书的借阅与归还，按作者和出版年份查询图书。"),
        "ru": ("Прогноз погоды", "Погода в городах: температура, осадки и ветер по дням."),
    }
    for name, (title, prose) in papers.items():
        (tmp_path / f"{name}.md").write_text(f"# {title}\n\n{prose}\n")
    themes, dropped = await collect(tmp_path, *(PrdThemeSource(path=tmp_path / f"{name}.md") for name in papers))
    assert dropped == []
    assert [theme.id for theme in themes] == ["cheng_shi_tian_qi_yu_bao", "prognoz_pogody", "tu_shu_guan_jie_yue"]
    assert all(len(theme.keywords) > 4 for theme in themes)
    assert theme_id("☀☀") != theme_id("☂☂")
    weather = next(theme for theme in themes if theme.name == "城市天气预报")
    assert {"天气", "城市"} <= set(weather.keywords)
    assert terms_of(weather).score("各地天气与气温") > 0.2 > terms_of(weather).score("名人生平")


async def test_added_sources_take_part_and_are_kept_once(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Harbour log\n\nA log of all ships that call at a harbour.\n")
    source = PrdThemeSource(path=tmp_path / "a.md")
    for _ in range(2):
        add_source(tmp_path / "workspace", source)
    assert extra_sources(tmp_path / "workspace") == (source,)
    assert [t.id for t in (await collect(tmp_path))[0]] == ["harbour_log"]
    (tmp_path / "workspace" / "sources.yaml").write_text("themes: [{kind: poem}]")
    with pytest.raises(UsageError, match=r"sources\.yaml is damaged"):
        await collect(tmp_path)


async def test_where_themes_came_from_is_noted_with_hash_and_the_time_of_the_first_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# Harbour log\n\nA log of all ships that call at a harbour.\n")
    source = PrdThemeSource(path=path)
    themes, _ = await read_source_themes(source)
    assert themes[0].sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    join_themes(tmp_path, themes, place_of(source))
    (noted,) = read_records(tmp_path / "theme_sources.jsonl", ThemeOrigin)
    assert (noted.theme, noted.place, noted.sha256) == ("harbour_log", str(path), themes[0].sha256)
    write_records(tmp_path / "theme_sources.jsonl", [noted.model_copy(update={"read": "2020-01-01T00:00:00Z"})])
    join_themes(tmp_path, themes, place_of(source))
    (again,) = read_records(tmp_path / "theme_sources.jsonl", ThemeOrigin)
    assert again.read == "2020-01-01T00:00:00Z"
    other = themes[0].model_copy(update={"source": "b.md", "description": "Wine."})
    assert [theme.id for theme in join_themes(tmp_path, [other], "b.md")] == ["harbour_log_2"]


def test_what_is_added_is_found_at_once_and_what_gives_no_theme_is_not_added(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, paper, junk = tmp_path / "c.yaml", tmp_path / "a.md", tmp_path / "junk.json"
    config.write_text(f"workspace: {tmp_path / 'w'}\n")
    paper.write_text("# Harbour log\n\nA log of all ships that call at a harbour.\n")
    junk.write_text(json.dumps({"servers": [{"name": "Hello World", "description": "My first server"}]}))
    assert main(["themes", "add", str(junk), "-c", str(config)]) == 2
    said = capsys.readouterr().err
    assert "gives no theme, so it was not added (hello_world (junk.json: Hello World): a trial, by its name" in said
    assert not (tmp_path / "w").exists()
    assert main(["themes", "add", str(paper), "-c", str(config)]) == 0
    assert "Added 1 theme: Harbour log (harbour_log, 0 tools)." in capsys.readouterr().out
    assert main(["search", "vessels arriving at a port", "-c", str(config), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["id"] == "harbour_log"


async def test_a_live_source_that_is_away_stops_no_other_and_gives_what_it_gave_before(
    tmp_path: Path, registry: str
) -> None:
    (tmp_path / "a.md").write_text("# Harbour log\n\nA log of all ships that call at a harbour.\n")
    paper, workspace = PrdThemeSource(path=tmp_path / "a.md"), tmp_path / "workspace"
    away = ServersThemeSource(path=f"{registry}/broken")
    with pytest.raises(UsageError, match="503"):
        await collect_all(Settings(workspace=workspace, themes=(away,)))
    found = await collect_all(Settings(workspace=workspace, themes=(away, paper)))
    assert [theme.id for theme in found.themes] == ["harbour_log"]
    assert "503" in found.dropped[0].reason
    assert "503" in found.notes[0]
    told = make_theme("Tides", "Tides of all the harbours of the world, by day.", "mcp", "there: Tides")
    join_themes(workspace, [told], away.path)
    again = await collect_all(Settings(workspace=workspace, themes=(away, paper)))
    assert [theme.id for theme in again.themes] == ["harbour_log", "tides"]
    assert again.notes[0].endswith("What it gave before is used: tides.")


async def test_an_added_file_that_is_gone_stops_nothing_and_one_of_the_settings_is_a_mistake(tmp_path: Path) -> None:
    papers = [PrdThemeSource(path=tmp_path / f"{name}.md") for name in ("a", "b")]
    (tmp_path / "a.md").write_text("# Harbour log\n\nA log of all ships that call at a harbour.\n")
    add_source(tmp_path, papers[1])
    found = await collect_all(Settings(workspace=tmp_path, themes=(papers[0],)))
    assert [theme.id for theme in found.themes] == ["harbour_log"]
    assert "There is no PRD" in found.notes[0]
    with pytest.raises(UsageError, match="There is no PRD"):
        await collect_all(Settings(workspace=tmp_path, themes=tuple(papers)))
