"""What `$ref`s of one document stand for. Resolution itself is `referencing`'s, the library that jsonschema uses.

Its own dialects assume sound schemas; ours finds `$id`s and anchors in damaged ones without tripping. Nothing is ever
fetched.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urldefrag, urljoin, urlsplit

from referencing import Anchor, Registry, Specification
from referencing._core import Resolver as LibraryResolver
from referencing.exceptions import Unresolvable

Resolver = LibraryResolver[Any] | None
"""None for a document without references."""
_DATA = frozenset({"const", "default", "enum", "example", "examples"})
_DEFINITIONS = ("$defs", "definitions")


@dataclass(frozen=True, slots=True)
class Found:
    contents: Any
    resolver: Resolver
    moved: str | None = None
    """Where it really was, when not where the reference says."""


class References:
    """Of one document; shared by all tools that it holds."""

    def __init__(self, document: Any, *, draft4: bool = False) -> None:
        self._document = document
        self._dialect = _dialect(("$id", "id") if draft4 else ("$id",))
        self._root: Resolver = None
        self._registry: Registry[Any] | None = None
        if any(True for _ in _references_in(document)):
            resource = self._dialect.create_resource(document)
            uri = resource.id() or ""
            self._registry = Registry().with_resource(uri, resource).crawl()
            self._root = self._registry.resolver(base_uri=uri)

    def resolver(self) -> Resolver:
        return self._root

    def inside(self, node: Mapping[str, Any], resolver: Resolver) -> Resolver:
        """The resolver for a schema's contents: its own `$id` is what they are relative to."""
        if resolver is None or self._dialect.id_of(node) is None or node is self._document:
            return resolver
        return resolver.in_subresource(self._dialect.create_resource(node))

    def find(self, ref: str, resolver: Resolver) -> Found | str | None:
        """The target; the reason where the document lacks it; None where it is in another document."""
        if resolver is None:
            return f"$ref {ref[:80]!r} cannot be resolved"
        try:
            resolved = resolver.lookup(ref)
            return Found(resolved.contents, resolved.resolver)
        except (Unresolvable, LookupError, TypeError, ValueError):  # pointers into what is no list or object
            return self._elsewhere(ref) or (
                None if self._is_remote(ref, resolver) else f"$ref {ref[:80]!r} does not exist"
            )

    def _is_remote(self, ref: str, resolver: Any) -> bool:
        if ref.startswith("#"):
            return False
        try:
            uri = urldefrag(urljoin(resolver._base_uri, ref)).url
        except ValueError:
            return True
        return self._registry is not None and uri not in self._registry

    def _elsewhere(self, ref: str) -> Found | None:
        """A definition of that name in another place: some programs nest a schema and forget to move its references."""
        name = ref.rpartition("/")[2]
        if not ref.startswith(tuple(f"#/{key}/" for key in _DEFINITIONS)):
            return None
        found = [(path, item) for path, item in _definitions_in(self._document, "#") if path.rpartition("/")[2] == name]
        return Found(found[0][1], self._root, found[0][0]) if len(found) == 1 else None


def _dialect(id_keys: tuple[str, ...]) -> Specification[Any]:
    def id_of(contents: Any) -> str | None:
        for key in id_keys if isinstance(contents, Mapping) else ():
            if isinstance(found := contents.get(key), str) and not found.startswith("#") and _is_uri(found):
                return found.rstrip("#") or None
        return None

    def anchors_in(specification: Specification[Any], contents: Any) -> Iterator[Anchor[Any]]:
        if not isinstance(contents, Mapping):
            return
        names = [contents.get(key) for key in ("$anchor", "$dynamicAnchor")]
        names += [str(contents.get(key))[1:] for key in id_keys if str(contents.get(key)).startswith("#")]
        for name in names:
            if isinstance(name, str) and name:
                yield cast(Any, Anchor)(name=name, resource=specification.create_resource(contents))

    made: Specification[Any] = cast(Any, Specification)(
        name="tolerant",
        id_of=id_of,
        subresources_of=lambda contents: list(_parts(contents)),
        anchors_in=anchors_in,
        maybe_in_subresource=lambda segments, resolver, subresource: resolver.in_subresource(subresource),
    )
    return made


def _parts(contents: Any) -> Iterator[Any]:
    """Everything below that may be a schema or hold one."""
    if isinstance(contents, Mapping):
        yield from (v for k, v in contents.items() if isinstance(v, (Mapping, list)) and k not in _DATA)
    elif isinstance(contents, list):
        yield from (v for v in contents if isinstance(v, (Mapping, list)))


def _references_in(document: Any) -> Iterator[str]:
    stack = [document]
    while stack:
        item = stack.pop()
        if isinstance(item, Mapping):
            yield from (k for k in ("$ref", "$dynamicRef", "$recursiveRef") if isinstance(item.get(k), str))
        elif isinstance(item, str) and '"$ref"' in item:  # a schema given as text
            yield "$ref"
        stack += item if isinstance(item, list) else item.values() if isinstance(item, Mapping) else ()


def _definitions_in(document: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(document, Mapping):
        for key, value in document.items():
            if key in _DEFINITIONS and isinstance(value, Mapping):
                yield from ((f"{path}/{key}/{name}", item) for name, item in value.items())
            yield from _definitions_in(value, f"{path}/{key}")
    elif isinstance(document, list):
        for number, item in enumerate(document):
            yield from _definitions_in(item, f"{path}/{number}")


def _is_uri(text: str) -> bool:
    try:
        urlsplit(text)
        urljoin("http://localhost/", text)
    except ValueError:
        return False
    return True
