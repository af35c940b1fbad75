"""YAML as plain values, built from the events of PyYAML's safe loader rather than by its constructors.

Stricter than safe loading: no tags, no aliases (so nothing can be multiplied), no key twice, bounded size, depth and
number of nodes. Types are those of JSON: `true`, `false`, `null` (also `~` and nothing), decimal integers without
leading zeros, decimal fractions. All else is text: dates, `yes`, `0x1F`, `02138`, and whatever is quoted.
"""

import json
import re
from typing import Any

from agent_world.tools.state.model import MAX_DEPTH, Unreadable

_MAX_BYTES = 1_000_000
_MAX_NODES = 200_000
_PLAIN = {"": None, "~": None, "null": None, "true": True, "false": False}
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,999})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,999})(\.[0-9]{1,999})?([eE][-+]?[0-9]{1,3})?")


def read_yaml(content: bytes) -> Any:
    """The value of the only document, or a list of several. Raises `Unreadable`."""
    import yaml

    if len(content) > _MAX_BYTES:
        raise Unreadable(f"not YAML to be read: more than {_MAX_BYTES} bytes")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder()
    try:
        for event in yaml.parse(content.decode("utf-8-sig"), Loader=loader):
            builder.take(event)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Unreadable(f"not YAML: {' '.join(str(error).split())}") from error
    documents = builder.documents
    if b"\\" in content:
        _check_text(documents)
    return documents[0] if len(documents) == 1 else [{"document": document} for document in documents]


def _check_text(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Unreadable("not YAML: a lone surrogate is no text") from error


class _Builder:
    """Values from events, on a stack of its own."""

    def __init__(self) -> None:
        self.documents: list[Any] = []
        self._open: list[_Open] = []
        self._nodes = 0

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        if kind in ("ScalarEvent", "SequenceStartEvent", "MappingStartEvent"):
            self._start(event, kind)
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            self._put(self._open.pop().value)
        elif kind == "AliasEvent":
            raise ValueError(f"line {event.start_mark.line + 1}: aliases are not read")

    def _start(self, event: Any, kind: str) -> None:
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            raise ValueError(f"more than {_MAX_NODES} values")
        if event.tag is not None and event.tag != "!":
            raise ValueError(f"line {event.start_mark.line + 1}: tags are not read ({event.tag[:60]})")
        if kind == "ScalarEvent":
            return self._scalar(event)
        if len(self._open) >= MAX_DEPTH:
            raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
        if self._open and self._open[-1].wants_key:
            raise ValueError(f"line {event.start_mark.line + 1}: a key must be a plain value")
        self._open.append(_Open([] if kind == "SequenceStartEvent" else {}))

    def _scalar(self, event: Any) -> None:
        if self._open and self._open[-1].wants_key:
            return self._open[-1].take_key(event.value, event.start_mark.line + 1)
        self._put(_typed(event.value) if event.implicit[0] else event.value)

    def _put(self, value: Any) -> None:
        if not self._open:
            self.documents.append(value)
        else:
            self._open[-1].put(value)


class _Open:
    """A list or mapping whose end has not come."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self._key: str | None = None

    @property
    def wants_key(self) -> bool:
        return isinstance(self.value, dict) and self._key is None

    def take_key(self, key: str, line: int) -> None:
        if key in self.value:
            raise ValueError(f"line {line}: the key {key[:40]!r} occurs twice")
        self._key = key

    def put(self, value: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(value)
        else:
            self.value[self._key] = value
            self._key = None


def _typed(plain: str) -> Any:
    if plain in _PLAIN:
        return _PLAIN[plain]
    if _INTEGER.fullmatch(plain):
        return int(plain)
    if _NUMBER.fullmatch(plain):
        number = float(plain)
        return number if abs(number) != float("inf") else plain
    return plain
