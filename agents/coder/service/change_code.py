"""A business operation as code: every check comes before the first write, so that a refusal changes nothing."""

from agent_world.agents.coder.data import Data
from agent_world.agents.coder.draft import WrittenTool
from agent_world.agents.coder.service.change import Change, Parts, Swap
from agent_world.agents.coder.service.change_tests import change_cases
from agent_world.agents.coder.service.conditions import (
    changed,
    dated,
    day_words,
    earlier,
    fuller,
    parent_noun,
    said_of,
    shown_state,
    state_lines,
)
from agent_world.agents.coder.service.details import (
    PYTHON,
    Details,
    Schema,
    closed,
    function,
    output_schema,
    tool_spec,
    written,
)
from agent_world.agents.coder.service.real import Real
from agent_world.agents.coder.service.rule import rule_of
from agent_world.agents.coder.words import article, listed, noun, nouns, own, role, words
from agent_world.schema import Operation, Table

Lines = list[str]


def write_change(real: Real, data: Data, change: Change, details: Details, seed: int) -> WrittenTool | None:
    """None where no row of the data fulfils its conditions, so that it could not be tested."""
    cases = change_cases(real, data, change, details, seed)
    if not cases:
        return None
    table, text = change.table, describe(real, change)
    operation = Operation(
        kind="custom", table=table.name, column=change.status if change.after is not None else None, function="change",
        inputs={change.key: f"{table.name}.{table.primary_key}"},
        outputs={c.name: f"{table.name}.{c.name}" for c in table.columns},
    )  # fmt: skip
    spec = tool_spec(real, text, closed(_inputs(real, change)), output_schema(details), operation, reads=False)
    spec = spec.model_copy(
        update={
            "meta": {**spec.meta, "agent_world/rule": rule_of(change).model_dump(mode="json", exclude_defaults=True)}
        }
    )
    columns = {name: table.column(column) for name, column in change.sets.items()}
    columns |= {name: r.table.column(r.table.primary_key) for name, r in change.references.items()}
    columns |= {change.key: table.column(table.primary_key)}
    columns |= dict.fromkeys(change.choices, table.column(change.status or table.primary_key))
    return written(real, spec, function(real, text, _body(change, details), columns), cases, seed)


# --- Words ---------------------------------------------------------------------------------------------


def describe(real: Real, change: Change) -> str:
    """In our own words: only what it does here."""
    one, verb = noun(change.table), real.words[0]
    moved = f" to another {words(role(next(iter(change.sets.values()))))}" if change.differ else ""
    said = [f"{verb.capitalize()} {_what(change)}{moved}, by its {own(change.table, change.table.primary_key)}."]
    said += said_of(change)
    said += _conditions(change)
    if isinstance(change.after, str):
        said.append(f"Its {words(change.status or '')} becomes {shown_state(change.after)}.")
    kept = [words(name) for name in (*change.choices, *_unkept(change))]
    if kept:
        said.append(f"The {listed(tuple(kept))} {'is' if len(kept) == 1 else 'are'} checked, not stored.")
    return " ".join([*said, f"Returns the {one} as it is then."])


def _what(change: Change) -> str:
    one = article(noun(change.table))
    if change.parts:
        return f"{nouns(change.parts.table)} of {one}"
    if change.spread:
        return f"the {words(change.spread.column)} of all {nouns(change.spread.table)} of {one}"
    if change.sets and change.after is None and not change.conditional:
        return f"the {listed(tuple(words(c) for c in change.sets.values()))} of {one}"
    return one


def _conditions(change: Change) -> Lines:
    said = []
    for name, reference in change.references.items():
        if reference.shared:
            said.append(f"The {words(name)} must belong to the same {words(reference.shared[0])}.")
    if change.swap:
        new = f"The new {nouns(change.swap.table)} stand in the same order"
        same = f", of the same {words(change.swap.same[0])} each" if change.swap.same else ""
        flag = f", and must be {words(change.swap.flag)}" if change.swap.flag else ""
        said.append(f"{new}{same}{flag}.")
    return said


def _unkept(change: Change) -> Lines:
    """List arguments and references that only matter for the checks."""
    found = [name for name in change.references if not (change.spread and change.spread.argument == name)]
    if change.parts and not (change.swap and change.swap.done):
        found.append(change.parts.argument)
        found += [change.swap.argument] if change.swap else []
    return found


def _inputs(real: Real, change: Change) -> dict[str, Schema]:
    found: dict[str, Schema] = {}
    for name in real.required:
        said = " ".join(str(real.parameters[name].get("description", "")).split())
        said = said or f"The {_called(change, name)}."
        day = ", as YYYY-MM-DD" if name in change.dates and "YYYY" not in said else ""
        found[name] = {**_kind(change, name), "description": f"{said.rstrip('.')}{day}." if day else said}
    return found


def _called(change: Change, name: str) -> str:
    if name in change.differ or name in change.later:
        return f"new {day_words(change.sets[name]) if name in change.dates else words(change.sets[name])}"
    if name == change.key:
        return f"{own(change.table, change.table.primary_key)} of the {noun(change.table)}"
    return day_words(change.sets[name]) if name in change.dates else words(name)


def _kind(change: Change, name: str) -> Schema:
    table = change.table
    if name == change.key:
        return {"type": table.column(table.primary_key).type}
    if name in change.choices:
        return {"type": "string", "enum": list(change.choices[name])}
    if name in change.references:
        other = change.references[name].table
        return {"type": other.column(other.primary_key).type}
    if name in change.dates:
        return {"type": "string", "format": "date"}
    if name in change.sets:
        column = table.column(change.sets[name])
        filled = column.type == "string" and name not in change.may_be_empty
        return {"type": column.type} | ({"minLength": 1} if filled else {})
    of = change.parts
    assert of is not None
    return {"type": "array", "items": {"type": of.table.column(of.column).type}, "minItems": 1}


