"""What the synthesizer knows of an environment: its tools read as actions on tables, and the rows themselves.

The rows are used to plan (which row satisfies a precondition, which name is unique), never as the answer: answers
come from running the tools.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from agent_world.agents.synthesizer.derived import Derived, derived_columns
from agent_world.agents.synthesizer.meaning import Measure
from agent_world.agents.synthesizer.plan_database import Tables, load
from agent_world.errors import StoreError
from agent_world.memory.store import Bundle
from agent_world.schema import BusinessRule, Environment, ForeignKey, Operation, Table, ToolSpec
from agent_world.tools.tables.files import read_rows

Row = dict[str, Any]
PAGE = 10
"""Most rows a list tool returns at once, unless a call says otherwise."""
WRITES = ("create", "update", "delete")


@dataclass(frozen=True)
class Action:
    """A tool with an operation, read in terms of its table.

    `filters` maps an argument to the column of the action's own table that it restricts, `sources` to the
    `table.column` whose values it takes (the parent's key for a foreign key).
    """

    tool: ToolSpec
    operation: Operation
    table: Table
    key: str | None = None
    """Argument that takes the primary key of the table (get, update, delete)."""
    filters: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    """Arguments that are written: argument -> column."""
    paged: bool = False
    rule: BusinessRule | None = None
    """Of a business operation: what it demands and does."""
    inside: bool = False
    """Whether it is a tool that shows one row, read as a list of what it shows with it: the items of an order."""

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def kind(self) -> str:
        return self.operation.kind

    @property
    def writes(self) -> bool:
        return self.kind in WRITES or (self.kind == "custom" and not self.tool.annotations.read_only)

    @property
    def walkable(self) -> bool:
        """Whether its meaning is known well enough to be put into a question."""
        return self.kind != "custom"

    @cached_property
    def paths(self) -> dict[str, str]:
        """Column of the own table -> output path, `[]` left in."""
        found: dict[str, str] = {}
        for path, target in self.operation.outputs.items():
            table, _, column = target.partition(".")
            if table == self.table.name and column not in found:
                found[column] = path
        return found

    @property
    def lists(self) -> bool:
        return any("[]" in path for path in self.operation.outputs)

    @property
    def required(self) -> list[str]:
        return list(self.tool.input_schema.get("required", ()))

    def listed(self, argument: str) -> bool:
        """Whether the argument takes a list."""
        return bool(self.tool.input_schema.get("properties", {}).get(argument, {}).get("type") == "array")

    @property
    def whole(self) -> bool:
        """Whether it gives all rows, however many there are."""
        return self.paged or self.inside

    def accepts(self, argument: str, value: Any) -> bool:
        """Whether the value is one of those that the schema lists, where it lists any."""
        listed = self.tool.input_schema.get("properties", {}).get(argument, {}).get("enum")
        return listed is None or value in listed

    def item_paths(self, index: int = 0) -> dict[str, str]:
        """Column -> path of the `index`-th item (or of the row itself)."""
        return {column: path.replace("[]", f".{index}") for column, path in self.paths.items()}


class World:
    """An environment opened for synthesis. Rows are read once; nothing here changes."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.environment: Environment = bundle.environment()
        self.tables: dict[str, Table] = {t.name: t for t in self.environment.database.tables}
        self.rows: dict[str, list[Row]] = {t.name: rows_of(bundle.database, t) for t in self.tables.values()}
        self.tools: list[ToolSpec] = sorted(bundle.tools(), key=lambda tool: tool.name)
        self.actions: list[Action] = [a for a in (read_action(self.tables, tool) for tool in self.tools) if a]
        self.actions += [inner for action in self.actions for inner in inside_of(self.tables, action)]
        self._words: dict[tuple[str, str], dict[str, int]] = {}
        self._counts: dict[tuple[str, str], Counter[Any]] = {}
        self.measures: dict[str, list[Measure]] = {}
        """By table: what its rows can be ranked by (see `measures`)."""
        self._index: dict[tuple[str, str], dict[Any, list[Row]]] = {}

    @property
    def id(self) -> str:
        return self.bundle.id

    @cached_property
    def sql(self) -> Tables:
        """The raw tables in a database of their own, for questions that no tool answers."""
        return load(self.bundle.database, self.tables)

    def of(self, *kinds: str, table: str | None = None) -> list[Action]:
        return [a for a in self.actions if a.kind in kinds and table in (None, a.table.name)]

    @property
    def operations(self) -> list[Action]:
        """Business operations: tools that change rows under conditions of their own."""
        return [a for a in self.actions if a.rule is not None and a.rule.adds is None]

    @property
    def placings(self) -> list[Action]:
        """Business operations that add a row under conditions."""
        return [a for a in self.actions if a.rule is not None and a.rule.adds is not None]

    def action(self, tool: str) -> Action | None:
        return next((a for a in self.actions if a.name == tool), None)

    def where(self, table: str, column: str, value: Any) -> list[Row]:
        """Rows of `table` with exactly this value."""
        index = self._index.get((table, column))
        if index is None:
            index = {}
            for row in self.rows[table]:
                index.setdefault(row.get(column), []).append(row)
            self._index[table, column] = index
        return index.get(value, [])

    def containing(self, table: str, column: str, text: str) -> list[Row]:
        """Rows whose text column contains `text`, case aside: what a search tool finds."""
        wanted = text.casefold()
        return [row for row in self.rows[table] if wanted in str(row.get(column) or "").casefold()]

    def values(self, table: str, column: str) -> Counter[Any]:
        """How often each value occurs. Not to be changed."""
        if (table, column) not in self._counts:
            known = (row.get(column) for row in self.rows[table])
            self._counts[table, column] = Counter(value for value in known if value is not None)
        return self._counts[table, column]

    def words(self, table: str, column: str) -> dict[str, int]:
        """Words of three letters and more in a text column, and how many rows a search for each finds."""
        if (table, column) not in self._words:
            texts = [str(row.get(column) or "") for row in self.rows[table]]
            words = sorted({word for text in texts for word in text.split() if len(word) > 2 and word.isalpha()})
            spelt = {word.casefold(): word for word in reversed(words)}
            folded = [text.casefold() for text in texts]
            self._words[table, column] = {word: sum(key in text for text in folded) for key, word in spelt.items()}
        return self._words[table, column]

    def foreign_key(self, table: str, column: str) -> ForeignKey | None:
        return next((k for k in self.tables[table].foreign_keys if k.column == column), None)

    @cached_property
    def derived(self) -> dict[tuple[str, str], Derived]:
        """Columns that sum up other rows."""
        return derived_columns(self.tables, self.rows, self.where)

    def clear_cell(self, table: str, column: str, row: Row) -> bool:
        """Whether a question can speak of the value: it says of what it is, and the rows that it sums up agree."""
        found = self.derived.get((table, column))
        return found is None or (found.function != "" and row.get(self.tables[table].primary_key) not in found.disputed)

    def disputed(self, table: str, child: str, via: str, function: str, column: str = "") -> frozenset[Any]:
        """Keys of the rows that have a column with another value for this figure over the rows that refer to them."""
        return self._disputed.get((table, function, child, via, column), frozenset())

    @cached_property
    def _disputed(self) -> dict[tuple[str, str, str, str, str], frozenset[Any]]:
        return {(t, d.function, d.children, d.via, d.column): d.disputed for (t, _), d in self.derived.items()}

    def children(self, table: str) -> list[tuple[Table, ForeignKey]]:
        """Tables that refer to `table`."""
        return [(t, k) for t in self.tables.values() for k in t.foreign_keys if k.table == table]

    def opaque(self, table: str) -> bool:
        """Whether people would not know the key: they call rows of this table by a name that can be searched."""
        found = self.tables[table]
        if found.label is None or found.label == found.primary_key:
            return False
        return any(
            a.operation.column == found.label or found.label in a.filters.values()
            for a in self.of("search", table=table)
        )


def read_action(tables: dict[str, Table], tool: ToolSpec) -> Action | None:
    """None for a tool without a known operation on a known table."""
    operation = tool.operation
    if operation is None or operation.table not in tables:
        return None
    table, rule = tables[operation.table], tool.rule
    key, filters, values = None, {}, dict(rule.sets) if rule else {}
    for argument, target in operation.inputs.items():
        column = own_column(table, operation, target)
        if column is None:
            return None
        if rule and rule.adds:
            continue
        if operation.kind == "create" or (operation.kind == "update" and column != table.primary_key):
            values[argument] = column
        elif (rule or operation.kind in ("get", "update", "delete")) and column == table.primary_key:
            key = argument
        else:
            filters[argument] = column
    if operation.kind in ("get", "update", "delete") and key is None:
        return None
    if rule is None and not set(tool.input_schema.get("required", ())) <= set(operation.inputs):
        return None
    properties = tool.input_schema.get("properties", {})
    paged = {"limit", "offset"} <= set(properties) and not {"limit", "offset"} & set(operation.inputs)
    return Action(tool, operation, table, key, filters, values, paged, rule)


def inside_of(tables: dict[str, Table], action: Action) -> Iterator[Action]:
    """A tool that shows a row with its parts, read as tools that list those parts of a row."""
    if action.kind != "get" or action.key is None:
        return
    by_table: dict[str, dict[str, str]] = {}
    for path, target in action.operation.outputs.items():
        if "[]" in path:
            by_table.setdefault(target.partition(".")[0], {})[path] = target
    for name, outputs in by_table.items():
        key = action.table.primary_key
        links = [k for k in tables[name].foreign_keys if k.table == action.table.name and k.target == key]
        if len(links) == 1:
            inputs = {action.key: f"{action.table.name}.{key}"}
            operation = Operation(kind="related", table=name, inputs=inputs, outputs=outputs)
            yield Action(action.tool, operation, tables[name], filters={action.key: links[0].column}, inside=True)


def own_column(table: Table, operation: Operation, target: str) -> str | None:
    """Column of `table` that an argument standing for `target` restricts or writes."""
    owner, _, column = target.partition(".")
    if owner == table.name:
        return column
    keys = [k.column for k in table.foreign_keys if k.table == owner and k.target == column]
    if operation.kind != "create" and operation.column in keys:
        return operation.column
    return keys[0] if keys else None


def rows_of(database: Path, table: Table) -> list[Row]:
    """All rows of a table, typed as its columns say. Raises `StoreError` that names a missing or damaged file."""
    try:
        return read_rows(database, table).records()
    except (OSError, ValueError, KeyError, sqlite3.Error) as error:
        path = database / table.file
        raise StoreError(
            f"{path} cannot be read as table {table.name} ({error}); mine the environment again."
        ) from error
