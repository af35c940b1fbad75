"""Tables in JSON, JSON Lines and YAML."""

import json
import re
from collections.abc import Sequence
from typing import Any

from agent_world.tools.state.model import MAX_ROWS, MAX_VALUES, Found, Row, Unreadable, check_depth
from agent_world.tools.strict_json import finite_float, refuse_constant, unique_keys

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def json_tables(content: bytes) -> list[Found]:
    """Raises `Unreadable`."""
    return value_tables(_json(_decoded(content, "JSON")))


def json_lines_tables(content: bytes) -> list[Found]:
    """Raises `Unreadable`, naming the line."""
    items: list[Any] = []
    for number, line in enumerate(_decoded(content, "JSON Lines").split("\n"), 1):
        if len(items) > MAX_ROWS:
            raise Unreadable(f"not JSON Lines to be read: more than {MAX_ROWS} rows")
        if line.strip():
            try:
                items.append(_json(line))
            except Unreadable as error:
                raise Unreadable(f"not JSON Lines: line {number}: {error}") from error
    return [_list(None, items)]


def value_tables(value: Any) -> list[Found]:
    """A value's tables, by the rules of the package."""
    if isinstance(value, list):
        return [_list(None, value)]
    if not isinstance(value, dict):
        return [Found(None, [{"value": value}], names=["value"])]
    if not value or _is_records(value):
        return [_records(None, value)]
    plain = {key: item for key, item in value.items() if not isinstance(item, dict | list)}
    tables = [_table(key, item) for key, item in value.items() if isinstance(item, dict | list)]
    return [*tables, Found(None, [plain], names=["value"])] if plain else tables


def _is_records(value: dict[str, Any]) -> bool:
    """Objects only, and one of them at least has a plain value or a list: they are rows, not tables."""
    objects = all(isinstance(item, dict) for item in value.values())
    return objects and any(not isinstance(cell, dict) for item in value.values() for cell in item.values())


def _table(name: str, value: Any) -> Found:
    if isinstance(value, list):
        return _list(name, value)
    if all(isinstance(item, dict) for item in value.values()):
        return _records(name, value)
    return Found(name, [value], names=[name])


def _records(name: str | None, value: dict[str, Row]) -> Found:
    return Found(name, list(value.values()), names=list(value))


def _list(name: str | None, items: Sequence[Any]) -> Found:
    if all(isinstance(item, dict) for item in items):
        return Found(name, items)
    return Found(name, [{"value": item} for item in items], names=[str(place) for place in range(len(items))])


def _decoded(content: bytes, kind: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not {kind}: {error}") from error


def _json(source: str) -> Any:
    if sum(map(source.count, ",[{")) > MAX_VALUES:
        raise Unreadable(f"not JSON to be read: more than {MAX_VALUES} values")
    try:
        found = json.loads(
            source, parse_constant=refuse_constant, parse_float=finite_float, object_pairs_hook=unique_keys
        )
        if _SURROGATE.search(source):
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Unreadable("not JSON: a lone surrogate is no text") from error
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {error}") from error
    try:
        check_depth(found)
    except Unreadable as error:
        raise Unreadable(f"not JSON to be read: {error}") from error
    return found
