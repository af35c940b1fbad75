"""First pass over a foreign schema: every keyword as JSON Schema 2020-12 has it, references into one table.

Reads drafts 4 to 2020-12, the dialects of OpenAPI 2.0 and 3.0, and what careless programs write. Whatever is written
differently afterwards is in `changes`. Bounded by the guard: recursion is as deep as the document.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agent_world.errors import SpecError
from agent_world.tools.specs.keywords import HANDLERS, NULLABLE
from agent_world.tools.specs.model import Change, Effect, What
from agent_world.tools.specs.refs import References, Resolver
from agent_world.tools.specs.types import as_object, read_type
from agent_world.tools.specs.values import keyword_of
from agent_world.tools.specs.walk import IN_PLACE, Schema, is_annotation

_OLD_DRAFTS = ("draft-03", "draft-04", "draft-05", "draft-06", "draft-07", "openapi-3.0", "swagger-2.0")
MOST_DEFINITIONS = 200
"""Of one tool: those nearest to the arguments. What lies beyond is cut."""
MOST_SCHEMAS = 20_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where the cleaner is: the path for messages, the raw schema, and what references are relative to."""

    path: str
    resolver: Resolver
    node: Mapping[str, Any] = field(default_factory=dict)

    def at(self, step: object) -> "Place":
        return replace(self, path=f"{self.path}/{step}" if self.path else str(step))


class Cleaner:
    """Cleans one tool's schema and, one by one, all that it refers to. Raises `SpecError` for what has no reading."""

    def __init__(self, references: References, dialect: str) -> None:
        self.references = references
        self.old_draft = any(draft in dialect for draft in _OLD_DRAFTS)
        self.changes: list[Change] = []
        self._seen = 0
        self._names: dict[int, str] = {}
        self._waiting: list[tuple[str, Any, Place]] = []

    def note(self, place: Place, what: What, why: str, effect: Effect = "same") -> None:
        self.changes.append(Change(path=place.path, what=what, why=why, effect=effect))

    def clean_all(self, schema: Any, path: str) -> tuple[Schema, dict[str, Schema]]:
        """The schema, and by name what its references stand for; all `$ref`s are then `#/$defs/NAME`."""
        root = self.schema(schema, Place(path, self.references.resolver()))
        found: dict[str, Schema] = {}
        while self._waiting:
            name, contents, place = self._waiting.pop(0)
            found[name] = self.schema(contents, place)
        return root, found

    def schema(self, given: Any, place: Place) -> Schema:
        self._seen += 1
        if self._seen > MOST_SCHEMAS:
            raise SpecError(f"{place.path}: with all that it refers to it holds more than {MOST_SCHEMAS:,} schemas")
        node = self._mapping(given, place)
        if isinstance(node, bool):
            return node
        place = replace(place, node=node, resolver=self.references.inside(node, place.resolver))
        out: dict[str, Any] = {}
        for keyword, value in node.items():
            handler = HANDLERS.get(keyword)
            if value is None and keyword not in ("const", "default", "type"):
                self.note(place.at(keyword), "null_value", "null says nothing here; left out")
            elif handler is None:
                out[keyword] = value
            else:
                handler(self, out, value, place.at(keyword))
        return self._finished(out, place)

    def _mapping(self, given: Any, place: Place) -> Mapping[str, Any] | bool:
        """A schema given as an object or Boolean; as JSON text, the name of a type, or null with a change."""
        if isinstance(given, (Mapping, bool)):
            return given
        if isinstance(given, str) and (found := as_object(given)) is not None:
            self.note(place, "json_text", "the schema was given as text holding JSON")
            return found
        if isinstance(given, str) and read_type(given) is not None:
            self.note(place, "type_name", f"{given[:40]!r} stands for a schema of that type")
            return {"type": given}
        shown = "null" if given is None else f"a {type(given).__name__}"
        self.note(place, "keyword", f"{shown} is no schema; anything is accepted here", "guess")
        return {}

    def _finished(self, out: dict[str, Any], place: Place) -> Schema:
        if "$ref" in out and self.old_draft:
            for keyword in [k for k in out if k != "$ref" and not is_annotation(k)]:
                del out[keyword]
                self.note(place.at(keyword), "dialect", "this dialect ignores what stands beside $ref; left out")
        for keyword in [k for k in NULLABLE if place.node.get(k) is True][:1]:
            out = self._nullable(out, place.at(keyword))
        self._check_default(out, place)
        return out

    def _nullable(self, out: dict[str, Any], place: Place) -> dict[str, Any]:
        """OpenAPI 3.0's `nullable`, as the type null beside the others."""
        standard = keyword_of(place) == "nullable"
        self.note(place, "null_form", "null is written as a type", "same" if standard else "guess")
        if not IN_PLACE.isdisjoint(out):
            rest = {k: v for k, v in out.items() if is_annotation(k)}
            return {"anyOf": [{k: v for k, v in out.items() if k not in rest}, {"type": "null"}]} | rest
        types = out.get("type")
        if types is not None:
            listed = [types] if isinstance(types, str) else types
            out["type"] = listed if "null" in listed else [*listed, "null"]
        if "enum" in out and None not in out["enum"]:
            out["enum"] = [*out["enum"], None]
        if out.get("const") is not None:
            out["enum"] = [out.pop("const"), None]
        return out

    def _check_default(self, out: dict[str, Any], place: Place) -> None:
        from agent_world.tools.specs.types import fits

        if "default" in out and "type" in out and not fits(out["default"], out["type"]):
            shown = type(out.pop("default")).__name__
            self.note(place.at("default"), "default", f"it is of another type ({shown}) than the value; left out")

    def refer(self, ref: str, place: Place) -> dict[str, Any]:
        """`{"$ref": "#/$defs/NAME"}` for a reference, its target queued; `{}` for a remote one.

        Raises `SpecError` where the document lacks the target.
        """
        found = self.references.find(ref, place.resolver)
        if isinstance(found, str):
            raise SpecError(f"{place.path}: {found}")
        if found is None:
            why = f"{ref[:80]!r} is another document, which is not fetched; anything is accepted here"
            self.note(place, "reference", why, "wider")
            return {}
        key = id(found.contents)
        if key not in self._names and len(self._names) >= MOST_DEFINITIONS:
            why = f"more than {MOST_DEFINITIONS} definitions are referred to; anything is accepted here"
            self.note(place, "reference", why, "wider")
            return {}
        if key not in self._names:
            self._names[key] = _free_name(ref, set(self._names.values()))
            self._waiting.append(
                (self._names[key], found.contents, Place(ref.partition("#")[2].strip("/"), found.resolver))
            )
        if found.moved:
            self.note(place, "reference", f"{ref!r} does not exist; {found.moved!r} is meant")
        return {"$ref": f"#/$defs/{self._names[key]}"}


def _free_name(ref: str, taken: set[str]) -> str:
    """The last step of the reference, where it is a plain word."""
    last = ref.rstrip("/").rpartition("/")[2].rpartition("#")[2]
    base = "".join(c if c.isascii() and (c.isalnum() or c in "_-.") else "_" for c in last)[:60] or "Root"
    name, number = base, 2
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    return name
