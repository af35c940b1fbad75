"""An operation that takes a row on, as code: every check comes before the row is written."""

from agent_world.agents.coder.data import Data
from agent_world.agents.coder.draft import WrittenTool
from agent_world.agents.coder.service.conditions import (
    dated,
    day_words,
    earlier,
    fuller,
    parent_noun,
    said_of_limit,
    said_of_order,
    shown_state,
)
from agent_world.agents.coder.service.details import PYTHON, Schema, cell, closed, function, tool_spec, written
from agent_world.agents.coder.service.place import Place
from agent_world.agents.coder.service.place_tests import place_cases
from agent_world.agents.coder.service.real import Real
from agent_world.agents.coder.service.rule import rule_of_new
from agent_world.agents.coder.spec import choices, least
from agent_world.agents.coder.words import article, its, listed, noun, own, words
from agent_world.schema import Operation

Lines = list[str]


def write_place(real: Real, data: Data, place: Place, seed: int) -> WrittenTool | None:
    """None where nothing can be taken on, so that it could not be tested."""
    cases = place_cases(real, data, place, seed)
    if not cases:
        return None
    table, text = place.table, describe(real, place)
    operation = Operation(
        kind="custom", table=table.name, function="place",
        inputs={name: _stands_for(place, column) for name, column in place.sets.items()},
        outputs={c.name: f"{table.name}.{c.name}" for c in table.columns},
    )  # fmt: skip
    output = closed({c.name: cell(c) for c in table.columns})
    spec = tool_spec(real, text, closed(_inputs(real, data, place)), output, operation, reads=False)
    rule = rule_of_new(place).model_dump(mode="json", exclude_defaults=True)
    spec = spec.model_copy(update={"meta": {**spec.meta, "agent_world/rule": rule}})
    columns = {name: table.column(column) for name, column in place.sets.items()}
    return written(real, spec, function(real, text, _body(data, place), columns), cases, seed)


def _stands_for(place: Place, column: str) -> str:
    link = next((k for k in place.table.foreign_keys if k.column == column), None)
    return f"{link.table}.{link.target}" if link else f"{place.table.name}.{column}"


def describe(real: Real, place: Place) -> str:
    table, one = place.table, noun(place.table)
    said = [f"{real.words[0].capitalize()} {article(one)}."]
    if place.prefix is not None:
        said.append(f"It gets the next {own(table, table.primary_key)}.")
    values = {name: value for name, value in place.fixed.items() if value is not None}
    starts = [f"{words(name)} {shown_state(value)}" for name, value in values.items()]
    if starts:
        said.append(f"It starts as {listed(tuple(starts))}.")
    links = {k.column: k for k in table.foreign_keys if k.column in place.sets.values()}
    for name, flag in place.flags.items():
        said.append(f"Fails with not_available where the {parent_noun(links[place.sets[name]])} is not {words(flag)}.")
    if place.draw:
        said.append(f"The {words(place.draw.quantity)} is taken from the {words(place.draw.column)} of the "
                    f"{parent_noun(place.draw.link)}; fails with not_available where it is more.")  # fmt: skip
    said += [*said_of_order(place.ordered), *said_of_limit(table, place.limit)]
    missing = listed(tuple(dict.fromkeys(f"the {parent_noun(k)}" for k in links.values()))).replace(" and ", " or ")
    return " ".join([*said, f"Fails with not_found where {missing} does not exist.", f"Returns the {one}."])


def _inputs(real: Real, data: Data, place: Place) -> dict[str, Schema]:
    found: dict[str, Schema] = {}
    for name in real.required:
        column, said = place.sets[name], " ".join(str(real.parameters[name].get("description", "")).split())
        text = said or (f"The {day_words(column)}." if name in place.dates else its(place.table, column))
        if name in place.dates:
            day = "" if "YYYY" in text else ", as YYYY-MM-DD"
            found[name] = {"type": "string", "format": "date", "description": f"{text.rstrip('.')}{day}."}
            continue
        found[name] = {"type": place.table.column(column).type, "description": text, **_limits(data, place, column)}
    return found


def _limits(data: Data, place: Place, name: str) -> Schema:
    table, column = place.table, place.table.column(name)
    if any(key.column == name for key in table.foreign_keys):
        return {}
    if place.draw and place.sets[place.draw.quantity] == name:
        return {"minimum": 1}
    if choices(column):
        return {"enum": list(choices(column))}
    if least(data, table, column) is not None:
        return {"minimum": 0}
    return {"minLength": 1} if column.type == "string" else {}


