"""Tables in JSON. The rule: a list of objects is a table; an inner object becomes columns `outer.inner`; an inner list
of objects becomes a table of its own whose rows name their parent by its key, or JSON text where it has none; another
inner list is JSON text; NaN and Infinity are null. Cells keep their types."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agent_world.tools.tables.names import singular, snake_case
from agent_world.tools.web.grid import Grid, require_size, shape

DEEPEST = 8
"""Levels of objects in which tables are looked for, and of which columns are made."""
MOST_TABLES = 50
WRAPPERS = {"data", "items", "results", "records", "rows", "list", "values", "entries", "content", "objects", "nodes"}
"""Names that say nothing of what the list holds: its holder's name is taken."""
KEY = re.compile(r"(^|[._])(id|key|code|slug|uuid|iata|iso|isbn|sku|symbol|name|title)$|Id$")
SCALAR = (str, int, float, bool, type(None))


def parse_json(text: str) -> Any:
    """Raises `ValueError`, also for what is nested absurdly deep."""
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def json_grids(value: Any, name: str) -> list[Grid]:
    """All tables of a JSON value, in order."""
    found: list[Grid] = []
    for grid in _tables(value, name, 0):
        found.append(grid)
        if len(found) == MOST_TABLES:
            break
    return found


def is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) and row for row in value)


def _tables(value: Any, name: str, depth: int) -> Iterator[Grid]:
    if depth > DEEPEST:
        return
    if is_table(value):
        yield from records(name, value)
    elif isinstance(value, list):
        if grid := _lines(value, name):
            yield grid
    elif isinstance(value, dict):
        yield from _of_object(value, name, depth)


def _of_object(value: dict[str, Any], name: str, depth: int) -> Iterator[Grid]:
    if value.get("type") == "FeatureCollection" and is_table(value.get("features")):
        yield from records(name, [_feature(one) for one in value["features"]])
    elif _is_split(value):
        yield shape(name, [str(column) for column in value["columns"]], value["data"], empty=None)
    elif (rows := _columns(value)) is not None:
        yield shape(name, list(value), rows, empty=None)
    elif _is_map(value):
        yield from records(name, [{"key": key, **inner} for key, inner in value.items()])
    else:
        for key, inner in value.items():
            yield from _tables(inner, name if key.lower() in WRAPPERS else key, depth + 1)


def _lines(value: list[Any], name: str) -> Grid | None:
    """A list of lists of one length whose first holds the headers."""
    if len(value) < 2 or not all(isinstance(line, list) and len(line) == len(value[0]) for line in value):
        return None
    header = value[0]
    named = len(header) > 1 and all(isinstance(cell, str) and cell for cell in header) and len({*header}) == len(header)
    return shape(name, header, [[_cell(c) for c in line] for line in value[1:]], empty=None) if named else None


def _is_split(value: dict[str, Any]) -> bool:
    """`{"columns": [...], "data": [[...]]}`, as pandas and many services write it."""
    columns, data = value.get("columns"), value.get("data")
    return (
        isinstance(columns, list)
        and all(isinstance(column, str) for column in columns)
        and isinstance(data, list)
        and bool(data)
        and all(isinstance(row, list) and len(row) == len(columns) for row in data)
    )


def _columns(value: dict[str, Any]) -> list[tuple[Any, ...]] | None:
    """Rows of `{"a": [1, 2], "b": [3, 4]}`."""
    lists = list(value.values())
    if len(lists) < 2 or not all(isinstance(one, list) and len(one) == len(lists[0]) > 1 for one in lists):
        return None
    if not all(isinstance(cell, SCALAR) for one in lists for cell in one):
        return None
    return list(zip(*lists, strict=True))


def _is_map(value: dict[str, Any]) -> bool:
    """`{"FR": {...}, "DE": {...}}`: objects of one kind by their key."""
    inner = list(value.values())
    if len(inner) < 3 or not all(isinstance(one, dict) and one for one in inner) or "key" in inner[0]:
        return False
    shared = set.intersection(*(set(one) for one in inner))
    return 2 * len(shared) >= len(inner[0]) and any(isinstance(inner[0][key], SCALAR) for key in shared)


def _feature(feature: dict[str, Any]) -> dict[str, Any]:
    """Of GeoJSON: its properties, with the place of a point."""
    geometry = feature.get("geometry") or {}
    row = {"id": feature["id"]} if "id" in feature else {}
    row |= feature.get("properties") or {}
    place = geometry.get("coordinates") if isinstance(geometry, dict) else None
    if geometry.get("type") == "Point" and isinstance(place, list) and len(place) >= 2:
        row |= {"longitude": place[0], "latitude": place[1]}
    return row


def records(name: str, rows: Sequence[dict[str, Any]], depth: int = 0) -> list[Grid]:
    """The table of these objects, then those that they hold."""
    flat = [dict(_flatten(row)) for row in rows]
    columns = list(dict.fromkeys(column for row in flat for column in row))
    require_size(name, len(columns), len(flat))
    key = _key(flat, columns)
    inner = [column for column in columns if _holds_rows(flat, column)] if key and depth < DEEPEST else []
    header = [column for column in columns if column not in inner]
    table = shape(name, header, [[_cell(row.get(column)) for column in header] for row in flat], empty=None)
    found = [table] if header else []
    for column in inner:
        parent = f"{singular(snake_case(name))}_{snake_case(str(key))}"
        children = [{parent: row[str(key)], **child} for row in flat if row.get(column) for child in row[column]]
        found += records(f"{name} {column}", children, depth + 1) if children else []
    return found


def _flatten(row: dict[str, Any], prefix: str = "", depth: int = 0) -> Iterable[tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, dict) and depth < DEEPEST:
            yield from _flatten(value, f"{prefix}{key}.", depth + 1)
        else:
            yield f"{prefix}{key}", value


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _holds_rows(flat: Sequence[dict[str, Any]], column: str) -> bool:
    values = [row[column] for row in flat if row.get(column) not in (None, [])]
    return bool(values) and all(is_table(value) for value in values)


def _key(flat: Sequence[dict[str, Any]], columns: Sequence[str]) -> str | None:
    """The first column called like a key whose values tell all rows apart."""
    for column in filter(KEY.search, columns):
        values = [row.get(column) for row in flat]
        if all(isinstance(v, str | int) and v != "" for v in values) and len(set(values)) == len(values):
            return column
    return None
