"""A row with its parts: an order with its items and payments, as a service shows it."""

import random
import re
import textwrap
from dataclasses import dataclass
from typing import Any

from agent_world.agents.coder.cases import Case, checked, unknown
from agent_world.agents.coder.data import Data, Row
from agent_world.agents.coder.draft import UnitTest, WrittenTool
from agent_world.agents.coder.service.real import Real, keyed, part_name, parts, related
from agent_world.agents.coder.words import article, listed, noun, one, own, words
from agent_world.schema import Column, ForeignKey, Operation, Origin, Table, ToolAnnotations, ToolSpec
from agent_world.tools.sql import sql_name

READS = {"get", "lookup", "fetch", "show", "describe", "read", "find", "view", "retrieve"}
Schema = dict[str, Any]
Inner = list[tuple[str, Table, ForeignKey, list[str]]]


@dataclass(frozen=True, slots=True)
class Details:
    """How rows of a table are shown whole. `inner`: name in the output, table, its reference, the columns shown."""

    table: Table
    inner: Inner
    lists: list[tuple[str, Table, ForeignKey]]
    """Name in the output, and the table of which the keys are listed."""

    @property
    def helper(self) -> str:
        return f"_{one(self.table)}_details"

    @property
    def whole(self) -> bool:
        """Whether there is more to show than the row."""
        return bool(self.inner or self.lists)

    @property
    def tables(self) -> list[str]:
        others = [table.name for _, table, *_ in self.inner] + [table.name for _, table, _ in self.lists]
        return list(dict.fromkeys([self.table.name, *others]))


def details_of(data: Data, table: Table, description: str = "") -> Details:
    inner: Inner = []
    for part, key in parts(data, table):
        columns = [c.name for c in part.columns if c.name != key.column]
        inner.append((part_name(table, part), part, key, columns))
    taken = {c.name for c in table.columns} | {name for name, *_ in inner}
    lists = [(t.name, t, k) for t, k in related(data, table, description) if t.name not in taken]
    return Details(table, inner, lists)


def helper_source(details: Details) -> str:
    """For the head of tools.py."""
    table = details.table
    lines = [
        f"def {details.helper}(row):",
        f'    """The {noun(table)}{_with(details)}."""',
        "    whole = dict(row)",
    ]
    for name, part, key, columns in details.inner:
        lines += [
            f'    found = [part for part in _rows("{part.name}") if part["{key.column}"] == row["{key.target}"]]',
            f'    whole["{name}"] = [{{name: part[name] for name in {columns!r}}} for part in found]',
        ]
    for name, other, key in details.lists:
        lines += [
            f'    found = [other for other in _rows("{other.name}") if other["{key.column}"] == row["{key.target}"]]',
            f'    whole["{name}"] = [other["{other.primary_key}"] for other in found]',
        ]
    return "\n".join([*lines, "    return whole"])


def _with(details: Details) -> str:
    names = tuple(f"its {words(name)}" for name in [*(i[0] for i in details.inner), *(i[0] for i in details.lists)])
    return f" with {listed(names)}" if names else ""


def expected(data: Data, details: Details, row: Row) -> Row:
    """The same from SQL."""
    whole = dict(row)
    for name, part, key, columns in details.inner:
        found = data.select(part, f"WHERE {sql_name(key.column)} = ?", row[key.target])
        whole[name] = [{column: p[column] for column in columns} for p in found]
    for name, other, key in details.lists:
        found = data.select(other, f"WHERE {sql_name(key.column)} = ?", row[key.target])
        whole[name] = [o[other.primary_key] for o in found]
    return whole


def output_schema(details: Details) -> Schema:
    properties = {c.name: cell(c) for c in details.table.columns}
    for name, part, _, columns in details.inner:
        properties[name] = {"type": "array", "items": closed({c: cell(part.column(c)) for c in columns})}
    for name, other, _ in details.lists:
        properties[name] = {"type": "array", "items": {"type": other.column(other.primary_key).type}}
    return closed(properties)


