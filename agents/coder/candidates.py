"""Every tool that a database supports: by key, by text, by group, in numbers, across tables, and writing."""

import re
from collections import Counter
from collections.abc import Iterator

from agent_world.agents.coder.data import Data
from agent_world.agents.coder.design import KINDS, LAST, Design, link_of, numbered_key
from agent_world.agents.coder.words import argument_name, is_summary, key_name, many, one, role
from agent_world.schema import Column, Table

LEAST_FREE = 3
"""Rows that can be deleted for a tool that deletes to be worth having."""
PREFIX = {"mean": "average", "sum": "total", "max": "highest", "min": "lowest"}

NOT_MEASURED = re.compile(
    r"(^|_)(id|code|key|number|no|nr|rank|index|zip|postcode|phone|lat|latitude|lon|long|lng|longitude|"
    r"place|month|day|hour|minute|second)($|_)"
)
NOT_SUMMED = re.compile(
    r"(^|_)(year|rating|score|rate|percent|pct|share|age|temp|temperature|price|mean|average|avg|median|per|ratio|"
    r"depth|magnitude|mag|level|speed|pressure|density)($|_)"
)
CHANGING = re.compile(
    r"(^|_)(status|state|level|stock|copies|quantity|count|seats|capacity|price|cost|fee|fine|salary|grade|class|stage|"
    r"rating|score|available|active|open|delay|plan|category|priority|owner|manager|assigned)($|_)"
)
"""Names of what changes in the life of a thing, as its genre or its year of birth does not."""
DERIVED = re.compile(r"(^|_)(count|total|average|mean|median|lowest|highest|largest|smallest|pair)($|_)")
"""Names of what follows from other rows, so that nobody sets it."""
DATED = re.compile(r"[\d\W_TZ]*")


def candidates(data: Data) -> list[Design]:
    """Every tool that the data supports, by table and kind, the most useful of each first."""
    found: list[Design] = []
    for table in data.tables:
        if data.rows[table.name]:
            found += sorted(_of_table(data, table), key=lambda d: (KINDS.index(d.kind), -d.quality))
    return found


def _of_table(data: Data, table: Table) -> Iterator[Design]:
    key = {"key": key_name(table, table.primary_key)}
    yield Design("get", table, f"get_{one(table)}", arguments=key)
    yield from _searches(data, table)
    yield from _filtered(data, table)
    yield from _numbers(data, table)
    yield from _joins(data, table, key)
    if not is_summary(table):
        yield from _writes(data, table, key)


def _searches(data: Data, table: Table) -> Iterator[Design]:
    query = {"query": "query"}
    texts = [c.name for c in table.columns if c.name != table.label and searchable(data, table, c)]
    if table.label:
        yield Design("search", table, f"search_{many(table)}", column=table.label, arguments=query, quality=2)
    for number, column in enumerate(texts):
        first = not table.label and number == 0
        name = f"search_{many(table)}" if first else f"search_{many(table)}_by_{role(column)}"
        yield Design("search", table, name, column=column, arguments=query, quality=1 if first else -number)


def searchable(data: Data, table: Table, column: Column) -> bool:
    """Free text: neither key nor category, nor dates and codes."""
    values = [v for v in data.values(table, column.name) if v is not None]
    if column.type != "string" or column.values or column.name == table.primary_key or link_of(table, column.name):
        return False
    words = [v for v in values if len(v) >= 4 and not DATED.fullmatch(v)]
    return bool(values) and len(words) >= 0.8 * len(values)


def _filtered(data: Data, table: Table) -> Iterator[Design]:
    for link in table.foreign_keys:
        argument = {"by": argument_name(table, link.column)}
        related = f"list_{many(table)}_by_{role(link.column)}"
        yield Design("related", table, related, column=link.column, by=link.column, link=link, arguments=argument)
        name = f"count_{many(table)}_by_{role(link.column)}"
        yield Design("count", table, name, column=link.column, by=link.column, link=link, arguments=argument, quality=1)
    for number, column in enumerate(categories(data, table)):
        argument = {"by": argument_name(table, column)}
        by = role(column)
        quality = -number
        yield Design(
            "list", table, f"list_{many(table)}_by_{by}", column=column, by=column, arguments=argument, quality=quality
        )
        yield Design(
            "count",
            table,
            f"count_{many(table)}_by_{by}",
            column=column,
            by=column,
            arguments=argument,
            quality=quality,
        )
    yield Design("list", table, f"list_{many(table)}", quality=LAST)


def categories(data: Data, table: Table) -> list[str]:
    """Columns with a few values, those that divide the rows best first."""
    found = []
    for column in table.columns:
        values = [v for v in data.values(table, column.name) if v is not None]
        few = column.type == "boolean" or column.values
        own = column.name not in (table.primary_key, table.label) and link_of(table, column.name) is None
        if few and own and len(set(values)) > 1:
            largest = max(Counter(values).values()) / len(values)
            found.append((abs(largest - 0.3) + 0.3 * (column.type == "boolean"), column.name))
    return [name for _, name in sorted(found, key=lambda pair: pair[0])]


