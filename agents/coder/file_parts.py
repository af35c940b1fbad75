"""The text of how tools, and their tests, read and write files of each format: see `head.py`."""

ROW_OBJECTS = """

def _json_rows(table):
    return [{name: row.get(name) for name in COLUMNS[table]} for row in _json_stored(table)]


def _json_insert(table, row):
    _json_save(table, [*_json_stored(table), row])


def _json_set(table, keys, column, value):
    rows = _json_stored(table)
    _json_save(table, [{**row, column: value} if row[KEYS[table]] in keys else row for row in rows])


def _json_remove(table, key):
    _json_save(table, [row for row in _json_stored(table) if row[KEYS[table]] != key])
"""
"""What files of row objects have in common."""
CONSTANTS = """
def _refuse_constant(name):
    raise ValueError(f"{name} is not JSON")
"""
JSON_PART = """
def _json_stored(table):
    with _readable(table), open(FILES[table], encoding="utf-8-sig") as file:
        rows = json.load(file, parse_constant=_refuse_constant)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError("not a list of rows")
        return rows


def _json_save(table, rows):
    text = json.dumps(rows, indent=JSON_INDENT[table], ensure_ascii=False, allow_nan=False) + JSON_END[table]
    with open(FILES[table], "w", encoding="utf-8") as file:
        file.write(text)
"""
JSONL_PART = """
def _jsonl_stored(table):
    with _readable(table), open(FILES[table], encoding="utf-8-sig") as file:
        lines = [line for line in file.read().split("\\n") if line.strip()]
        rows = [json.loads(line, parse_constant=_refuse_constant) for line in lines]
        if not all(isinstance(row, dict) for row in rows):
            raise ValueError("a line is no row")
        return rows


def _jsonl_save(table, rows):
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) + "\\n" for row in rows]
    with open(FILES[table], "w", encoding="utf-8") as file:
        file.write("".join(lines))
"""
YAML_PART = r"""
def _yaml_stored(table):
    with _readable(table), open(FILES[table], encoding="utf-8-sig") as file:
        rows = []
        for line in file.read().split("\n"):
            if line in ("", "[]"):
                continue
            if line.startswith("- "):
                rows.append({})
            elif not line.startswith("  "):
                raise ValueError("not a list of rows")
            name, _, value = line[2:].partition(": ")
            rows[-1][name.strip('"')] = json.loads(value, parse_constant=_refuse_constant)
        return rows


def _yaml_save(table, rows):
    cells = [("  " if place else "- ", *cell) for row in rows for place, cell in enumerate(row.items())]
    lines = [f"{begin}{_yaml_key(name)}: {_yaml_value(value)}\n" for begin, name, value in cells]
    with open(FILES[table], "w", encoding="utf-8") as file:
        file.write("".join(lines) or "[]\n")


def _yaml_key(name):
    return f'"{name}"' if name in ("y", "n", "yes", "no", "on", "off", "true", "false", "null") else name


def _yaml_value(value):
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if isinstance(value, float) and "e" in text and "." not in text:
        return text.replace("e", ".0e")
    return re.sub("[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]", lambda found: f"\\u{ord(found[0]):04x}", text)
"""

CSV_READS = """
def _csv_stored(table):
    with _readable(table), open(FILES[table], encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        rows = list(reader)
        if not set(COLUMNS[table]) <= set(reader.fieldnames or ()):
            raise ValueError("columns are missing")
        if any(None in row or None in row.values() for row in rows):
            raise ValueError("lines of different length")
        return rows


def _csv_rows(table):
    kinds = COLUMNS[table]
    return [{name: _from_text(row[name], kind) for name, kind in kinds.items()} for row in _csv_stored(table)]
"""
TEXT_CELLS = """

def _from_text(text, kind):
    if text == "":
        return None
    return text.lower() in ("true", "1", "yes") if kind is bool else kind(text)


def _to_text(value):
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
"""
"""What CSV and Markdown have in common."""
CSV_WRITES = """

def _csv_save(table, rows):
    with open(FILES[table], encoding="utf-8-sig", newline="") as file:
        header = next(csv.reader(file))
    text = io.StringIO()
    writer = csv.DictWriter(text, header, lineterminator=CSV_LINE_END[table])
    writer.writeheader()
    writer.writerows(rows)
    with open(FILES[table], "w", encoding="utf-8", newline="") as file:
        file.write(text.getvalue())


def _csv_insert(table, row):
    _csv_save(table, [*_csv_stored(table), {name: _to_text(value) for name, value in row.items()}])


def _csv_key(table, row):
    return _from_text(row[KEYS[table]], COLUMNS[table][KEYS[table]])


def _csv_set(table, keys, column, value):
    rows = _csv_stored(table)
    _csv_save(table, [{**row, column: _to_text(value)} if _csv_key(table, row) in keys else row for row in rows])


def _csv_remove(table, key):
    _csv_save(table, [row for row in _csv_stored(table) if _csv_key(table, row) != key])
"""