# --- Code ----------------------------------------------------------------------------------------------


def _body(change: Change, details: Details) -> Lines:
    find = _find(change.table, change.key)
    lines = [f"$$row = {find}"]
    if details.whole:
        lines.append(f"{details.helper}($$row)  # every table that is needed can be read, before any is written")
    lines += state_lines(change)
    for name, options in change.choices.items():
        lines.append(f'_checked("{name}", {name}, str, choices={list(options)!r})')
    lines += _values(change)
    lines += _references(change)
    lines += _chosen(change, change.parts) if change.parts else []
    lines += _new_rows(change.parts, change.swap) if change.parts and change.swap else []
    return [*lines, *_writes(change), f"return {details.helper}({find})" if details.whole else f"return {find}"]


def _find(table: Table, argument: str) -> str:
    return f'_find("{table.name}", "{table.primary_key}", {argument}, "{noun(table)}")'


def _values(change: Change) -> Lines:
    lines: Lines = []
    for name, column in change.sets.items():
        kind = PYTHON[change.table.column(column).type]
        if name in change.may_be_empty:
            lines += [
                f"if type({name}) is not str:",
                f'    raise ToolError("invalid_value", "{name} must be of type str.")',
            ]
        else:
            lines.append(dated(name) if name in change.dates else f'{name} = _checked("{name}", {name}, {kind})')
        link = next((k for k in change.table.foreign_keys if k.column == column), None)
        if link:
            limited = "$$other = " if change.limit and change.limit.argument == name else ""
            lines.append(f'{limited}_find("{link.table}", "{link.target}", {name}, "{parent_noun(link)}")')
    return [*lines, *changed(change), *earlier(change.ordered, _sources(change)), *fuller(change.table, change.limit)]


def _sources(change: Change) -> dict[str, str]:
    """Column -> the code that gives its new value."""
    return {column: argument for argument, column in change.sets.items()}


def _references(change: Change) -> Lines:
    lines: Lines = []
    for name, reference in change.references.items():
        lines.append(f"$$other = {_find(reference.table, name)}")
        if reference.shared:
            mine, theirs = reference.shared
            said = f"The {noun(reference.table)} {{{name}!r}} belongs to another {words(mine)}."
            lines += [
                f'if $$other["{theirs}"] != $$row["{mine}"]:',
                f'    raise ToolError("not_allowed", f"{said}")',
            ]
    return lines


def _chosen(change: Change, of: Parts) -> Lines:
    one = noun(change.table)
    return [
        f'if not _checked("{of.argument}", {of.argument}, list):',
        f'    raise ToolError("invalid_value", "{of.argument} must name at least one.")',
        f'$$left = [$$part for $$part in _rows("{of.table.name}") '
        f'if $$part["{of.link.column}"] == $$row["{of.link.target}"]]',
        "$$chosen = []",
        f"for $$value in {of.argument}:",
        f'    $$part = next(($$part for $$part in $$left if $$part["{of.column}"] == $$value), None)',
        "    if $$part is None:",
        f'        raise ToolError("not_found", f"The {one} has no (further) {words(of.column)} {{$$value!r}}.")',
        "    $$left.remove($$part)",
        "    $$chosen.append($$part)",
    ]


def _new_rows(of: Parts, swap: Swap) -> Lines:
    lines = [
        f'if len(_checked("{swap.argument}", {swap.argument}, list)) != len($$chosen):',
        f'    raise ToolError("invalid_value", "{swap.argument} must have as many entries as {of.argument}.")',
        f'$$new_rows = [_find("{swap.table.name}", "{swap.target}", $$value, "{noun(swap.table)}") '
        f"for $$value in {swap.argument}]",
        "for $$place, $$new in enumerate($$new_rows):",
    ]
    value = f"{{$$new['{swap.target}']!r}}"
    if swap.same:
        mine, theirs = swap.same
        lines += [
            f'    if $$new["{theirs}"] != $$chosen[$$place]["{mine}"]:',
            f'        raise ToolError("not_allowed", f"The {noun(swap.table)} {value} is of another {words(theirs)}.")',
        ]
    if swap.flag:
        lines += [
            f'    if not $$new["{swap.flag}"]:',
            f'        raise ToolError("not_available", f"The {noun(swap.table)} {value} is not {words(swap.flag)}.")',
        ]
    return lines if len(lines) > 4 else lines[:-1]


def _writes(change: Change) -> Lines:
    lines: Lines = []
    of, swap, spread = change.parts, change.swap, change.spread
    if of and swap and swap.done:
        key = f'[$$chosen[$$place]["{of.table.primary_key}"]]'
        lines.append("for $$place, $$new in enumerate($$new_rows):")
        pairs = [(of.column, swap.target), *((column, column) for column in swap.copies)]
        lines += [f'    _set("{of.table.name}", {key}, "{mine}", $$new["{theirs}"])' for mine, theirs in pairs]
    if spread:
        test = f'$$part["{spread.link.column}"] == $$row["{spread.link.target}"]'
        key = spread.table.primary_key
        lines += [
            f'$$found = [$$part["{key}"] for $$part in _rows("{spread.table.name}") if {test}]',
            f'_set("{spread.table.name}", $$found, "{spread.column}", {spread.argument})',
        ]
    lines += [f'_set("{change.table.name}", [{change.key}], "{c}", {name})' for name, c in change.sets.items()]
    if change.after is not None:
        lines.append(f'_set("{change.table.name}", [{change.key}], "{change.status}", {change.after!r})')
    return lines
