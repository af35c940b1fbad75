"""Rows in the forms in which pages hold them beside plain tables: spanning cells, JSON-LD, data in scripts."""

import json
import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from agent_world.examples.web.catalogue import Rows
from agent_world.examples.web.writers import records


def slug_of(value: object) -> str:
    """Of the page of a thing: `Mt. Marcy` becomes `mt-marcy`."""
    return re.sub(r"[^a-z0-9]+", "-", str(value).lower()).strip("-")


def spanned(rows: Sequence[Sequence[Any]]) -> list[list[tuple[Any, int]]]:
    """For each row its cells with how many rows they span: equal neighbours in a column are one cell, which the lower
    rows leave out. First cells never span."""
    lines: list[list[tuple[Any, int]]] = []
    for number, row in enumerate(rows):
        line = [(row[0], 1)]
        for place, cell in enumerate(row[1:], 1):
            if number and rows[number - 1][place] == cell:
                continue
            below = (n for n in range(number + 1, len(rows)) if rows[n][place] != cell)
            line.append((cell, next(below, len(rows)) - number))
        lines.append(line)
    return lines


def as_things(rows: Sequence[Sequence[Any]], header: Sequence[str], slug: str) -> Markup:
    """A JSON-LD list of things of one type, `ring_types` as `RingType`."""
    kind = "".join(word.capitalize() for word in slug.removesuffix("s").split("_"))
    things = [
        {"@type": "ListItem", "position": number, "item": {"@type": kind} | record}
        for number, record in enumerate(_records(rows, header), 1)
    ]
    return _in_script({"@context": "https://schema.org", "@type": "ItemList", "itemListElement": things})


def as_script(rows: Sequence[Sequence[Any]], header: Sequence[str]) -> Markup:
    """A list of objects, JSON and JavaScript alike."""
    return _in_script(_records(rows, header))


def _records(rows: Sequence[Sequence[Any]], header: Sequence[str]) -> list[dict[str, object]]:
    return records(Rows(tuple(header), tuple(tuple(row) for row in rows)))


def _in_script(value: Any) -> Markup:
    """JSON in which nothing can end the script element."""
    return Markup(json.dumps(value, ensure_ascii=False).replace("<", "\\u003c"))
