"""Tools over the Markdown notes of a workspace: list them, read one, search their lines.

What the unit tests expect comes from SQL over the lines of the files, as for tables; the tools read the files
themselves.
"""

import json
import sqlite3
from collections.abc import Collection
from contextlib import closing
from typing import Any

from agent_world.agents.coder.cases import Case, checked
from agent_world.agents.coder.data import Data
from agent_world.agents.coder.draft import WrittenTool
from agent_world.schema import Origin, ToolAnnotations, ToolSpec

MOST = 10
HELPER = '''
NOTES = {notes}


def _note_lines(note):
    """The lines of a note; refuses with `not_found` an unknown one, with `broken_table` a missing or damaged file."""
    if _checked("note", note, str) not in NOTES:
        raise ToolError("not_found", f"There is no note {{note!r}}.")
    with _readable(note), open(NOTES[note]["file"], encoding="utf-8", newline="") as file:
        lines = file.read().split("\\n")
        if not lines[0].startswith("# "):
            raise ValueError("a note begins with its title")
        return lines
'''
LIST = '''
@_strict
def {name}(limit: int = 10, offset: int = 0):
    """{description}"""
    found = [{{"note": note, **facts, "lines": len(_note_lines(note))}} for note, facts in NOTES.items()]
    return _page(found, ["note", "title", "about", "lines"], limit, offset)
'''
READ = '''
@_strict
def {name}(note: str):
    """{description}"""
    text = "\\n".join(_note_lines(note))
    return {{"note": note, "title": NOTES[note]["title"], "about": NOTES[note]["about"], "text": text}}
'''
SEARCH = '''
@_strict
def {name}(query: str, limit: int = 10, offset: int = 0):
    """{description}"""
    wanted = _checked("query", query, str).casefold()
    found = []
    for note in NOTES:
        heading = ""
        for line in _note_lines(note):
            if line.startswith("#"):
                heading = line.lstrip("#").strip()
            if wanted in line.casefold():
                found.append({{"note": note, "heading": heading, "line": line}})
    return _page(found, ["note", "heading", "line"], limit, offset)
'''
TEXT: dict[str, Any] = {"type": "string"}
PAGE: dict[str, Any] = {
    "limit": {"type": "integer", "description": "Most to return, up to 10.", "minimum": 1, "maximum": MOST,
              "default": MOST},
    "offset": {"type": "integer", "description": "How many to skip.", "minimum": 0, "default": 0},
}  # fmt: skip


def notes_helper(data: Data) -> str:
    """For the head of tools.py."""
    lines = [
        f'    "{n.name}": {json.dumps({"file": n.file, "title": n.title, "about": n.table}, ensure_ascii=False)},\n'
        for n in data.notes
    ]
    return HELPER.strip().format(notes="{\n" + "".join(lines) + "}")


def note_tools(data: Data, seed: int, taken: Collection[str]) -> tuple[WrittenTool, ...]:
    """Empty where the workspace has no notes. A table that has these names for itself keeps them."""
    if not data.notes:
        return ()
    names = {"list_notes", "read_note", "search_notes"}
    stem = "workspace_note" if names & set(taken) else "note"
    with closing(_oracle(data)) as oracle:
        return (
            _list(f"list_{stem}s", oracle, seed),
            _read(f"read_{stem}", data, oracle, seed),
            _search(f"search_{stem}s", data, oracle, seed),
        )


def _oracle(data: Data) -> sqlite3.Connection:
    """`lines(place, note, title, about, number, line)`: every line of every note, in order."""
    db = sqlite3.connect(":memory:")
    db.create_function("fold", 1, lambda text: str(text).casefold())
    db.execute("CREATE TABLE lines (place, note, title, about, number, line)")
    for place, note in enumerate(data.notes):
        text = (data.folder / note.file).read_bytes().decode()
        rows = [(place, note.name, note.title, note.table, n, line) for n, line in enumerate(text.split("\n"))]
        db.executemany("INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?)", rows)
    return db


def _select(oracle: sqlite3.Connection, columns: tuple[str, ...], sql: str, *values: Any) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in oracle.execute(sql, values)]


def _paged(items: list[dict[str, Any]], limit: int = MOST, offset: int = 0) -> dict[str, Any]:
    return {"items": items[offset : offset + limit], "total": len(items)}


def _list(name: str, oracle: sqlite3.Connection, seed: int) -> WrittenTool:
    columns = ("note", "title", "about", "lines")
    sql = "SELECT note, title, about, count(*) FROM lines GROUP BY place ORDER BY place"
    notes = _select(oracle, columns, sql)
    cases = [
        Case("gives every note", checked(f"tools.{name}()", _paged(notes))),
        Case("pages through", checked(f"tools.{name}(limit=1, offset=1)", _paged(notes, 1, 1))),
        Case("ends after the last", checked(f"tools.{name}(offset={len(notes)})", _paged(notes, 0))),
        Case("refuses a limit of zero", (f'refused("invalid_value", tools.{name}, limit=0)',)),
        Case("refuses to begin before the first", (f'refused("invalid_value", tools.{name}, offset=-1)',)),
    ]
    row = {"note": TEXT, "title": TEXT, "about": TEXT, "lines": {"type": "integer", "minimum": 1}}
    text = "List the notes of the workspace: name, title, the table it is about, number of lines."
    return _written(name, text, LIST, PAGE, _list_of(row), cases, seed)


