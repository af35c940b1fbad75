"""Whatever the records look like: every scalar in them is in a cell of some table, and tables hold together."""

import itertools
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_world.agents.importer.build import _database
from agent_world.agents.importer.nested import flatten
from agent_world.agents.importer.read import Collection
from agent_world.agents.importer.repeats import without_repeats
from agent_world.agents.importer.shape import scalar_text

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 2**70), st.floats(-9, 9), st.sampled_from(["", "a", "b c"])
)
names = st.sampled_from(["id", "ID", "key", "a", "b", "name", "Öl", "class", "1st", "🙂", "items", "user_id"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
records = st.lists(st.dictionaries(names, values, max_size=4), min_size=1, max_size=6)


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
    elif value is not None:
        yield value


def numbered(value: Any, count: Iterator[int]) -> Any:
    """The same with a text of its own for every scalar, so that none hides behind another."""
    if isinstance(value, dict):
        return {name: numbered(inner, count) for name, inner in value.items()}
    if isinstance(value, list):
        return [numbered(inner, count) for inner in value]
    return value if value is None else f"<{next(count)}>"


def text_of(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> str:
    """All cells of the tables that the records become; the tables have keys, and the keys hold."""
    done = flatten([Collection("users", "x: users", "x", first), Collection("orders", "x: orders", "x", second)])
    without_repeats(done)
    tables = _database(done).tables()
    assert [p for p in done.placed if p.how == "table" and p.found != p.rows] == []
    return "\n".join(str(cell).casefold() for table in tables.values() for row in table.rows for cell in row)


@settings(max_examples=150, deadline=None)
@given(records, records)
def test_every_scalar_of_any_records_is_in_a_cell(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    text = text_of(first, second)
    assert [leaf for leaf in leaves([first, second]) if scalar_text(leaf).casefold() not in text] == []
    first, second = numbered([first, second], itertools.count())
    text = text_of(first, second)
    assert [leaf for leaf in leaves([first, second]) if leaf not in text] == []