def measures(data: Data, table: Table) -> list[str]:
    """Numeric columns that say how much of something a row has; years come last."""
    found = [
        c.name
        for c in table.columns
        if c.type in ("integer", "number")
        and c.name not in (table.primary_key, one(table))
        and link_of(table, c.name) is None
        and not NOT_MEASURED.search(c.name)
        and len({v for v in data.values(table, c.name) if v is not None}) >= 3
    ]
    return sorted(found, key=lambda name: "year" in name.split("_"))


def _numbers(data: Data, table: Table) -> Iterator[Design]:
    groups = [*categories(data, table), *(k.column for k in table.foreign_keys)]
    by = groups[0] if groups else None
    arguments = {"by": argument_name(table, by)} if by else {}
    functions: tuple[str, ...] = ("mean", "max", "sum", "min")
    for number, column in enumerate(measures(data, table)):
        link = link_of(table, by)
        for place, function in enumerate(_turned(functions, number)):
            if function in ("sum", "mean") and (not _adds_up(data, table, column, function)):
                continue
            yield Design(
                "aggregate", table, f"{PREFIX[function]}_{many(table)}_{column}", column=column, by=by,
                function=function, link=link, arguments=arguments, quality=-number - 3 * place,
            )  # fmt: skip
        yield Design(
            "top", table, f"top_{many(table)}_by_{column}", column=column, by=by, link=link, arguments=arguments,
            quality=-number,
        )  # fmt: skip


def _turned(items: tuple[str, ...], by: int) -> tuple[str, ...]:
    by %= len(items)
    return items[by:] + items[:by]


def _adds_up(data: Data, table: Table, column: str, function: str) -> bool:
    """Whether a sum (or mean) means something: no years, no sums of ratings or of signed numbers."""
    if function == "mean":
        return "year" not in column.split("_")
    values = [v for v in data.values(table, column) if v is not None]
    return not NOT_SUMMED.search(column) and min(values) >= 0


def _joins(data: Data, table: Table, key: dict[str, str]) -> Iterator[Design]:
    for number, link in enumerate(table.foreign_keys):
        parent = data.table(link.table)
        if parent.label and parent.label != link.target:
            name = f"get_{one(table)}_with_{role(link.column)}"
            yield Design("joined", table, name, column=parent.label, link=link, arguments=key, quality=-number)


# --- Writing -----------------------------------------------------------------------------------------


def _writes(data: Data, table: Table, key: dict[str, str]) -> Iterator[Design]:
    parents, children = len(table.foreign_keys), len(data.children(table))
    for column, quality in _changeable(data, table):
        arguments = key | {"value": argument_name(table, column)}
        link = link_of(table, column)
        name = f"update_{one(table)}_{role(column) if link else column}"
        yield Design("update", table, name, column=column, link=link, arguments=arguments, quality=quality)
    new = {f"new:{c.name}": argument_name(table, c.name) for c in table.columns if c.name != numbered_key(table)}
    if not link_of(table, table.primary_key):
        yield Design("create", table, f"create_{one(table)}", arguments=new, quality=min(parents, 2) - len(new) // 7)
    if _free(data, table) >= LEAST_FREE:
        yield Design("delete", table, f"delete_{one(table)}", arguments=key, quality=parents - 2 * children)
    for number, link in enumerate(table.foreign_keys):
        if max(Counter(v for v in data.values(table, link.column) if v is not None).values(), default=0) > 1:
            name = key_name(data.table(link.table), link.target)
            ends = {"from": f"from_{name}", "to": f"to_{name}"}
            title = f"reassign_{many(table)}_{role(link.column)}"
            yield Design("reassign", table, title, column=link.column, link=link, arguments=ends, quality=-number)


def _free(data: Data, table: Table) -> int:
    """Rows that nothing refers to: only these can be deleted."""
    used = [(target, set(data.values(child, column))) for child, column, target in data.children(table)]
    return sum(not any(row[target] in values for target, values in used) for row in data.rows[table.name])


def _changeable(data: Data, table: Table) -> Iterator[tuple[str, int]]:
    """Columns whose value may sensibly change, and how sensible that is."""
    few = set(categories(data, table))
    for column in table.columns:
        derived = DERIVED.search(column.name) or column.name in {t.name for t in data.tables}
        if column.name in (table.primary_key, table.label) or column.unique or derived:
            continue
        kind = 2 * bool(CHANGING.search(column.name))
        if link_of(table, column.name) or column.name in few:
            yield column.name, kind + 1
        elif column.type in ("integer", "number") and NOT_MEASURED.search(column.name) is None:
            yield column.name, kind + (column.type == "integer") - 2 * ("year" in column.name)
        elif column.type in ("boolean", "string"):
            yield column.name, kind + 2 if column.type == "boolean" else -2
