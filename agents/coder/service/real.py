"""A tool of the real service, read against the data: its words, its parameters, and the tables they name."""

import builtins
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agent_world.agents.coder.data import Data
from agent_world.agents.coder.mirror import usable
from agent_world.agents.coder.words import many, one
from agent_world.schema import ForeignKey, Table, ToolSpec
from agent_world.tools.tables import singular, snake_case


@dataclass(frozen=True)
class Real:
    """`siblings` are all tools of the service, this one among them. `offered`: no service asked for it, the data
    does."""

    spec: ToolSpec
    siblings: tuple[ToolSpec, ...]
    offered: bool = False

    @property
    def name(self) -> str:
        return self.spec.name

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(snake_case(self.name).split("_"))

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return tuple(singular(word) for word in self.words)

    @property
    def parameters(self) -> dict[str, dict[str, Any]]:
        return dict(self.spec.input_schema.get("properties", {}))

    @cached_property
    def required(self) -> tuple[str, ...]:
        return tuple(name for name in self.parameters if name in self.spec.input_schema.get("required", ()))

    @property
    def left_out(self) -> list[str]:
        """Parameters that can be left out, and so are."""
        return sorted(set(self.parameters) - set(self.required))

    def with_days(self, names: frozenset[str]) -> "Real | None":
        """The same with its optional days as required ones, for no tool has a clock; None where there are none."""
        days = [
            name for name in self.parameters
            if name not in self.required and self.scalar(name)
            and (snake_case(name) in names or snake_case(name).endswith(("_date", "_day", "_on")))
        ]  # fmt: skip
        schema = {**self.spec.input_schema, "required": [*self.required, *days]}
        spec = self.spec.model_copy(update={"input_schema": schema})
        return Real(spec, self.siblings, self.offered) if days else None

    @property
    def writable(self) -> bool:
        """Whether Python code can have its names."""
        names = all(usable(name) for name in self.required)
        return names and usable(self.name) and not hasattr(builtins, self.name)

    def about(self, table: Table) -> bool:
        """Whether its name says what a row of the table is called."""
        noun = tuple(one(table).split("_"))
        return any(self.tokens[i : i + len(noun)] == noun for i in range(len(self.tokens)))

    def scalar(self, name: str) -> bool:
        return self.parameters[name].get("type") in ("string", "integer", "number", "boolean", None)

    def listed(self, name: str) -> bool:
        return bool(self.parameters[name].get("type") == "array")


def keyed(data: Data, parameter: str) -> Table | None:
    """The table whose key the parameter is called by: `order_id` of orders, `payment_method_id` of payment methods."""
    name = snake_case(parameter)
    for table in data.tables:
        key, noun = table.primary_key, one(table)
        if key == name and key not in ("id", "code", "key", "name"):
            return table
        if name in (f"{noun}_{key}", f"{noun}_id") and (key == "id" or name == f"{noun}_{key}"):
            return table
    return None


def owner_key(table: Table) -> ForeignKey | None:
    return next((key for key in table.foreign_keys if key.owner), None)


def parts(data: Data, table: Table) -> list[tuple[Table, ForeignKey]]:
    """Tables whose rows are parts of this one's."""
    return [(t, k) for t in data.tables for k in t.foreign_keys if k.owner and k.table == table.name]


def part_name(table: Table, part: Table) -> str:
    """`order_items` of an order are its `items`."""
    short = part.name.removeprefix(f"{one(table)}_")
    return short if short not in {column.name for column in table.columns} else part.name


def related(data: Data, table: Table, description: str) -> list[tuple[Table, ForeignKey]]:
    """Tables of things of their own that refer to the row and that the real tool says it includes."""
    _, _, said = description.lower().partition("includ")
    return [
        (t, k)
        for t in data.tables
        for k in t.foreign_keys
        if k.table == table.name and not k.owner and many(t).replace("_", " ") in said
    ]