def _read(name: str, data: Data, oracle: sqlite3.Connection, seed: int) -> WrittenTool:
    columns = ("note", "title", "about", "text")
    sql = "SELECT note, title, about, group_concat(line, char(10)) FROM (SELECT * FROM lines ORDER BY place, number) "
    cases = []
    for shows, note in {"gives the first note": data.notes[0], "gives the last note": data.notes[-1]}.items():
        (whole,) = _select(oracle, columns, sql + "WHERE note = ?", note.name)
        cases.append(Case(shows, checked(f"tools.{name}(note={note.name!r})", whole)))
    first = data.notes[0]
    cases += [
        Case("refuses an unknown note", (f'refused("not_found", tools.{name}, note="no-such-note")',)),
        Case("refuses a name that is none", (f'refused("invalid_value", tools.{name}, note=" ")',)),
        Case("says that a file is missing", _without(first.file, f'tools.{name}, note="{first.name}"')),
    ]
    properties = {"note": {"type": "string", "description": "The name of the note, as the list of notes gives it."}}
    output = _closed(dict.fromkeys(columns, TEXT))
    text = "Read one note of the workspace: its whole text in Markdown. Fails with not_found for an unknown name."
    return _written(name, text, READ, properties, output, cases, seed, required=("note",))


def _without(file: str, call: str) -> tuple[str, ...]:
    """Lines of a test that takes the file away, and puts it back."""
    return (
        f'path = Path("{file}")',
        "content = path.read_bytes()",
        "path.unlink()",
        "try:",
        f'    refused("broken_table", {call})',
        "finally:",
        "    path.write_bytes(content)",
    )


def _search(name: str, data: Data, oracle: sqlite3.Connection, seed: int) -> WrittenTool:
    columns = ("note", "heading", "line")
    heading = (
        "SELECT ltrim(ltrim(h.line, '#')) FROM lines h WHERE h.place = l.place AND h.number <= l.number "
        "AND h.line LIKE '#%' ORDER BY h.number DESC LIMIT 1"
    )
    where = "instr(fold(line), fold(?)) > 0 ORDER BY place, number"
    sql = f"SELECT note, rtrim(({heading})), line FROM lines l WHERE {where}"

    def found(query: str) -> list[dict[str, Any]]:
        return _select(oracle, columns, sql, query)

    (line,) = oracle.execute("SELECT line FROM lines WHERE line LIKE '- %' ORDER BY place, number LIMIT 1").fetchone()
    word = data.notes[0].title.split()[-1]
    cases = [
        Case("finds a whole line", checked(f"tools.{name}(query={line!r})", _paged(found(line)))),
        Case("ignores case", checked(f"tools.{name}(query={word.swapcase()!r})", _paged(found(word)))),
        Case("pages through", checked(f'tools.{name}(query="- ", limit=2, offset=1)', _paged(found("- "), 2, 1))),
        Case("finds nothing", checked(f'tools.{name}(query="zq#zq")', _paged([]))),
        Case("refuses an empty text", (f'refused("invalid_value", tools.{name}, query=" ")',)),
    ]
    properties = {"query": {"type": "string", "minLength": 1, "description": "Text that a line contains, in any case."}}
    text = "Find lines of the workspace's notes that contain a text, ignoring case, each with the heading above it."
    row = dict.fromkeys(columns, TEXT)
    return _written(name, text, SEARCH, properties | PAGE, _list_of(row), cases, seed, required=("query",))


def _written(
    name: str,
    description: str,
    source: str,
    properties: dict[str, Any],
    output: dict[str, Any],
    cases: list[Case],
    seed: int,
    required: tuple[str, ...] = (),
) -> WrittenTool:
    spec = ToolSpec(
        name=name, description=description, input_schema=_object(properties, required), output_schema=output,
        annotations=ToolAnnotations(read_only=True, destructive=False),
    )  # fmt: skip
    return WrittenTool(
        spec=spec,
        source=source.strip().format(name=name, description=description) + "\n",
        tests=tuple(case.unit_test(name) for case in cases),
        origin=Origin(engine="procedural", seed=seed),
    )


def _object(properties: dict[str, Any], required: Collection[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return _object(properties, list(properties))


def _list_of(row: dict[str, Any]) -> dict[str, Any]:
    items = {"type": "array", "items": _closed(row), "maxItems": MOST}
    return _closed({"items": items, "total": {"type": "integer", "minimum": 0}})
