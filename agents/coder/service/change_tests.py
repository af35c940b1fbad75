"""Unit tests of a business operation: rows that fulfil its conditions are found by SQL, what must come out is computed
from them, and each condition is broken once."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent_world.agents.coder.cases import Case, assigned, checked, unknown
from agent_world.agents.coder.data import Data, Row, cell
from agent_world.agents.coder.service.change import Change, Parts, Reference, Swap
from agent_world.agents.coder.service.condition_tests import (
    allowed_rows,
    bad_states,
    bad_values,
    filled_up,
    fitting_values,
)
from agent_world.agents.coder.service.details import Details, expected
from agent_world.agents.coder.service.real import Real, part_name
from agent_world.schema import Table
from agent_world.tools.sql import sql_name

MOST_PARTS = 2
SAMPLES = 3
Given = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """A call that must succeed: its arguments, and the parts and new rows that they name."""

    row: Row
    given: Given
    chosen: tuple[Row, ...] = ()
    new: tuple[Row, ...] = ()


def change_cases(real: Real, data: Data, change: Change, details: Details, seed: int) -> list[Case]:
    """Empty where no row fulfils the conditions."""
    rng = random.Random(f"{seed}:{real.name}:tests")
    samples = _samples(data, change, rng)
    if not samples:
        return []
    names = ("changes what it says", "changes another row", "changes one more row")
    found = [Case(name, _succeeds(real, data, change, details, s)) for name, s in zip(names, samples, strict=False)]
    for shows, code, bad in _refusals(data, change, samples[0], rng):
        given = samples[0].given | bad
        found.append(Case(shows, (*assigned("given", given), f'refused("{code}", tools.{real.name}, **given)')))
    found += filled_up(data, change, real.name)
    given = samples[0].given
    broken = f"broken({_tables(change, details)!r}, tools.{real.name}, **given)"
    return [*found, Case("without its tables is broken", (*assigned("given", given), broken))]


def _tables(change: Change, details: Details) -> list[str]:
    others = [r.table.name for r in change.references.values()]
    others += [k.table for k in change.table.foreign_keys if k.column in change.sets.values()]
    others += [change.swap.table.name] if change.swap else []
    return list(dict.fromkeys([*details.tables, *others]))


# --- Calls that succeed --------------------------------------------------------------------------------


def _samples(data: Data, change: Change, rng: random.Random) -> list[Sample]:
    rows = allowed_rows(data, change)
    rng.shuffle(rows)
    found: list[Sample] = []
    for row in rows:
        if len(found) == SAMPLES:
            break
        sample = _sample(data, change, row, rng)
        if sample is not None:
            found.append(sample)
    return found


def _sample(data: Data, change: Change, row: Row, rng: random.Random) -> Sample | None:
    given: Given = {change.key: row[change.table.primary_key]}
    given |= {name: options[0] for name, options in change.choices.items()}
    for name in change.sets:
        options = fitting_values(data, change, row, name)
        if not options:
            return None
        given[name] = rng.choice(options)
    if change.sets and change.after is None and all(given[name] == row[c] for name, c in change.sets.items()):
        return None
    for name, reference in change.references.items():
        fit = _fitting(data, reference, row)
        if not fit:
            return None
        given[name] = rng.choice(fit)[reference.table.primary_key]
    return _with_parts(data, change, Sample(row, given), rng)


def _fitting(data: Data, reference: Reference, row: Row) -> list[Row]:
    if reference.shared is None:
        return data.select(reference.table)
    mine, theirs = reference.shared
    return data.select(reference.table, f"WHERE {sql_name(theirs)} = ?", row[mine])


def _with_parts(data: Data, change: Change, sample: Sample, rng: random.Random) -> Sample | None:
    of, swap = change.parts, change.swap
    if of is None:
        return sample
    chosen = _parts(data, of, sample.row)[:MOST_PARTS]
    if not chosen:
        return None
    given = sample.given | {of.argument: [part[of.column] for part in chosen]}
    if swap is None:
        return Sample(sample.row, given, tuple(chosen))
    new = [_new_row(data, of, swap, part, rng) for part in chosen]
    if any(row is None for row in new):
        return None
    rows = tuple(row for row in new if row is not None)
    return Sample(sample.row, given | {swap.argument: [row[swap.target] for row in rows]}, tuple(chosen), rows)


def _parts(data: Data, of: Parts, row: Row) -> list[Row]:
    return data.select(of.table, f"WHERE {sql_name(of.link.column)} = ?", row[of.link.target])


def _new_row(data: Data, of: Parts, swap: Swap, part: Row, rng: random.Random) -> Row | None:
    fit = [row for row in data.select(swap.table) if row[swap.target] != part[of.column]]
    fit = [row for row in fit if not swap.same or row[swap.same[1]] == part[swap.same[0]]]
    fit = [row for row in fit if not swap.flag or row[swap.flag]]
    return rng.choice(fit) if fit else None


def _succeeds(real: Real, data: Data, change: Change, details: Details, sample: Sample) -> tuple[str, ...]:
    parts_after = dict(_parts_after(data, change, sample))
    table, row = change.table, sample.row
    after = row | {column: sample.given[name] for name, column in change.sets.items()}
    after |= {change.status: change.after} if change.after is not None and change.status else {}
    whole = expected(data, details, row) | after
    changes: dict[str, Row] = {}
    for (name, key), (part, new) in parts_after.items():
        shown = part_name(table, part)
        whole[shown] = [{**p, **{c: v for c, v in new.items() if c in p}} if p[part.primary_key] == key else p
                        for p in whole[shown]]  # fmt: skip
        changes[f"{name}/{key}"] = {c: cell(part, c, v) for c, v in new.items()}
    own = {c: cell(table, c, v) for c, v in after.items() if v != row[c]}
    changes |= {f"{table.name}/{row[table.primary_key]}": own} if own else {}
    got = checked(f"tools.{real.name}(**given)", whole)
    return (*assigned("given", sample.given), "before = stored()", *got, *checked("changes(before)", changes))


def _parts_after(data: Data, change: Change, sample: Sample) -> Iterator[tuple[tuple[str, Any], tuple[Table, Row]]]:
    """The cells of parts that become others."""
    of, swap, spread = change.parts, change.swap, change.spread
    if of and swap and swap.done:
        for part, row in zip(sample.chosen, sample.new, strict=True):
            new = {of.column: row[swap.target], **{c: row[c] for c in swap.copies}}
            differing = {c: v for c, v in new.items() if part[c] != v}
            yield (of.table.name, part[of.table.primary_key]), (of.table, differing)
    if spread:
        value = sample.given[spread.argument]
        own = sql_name(spread.link.column)
        for part in data.select(spread.table, f"WHERE {own} = ?", sample.row[spread.link.target]):
            if part[spread.column] != value:
                yield (spread.table.name, part[spread.table.primary_key]), (spread.table, {spread.column: value})


# --- Calls that are refused ------------------------------------------------------------------------------


def _refusals(data: Data, change: Change, sample: Sample, rng: random.Random) -> Iterator[tuple[str, str, Given]]:
    table, key = change.table, change.table.primary_key
    yield "refuses an unknown key", "not_found", {change.key: unknown(data.values(table, key), table.column(key))}
    yield from bad_states(data, change)
    yield from bad_values(data, change, sample.row)
    for name in change.choices:
        yield f"refuses an unknown {name}", "invalid_value", {name: "for no reason at all"}
    for name, column in change.sets.items():
        if name not in change.may_be_empty:
            kind = table.column(column).type
            yield f"refuses a wrong type of {name}", "invalid_value", {name: 7 if kind == "string" else "many"}
        link = next((k for k in table.foreign_keys if k.column == column), None)
        if link:
            parent = data.table(link.table)
            missing = unknown(data.values(parent, link.target), parent.column(link.target))
            yield f"refuses an unknown {name}", "not_found", {name: missing}
    for name, reference in change.references.items():
        other = reference.table
        missing = unknown(data.values(other, other.primary_key), other.column(other.primary_key))
        yield f"refuses an unknown {name}", "not_found", {name: missing}
        foreign = _foreign(data, reference, sample.row)
        if foreign is not None:
            yield f"refuses {name} of another", "not_allowed", {name: foreign[other.primary_key]}
    if change.parts:
        yield from _bad_parts(data, change, change.parts, sample, rng)


def _foreign(data: Data, reference: Reference, row: Row) -> Row | None:
    if reference.shared is None:
        return None
    mine, theirs = reference.shared
    return next(iter(data.select(reference.table, f"WHERE {sql_name(theirs)} != ?", row[mine])), None)


def _bad_parts(
    data: Data, change: Change, of: Parts, sample: Sample, rng: random.Random
) -> Iterator[tuple[str, str, Given]]:
    named = sample.given[of.argument]
    missing = unknown(data.values(of.table, of.column), of.table.column(of.column))
    new = {change.swap.argument: sample.given[change.swap.argument][:1]} if change.swap else {}
    yield "refuses a part that it does not have", "not_found", {of.argument: [missing], **new}
    yield "refuses parts of which it lacks one", "not_found", {of.argument: [missing, *named[1:]]}
    yield "refuses what is no list", "invalid_value", {of.argument: "none"}
    yield "refuses no part", "invalid_value", {of.argument: []}
    if len(_parts(data, of, sample.row)) < 20:
        yield "refuses a part too often", "not_found", {of.argument: [named[0]] * 20}
    swap = change.swap
    if swap is None:
        return
    news = sample.given[swap.argument]
    yield "refuses lists of different length", "invalid_value", {swap.argument: [*news, news[0]]}
    rows = data.select(swap.table)
    if swap.same:
        mine, theirs = swap.same
        other = next((row for row in rows if row[theirs] != sample.chosen[0][mine]), None)
        if other:
            yield "refuses another kind", "not_allowed", {swap.argument: [other[swap.target], *news[1:]]}
    gone = next((row for row in rows if swap.flag and not row[swap.flag] and _alike(swap, row, sample)), None)
    if gone:
        yield f"refuses what is not {swap.flag}", "not_available", {swap.argument: [gone[swap.target], *news[1:]]}


def _alike(swap: Swap, row: Row, sample: Sample) -> bool:
    return not swap.same or row[swap.same[1]] == sample.chosen[0][swap.same[0]]