SQLITE_PART = '''
def _sql(table, statement, values=()):
    """Run one statement on the table's file, which must exist, and give its rows."""
    try:
        with closing(sqlite3.connect(f"file:{FILES[table]}?mode=rw", uri=True)) as connection, connection:
            return connection.execute(statement, values).fetchall()
    except sqlite3.IntegrityError:
        raise
    except sqlite3.DatabaseError as error:
        raise ToolError("broken_table", f"The table {table} cannot be read ({type(error).__name__}).") from error


def _sqlite_rows(table):
    columns = COLUMNS[table]
    names = ", ".join(f'"{table}"."{name}"' for name in columns)  # bare, a missing column would be read as a text
    found = _sql(table, f'SELECT {names} FROM "{table}" ORDER BY rowid')
    return [{n: _from_sql(v, kind) for v, (n, kind) in zip(row, columns.items())} for row in found]


def _from_sql(value, kind):
    return bool(value) if kind is bool and value is not None else value


def _sqlite_insert(table, row):
    names = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join("?" * len(row))
    _sql(table, f'INSERT INTO "{table}" ({names}) VALUES ({marks})', tuple(row.values()))


def _sqlite_set(table, keys, column, value):
    marks = ", ".join("?" * len(keys))
    _sql(table, f'UPDATE "{table}" SET "{column}" = ? WHERE "{KEYS[table]}" IN ({marks})', (value, *keys))


def _sqlite_remove(table, key):
    _sql(table, f'DELETE FROM "{table}" WHERE "{KEYS[table]}" = ?', (key,))
'''
MARKDOWN_PART = """
def _markdown_stored(table):
    with _readable(table), open(FILES[table], encoding="utf-8", newline="") as file:
        lines = [_cells_of(line) for line in file.read().split("\\n") if line.startswith("|")]
        header, rule, *rows = lines
        if not set(COLUMNS[table]) <= set(header) or any(set(cell) != {"-"} for cell in rule):
            raise ValueError("no table, or columns are missing")
        return [dict(zip(header, row, strict=True)) for row in rows]


def _cells_of(line):
    signs = {"n": "\\n", "r": "\\r", "s": " "}
    cells = [cell.strip(" ") for cell in re.split(r"(?<!\\\\)[|]", line)[1:-1]]
    return [re.sub(r"\\\\(.)", lambda found: signs.get(found[1], found[1]), cell) for cell in cells]


def _markdown_line(cells):
    return "| " + " | ".join(cells) + " |"


def _markdown_escaped(text):
    for sign, stands in {"\\\\": r"\\\\", "|": r"\\|", "\\n": r"\\n", "\\r": r"\\r"}.items():
        text = text.replace(sign, stands)
    return re.sub("^ +| +$", lambda found: r"\\s" * len(found[0]), text)


def _markdown_rows(table):
    kinds = COLUMNS[table]
    return [{name: _from_text(row[name], kind) for name, kind in kinds.items()} for row in _markdown_stored(table)]


def _markdown_save(table, rows):
    with open(FILES[table], encoding="utf-8", newline="") as file:
        lines = file.read().split("\\n")
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    header = _cells_of(lines[start])
    kept = [_markdown_line([_markdown_escaped(row[name]) for name in header]) for row in rows]
    with open(FILES[table], "w", encoding="utf-8", newline="") as file:
        file.write("\\n".join([*lines[: start + 2], *kept, ""]))


def _markdown_insert(table, row):
    _markdown_save(table, [*_markdown_stored(table), {name: _to_text(value) for name, value in row.items()}])


def _markdown_key(table, row):
    return _from_text(row[KEYS[table]], COLUMNS[table][KEYS[table]])


def _markdown_set(table, keys, column, value):
    rows = _markdown_stored(table)
    text = _to_text(value)
    _markdown_save(table, [{**row, column: text} if _markdown_key(table, row) in keys else row for row in rows])


def _markdown_remove(table, key):
    _markdown_save(table, [row for row in _markdown_stored(table) if _markdown_key(table, row) != key])
"""
PARTS = {
    "json": JSON_PART + ROW_OBJECTS,
    "jsonl": JSONL_PART + ROW_OBJECTS.replace("_json_", "_jsonl_"),
    "yaml": YAML_PART + ROW_OBJECTS.replace("_json_", "_yaml_"),
    "csv": CSV_READS + TEXT_CELLS + CSV_WRITES,
    "sqlite": SQLITE_PART,
    "markdown": MARKDOWN_PART,
}
STORED = {
    "jsonl": """    if FORMATS[table] == "jsonl":
        return [json.loads(line) for line in Path(file).read_text(encoding="utf-8").split("\\n") if line]
""",
    "yaml": """    if FORMATS[table] == "yaml":
        items = ("\\n" + Path(file).read_text(encoding="utf-8")).split("\\n- ")[1:]
        rows = [[line.strip().partition(": ") for line in item.split("\\n") if line] for item in items]
        return [{name.strip('"'): json.loads(value) for name, _, value in row} for row in rows]
""",
    "markdown": """    if FORMATS[table] == "markdown":
        lines = [cells_of(line) for line in Path(file).read_text(encoding="utf-8").split("\\n") if line.startswith("|")]
        return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]
""",
}
"""How tests read files beyond JSON, CSV and SQLite."""