# --- Code ------------------------------------------------------------------------------------------------


def _body(data: Data, place: Place) -> Lines:
    table = place.table
    lines = [line for name, column in place.sets.items() for line in _value(data, place, name, column)]
    lines += _enough(place)
    lines += earlier(place.ordered, {column: name for name, column in place.sets.items()})
    lines.append(f'$$rows = _rows("{table.name}")')
    for name in place.unique:
        said = f"There is already a {noun(table)} {{{name}!r}}."
        lines += [
            f'if any($$r["{place.sets[name]}"] == {name} for $$r in $$rows):',
            f'    raise ToolError("already_exists", f"{said}")',
        ]
    own = {column: name for name, column in place.sets.items()}
    if place.prefix is not None:
        lines.append(_new_key(place))
    cells = [(c.name, own.get(c.name) or _code(place, c.name)) for c in table.columns]
    lines += ["$$new = {", *(f'    "{name}": {code},' for name, code in cells), "}"]
    return [*lines, f'_insert("{table.name}", $$new)', *_taken(place), "return $$new"]


def _code(place: Place, column: str) -> str:
    return "$$new_key" if column == place.table.primary_key else repr(place.fixed[column])


def _available(place: Place, name: str, of: str, row: str) -> Lines:
    """Refusal of what cannot be had."""
    flag = place.flags.get(name)
    said = f"The {of} {{{name}!r}} is not {words(flag or '')}."
    return [f'if not {row}["{flag}"]:', f'    raise ToolError("not_available", f"{said}")'] if flag else []


def _enough(place: Place) -> Lines:
    """Refusal of more than there is."""
    draw = place.draw
    if draw is None:
        return []
    left = f"{{$$stocked['{draw.column}']}}"
    said = f"There are {left} left of the {parent_noun(draw.link)} {{{draw.argument}!r}}, not {{{draw.quantity}}}."
    return [
        f'if {draw.quantity} > $$stocked["{draw.column}"]:',
        f'    raise ToolError("not_available", f"{said}")',
    ]


def _taken(place: Place) -> Lines:
    draw = place.draw
    if draw is None:
        return []
    less = f'$$stocked["{draw.column}"] - {draw.quantity}'
    key = f'$$stocked["{draw.key}"]'
    return [f'_set("{draw.link.table}", [{key}], "{draw.column}", {less})']


def _new_key(place: Place) -> str:
    key = place.table.primary_key
    if not place.prefix:
        return f'$$new_key = max(($$r["{key}"] for $$r in $$rows), default=0) + 1'
    number = f'max((int($$r["{key}"][{len(place.prefix)}:]) for $$r in $$rows), default=0) + 1'
    return f'$$new_key = f"{place.prefix}{{{number}:0{place.width}d}}"'.replace('r["', "r['").replace('"][', "'][")


def _value(data: Data, place: Place, name: str, column: str) -> Lines:
    table, kind = place.table, place.table.column(column)
    if name in place.dates:
        return [dated(name)]
    link = next((k for k in table.foreign_keys if k.column == column), None)
    if link:
        limited = fuller(table, place.limit) if place.limit and place.limit.argument == name else []
        drawn = place.draw is not None and place.draw.argument == name
        limited = ["$$other = $$stocked", *limited] if drawn and limited else limited
        conditions = [*_available(place, name, parent_noun(link), "$$stocked" if drawn else "$$other"), *limited]
        kept = "$$stocked = " if drawn else "$$other = " if conditions else ""
        checked = f'{name} = _checked("{name}", {name}, {PYTHON[kind.type]})'
        return [checked, f'{kept}_find("{link.table}", "{link.target}", {name}, "{parent_noun(link)}")', *conditions]
    parts = [f'"{name}"', name, PYTHON[kind.type]]
    if place.draw and place.draw.quantity == name:
        return [f"{name} = _checked({', '.join(parts)}, least=1)"]
    parts += ["least=0"] if least(data, table, kind) is not None else []
    parts += [f"choices={list(choices(kind))!r}"] if choices(kind) else []
    return [f"{name} = _checked({', '.join(parts)})"]
