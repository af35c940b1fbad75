"""Lists of servers, tool documentation and PRDs in all their forms; junk and repeats; sources added by hand."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from agent_world.agents.themes import collect_themes
from agent_world.agents.themes.collect import read_source_themes
from agent_world.agents.themes.sources import add_source, extra_sources, guess_source
from agent_world.errors import UsageError
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


def test_a_source_is_told_from_what_a_person_writes(tmp_path: Path) -> None:
    for name in ("a.md", "b.json", "c.jsonl.gz"):
        (tmp_path / name).write_text("x")
    assert isinstance(guess_source([str(tmp_path / "a.md")], None, None), PrdThemeSource)
    assert isinstance(guess_source([str(tmp_path / "b.json")], None, None), ToolDocsThemeSource)
    assert isinstance(guess_source([str(tmp_path / "c.jsonl.gz")], None, None), ServersThemeSource)
    assert isinstance(guess_source(["https://example.org/v0/servers"], None, None), ServersThemeSource)
    server = guess_source(["uvx", "mcp-server-time"], None, "Clock")
    assert server == McpThemeSource(command=("uvx", "mcp-server-time"), name="Clock")
    assert guess_source(["https://example.org/mcp"], None, None) == McpThemeSource(
        address="https://example.org/mcp", name="https://example.org/mcp"
    )
    for words, kind in ((["gone.md"], None), (["what"], None), (["x"], "poem")):
        with pytest.raises(UsageError):
            guess_source(words, kind, None)


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
