"""The text of what all tools of an environment share, and all their tests: see `head.py`."""

TOOLS_HEAD = '''"""Tools of {name}: each reads or writes database files of the working directory, and keeps nothing."""

{imports}

FILES = {files}
FORMATS = {formats}
KEYS = {keys}
COLUMNS = {columns}
MOST = 10  # rows in one answer


class ToolError(Exception):
    """A refusal that the caller can act on: `code` is stable, the message says what to change."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def _strict(tool):
    """The tool, its result checked to be strict JSON (no NaN, no other types)."""

    @functools.wraps(tool)
    def checked(*args, **kwargs):
        result = tool(*args, **kwargs)
        json.dumps(result, allow_nan=False)
        return result

    return checked


@contextmanager
def _readable(table):
    """Whatever goes wrong inside is a broken table: a fault of the environment, no empty table and no refusal."""
    try:
        yield
    except ToolError:
        raise
    except Exception as error:
        raise ToolError("broken_table", f"The table {{table}} cannot be read ({{type(error).__name__}}).") from error


def _rows(table):
    """All rows of a table in stored order, each with all columns; what is missing is None. Refuses with
    `broken_table` where the table is missing or damaged."""
    with _readable(table):
        return {readers}[FORMATS[table]](table)


def _find(table, column, value, noun):
    """The row with this value in a unique column; refuses with `not_found`."""
    for row in _rows(table):
        if row[column] == value:
            return row
    raise ToolError("not_found", f"There is no {{noun}} {{value!r}}.")


def _page(rows, columns, limit, offset=0):
    """`limit` rows from `offset` on with these columns, and how many there are in all."""
    limit = min(_checked("limit", limit, int, least=1), MOST)
    offset = _checked("offset", offset, int, least=0)
    return {{"items": [{{c: row[c] for c in columns}} for row in rows[offset : offset + limit]], "total": len(rows)}}


def _checked(name, value, kind, least=None, choices=None):
    """The value as it is stored; refuses with `invalid_value` a wrong type, a number too small, an unknown choice."""
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise ToolError("invalid_value", f"{{name}} must be of type {{kind.__name__}}, not {{value!r}}.")
    if kind is float and not math.isfinite(value):
        raise ToolError("invalid_value", f"{{name}} must be a finite number.")
    if kind is str and not value.strip():
        raise ToolError("invalid_value", f"{{name}} must not be empty.")
    if least is not None and value < least:
        raise ToolError("invalid_value", f"{{name}} must be at least {{least}}, not {{value!r}}.")
    if choices is not None and value not in choices:
        raise ToolError("invalid_value", f"{{name}} must be one of {{', '.join(choices)}}, not {{value!r}}.")
    return value


def _insert(table, row):
    """Add a row after the last."""
    {inserters}[FORMATS[table]](table, row)


def _set(table, keys, column, value):
    """Change one column of the rows with these keys."""
    {setters}[FORMATS[table]](table, keys, column, value)


def _remove(table, key):
    """Take out the row with this key."""
    {removers}[FORMATS[table]](table, key)
'''
TESTS_HEAD = '''"""Unit tests of the tools: run `pytest tool_tests.py` in a copy of the database with tools.py in it.

Each test starts on the files as they were. What is expected was computed from the files by SQL, not by the tools.
"""

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import tools

FILES = {files}
FORMATS = {formats}
KEYS = {keys}
CLEAN = {{name: Path(name).read_bytes() for name in sorted(set(FILES.values()))}}


def setup_function(function):
    """Pytest calls this before each test: the database as it was."""
    for name, content in CLEAN.items():
        Path(name).write_bytes(content)


def check(got, expected):
    """Equal as JSON, types included: 1 is not 1.0, and true is not 1."""
    assert json.dumps(got, sort_keys=True) == json.dumps(expected, sort_keys=True), f"got {{got!r}}, not {{expected!r}}"


def close(got, expected, places):
    """A single value, equal up to rounding at so many decimals."""
    right = list(got) == ["value"] and abs(got["value"] - expected) <= 1.01 * 10**-places
    assert right, f"got {{got!r}}, not {{expected!r}}"


def refused(code, function, /, **arguments):
    """The tool refuses with this code, and changes nothing."""
    before = stored()
    try:
        got = function(**arguments)
    except tools.ToolError as error:
        assert error.code == code, f"refused with {{error.code!r}}, not {{code!r}}"
        assert stored() == before, "refused, and yet the database changed"
    else:
        raise AssertionError(f"not refused: got {{got!r}}")


def broken(names, function, /, **arguments):
    """With any of these tables missing, and with any damaged, the tool refuses with `broken_table`, and only so."""
    for name in names:
        for content in (None, b"no table"):
            setup_function(function)
            Path(FILES[name]).write_bytes(content) if content else Path(FILES[name]).unlink()
            try:
                got = function(**arguments)
            except tools.ToolError as error:
                assert error.code == "broken_table", f"a broken table {{name}} was taken for {{error.code!r}}"
            else:
                raise AssertionError(f"a broken table {{name}} went unnoticed: got {{got!r}}")
    setup_function(function)


def stored(table=None):
    """The rows as they lie in the files, in order: CSV cells as text, SQLite values as they are."""
    if table is None:
        return {{name: stored(name) for name in FILES}}
    file = FILES[table]
    if FORMATS[table] == "json":
        return json.loads(Path(file).read_text(encoding="utf-8-sig"))
    if FORMATS[table] == "csv":
        with open(file, encoding="utf-8-sig", newline="") as lines:
            return list(csv.DictReader(lines))
{further}    with closing(sqlite3.connect(file)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f'SELECT * FROM "{{table}}" ORDER BY rowid')]


def rewrite(table, rows):
    """Give a table other rows in its file, as no tool does."""
    file = FILES[table]
    if FORMATS[table] == "json":
        Path(file).write_text(json.dumps(rows))
    elif FORMATS[table] == "jsonl":
        Path(file).write_text("".join(json.dumps(row) + "\\n" for row in rows))
    elif FORMATS[table] == "csv":
        header = list(stored(table)[0])
        with open(file, "w", encoding="utf-8", newline="") as lines:
            writer = csv.DictWriter(lines, header)
            writer.writeheader()
            writer.writerows(rows)
    else:
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute(f'DELETE FROM "{{table}}"')
            for row in rows:
                marks = ", ".join("?" * len(row))
                connection.execute(f'INSERT INTO "{{table}}" VALUES ({{marks}})', tuple(row.values()))


def changes(before):
    """All that differs from `before`, by "table/key": the row added, None where removed, or the cells that changed.

    The rows that stay must be in the same order.
    """
    found = {{}}
    for table, key in KEYS.items():
        old = {{str(row[key]): row for row in before[table]}}
        new = {{str(row[key]): row for row in stored(table)}}
        assert [k for k in old if k in new] == [k for k in new if k in old], f"the order of {{table}} changed"
        found |= {{f"{{table}}/{{k}}": None for k in old if k not in new}}
        found |= {{f"{{table}}/{{k}}": row for k, row in new.items() if k not in old}}
        for k in old:
            if k in new and new[k] != old[k]:
                found[f"{{table}}/{{k}}"] = {{c: v for c, v in new[k].items() if c not in old[k] or old[k][c] != v}}
    return found
'''