def closed(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def cell(column: Column) -> Schema:
    return {"type": [column.type, "null"] if column.nullable else column.type}


# --- The tool ----------------------------------------------------------------------------------------


def plan_details(real: Real, data: Data) -> Details | None:
    """For `get_order_details(order_id)` where an order has parts."""
    if real.words[0] not in READS or len(real.required) != 1 or not real.scalar(real.required[0]):
        return None
    table = keyed(data, real.required[0])
    details = details_of(data, table, real.spec.description) if table else None
    return details if details and details.whole else None


def write_details(real: Real, data: Data, details: Details, seed: int) -> WrittenTool:
    table, argument = details.table, real.required[0]
    key = own(table, table.primary_key)
    text = f"Get {article(noun(table))} by its {key}{_with(details)}. Fails with not_found for an unknown {key}."
    operation = Operation(
        kind="get",
        table=table.name,
        inputs={argument: f"{table.name}.{table.primary_key}"},
        outputs={c.name: f"{table.name}.{c.name}" for c in table.columns} | _inside(details),
    )
    shown = {
        argument: {"type": table.column(table.primary_key).type, "description": f"The {key} of the {noun(table)}."}
    }
    spec = tool_spec(real, text, closed(shown), output_schema(details), operation, reads=True)
    find = f'_find("{table.name}", "{table.primary_key}", {argument}, "{noun(table)}")'
    source = function(real, text, [f"return {details.helper}({find})"], {argument: table.column(table.primary_key)})
    rng = random.Random(f"{seed}:{real.name}:tests")
    return written(real, spec, source, _cases(real, data, details, rng), seed)


def _inside(details: Details) -> dict[str, str]:
    """Output paths of the parts and of the keys that are listed."""
    parts = [(name, part, columns) for name, part, _, columns in details.inner]
    found = {f"{name}[].{c}": f"{part.name}.{c}" for name, part, columns in parts for c in columns}
    return found | {f"{name}[]": f"{other.name}.{other.primary_key}" for name, other, _ in details.lists}


def _cases(real: Real, data: Data, details: Details, rng: random.Random) -> list[Case]:
    table, argument = details.table, real.required[0]
    rows, key = data.rows[table.name], table.primary_key
    chosen = [rng.choice(rows), rows[0], rows[-1]]
    names = ("shows a row with its parts", "shows the first row", "shows the last row")
    found = [
        Case(name, checked(f"tools.{real.name}({argument}={row[key]!r})", expected(data, details, row)))
        for name, row in zip(names, chosen, strict=True)
    ]
    missing = unknown(data.values(table, key), table.column(key))
    found.append(Case("refuses an unknown key", (f'refused("not_found", tools.{real.name}, {argument}={missing!r})',)))
    broken = f"broken({details.tables!r}, tools.{real.name}, {argument}={rows[0][key]!r})"
    return [*found, Case("without its tables is broken", (broken,))]


# --- What all of these share -----------------------------------------------------------------------------

WIDTH = 106
VARIABLE = re.compile(
    r"\$\$(chosen|done|found|held|left|new|new_key|new_rows|other|part|place|present|r|row|rows|state|stocked|value)\b"
)
PYTHON = {"integer": "int", "number": "float", "string": "str", "boolean": "bool"}


def tool_spec(
    real: Real, text: str, inputs: Schema, output: Schema, operation: Operation | None, reads: bool
) -> ToolSpec:
    mirrors = {"agent_world/mirrors": {"tool": real.name, "left_out": real.left_out}}
    meta: dict[str, Any] = {} if real.offered else mirrors
    if operation:
        meta["agent_world/operation"] = operation.model_dump(mode="json")
    return ToolSpec(
        name=real.name, description=text, input_schema=inputs, output_schema=output,
        annotations=ToolAnnotations(read_only=reads), meta=meta,
    )  # fmt: skip


def function(real: Real, text: str, body: list[str], arguments: dict[str, Column]) -> str:
    """`arguments` that are lists have a name that no column has, and so no entry here. In `body`, `$$state` is a
    variable of the written code: it is called `state` there, or `state_` where an argument is called `state`."""
    typed = [f"{name}: {PYTHON[arguments[name].type] if name in arguments else 'list'}" for name in real.required]
    said = textwrap.wrap('"""' + text.replace("\\", "/").replace('"', "'"), WIDTH)
    head = ["@_strict", f"def {real.name}({', '.join(typed)}):"]
    taken = frozenset(real.required)
    code = [VARIABLE.sub(lambda found: _free(found[1], taken), line) for line in body]
    return "\n".join([*head, *(f"    {line}" for line in [*said, '"""', *code])]) + "\n"


def _free(name: str, taken: frozenset[str]) -> str:
    return _free(f"{name}_", taken) if name in taken else name


def written(real: Real, spec: ToolSpec, source: str, cases: list[Case], seed: int) -> WrittenTool:
    tests: tuple[UnitTest, ...] = tuple(case.unit_test(real.name) for case in cases)
    return WrittenTool(spec=spec, source=source, tests=tests, origin=Origin(engine="procedural", seed=seed))
