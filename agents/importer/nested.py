"""Nested records made into flat tables: parts become columns, objects inside become rows of tables of their own.

A table here has every record of its kind, in the source's order. A record inside another one gets a column that says
which; text forms are used only where a row has no key that other rows could refer to.
"""

import json
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from agent_world.agents.importer.cells import Cells, cells_of, key_of
from agent_world.agents.importer.read import Collection, Fields, keyed_records
from agent_world.agents.importer.report import How, Placed
from agent_world.agents.importer.shape import Form, as_text, form_of, key_field
from agent_world.schema import ColumnType, Json
from agent_world.tools.tables import singular, snake_case

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Owner:
    """The row that records lie inside: its table, its key column, and the key for each record."""

    table: str
    key: str
    values: list[Json]


@dataclass(slots=True)
class FlatTable:
    name: str
    columns: dict[str, Cells]
    key: str
    file: str
    owner: str | None = None
    """Column that says of which row of `owner_table` each row is a part."""
    owner_table: str = ""
    owner_key: str = ""
    listing: bool = False
    """A linking table: what it holds beside the owner is one value a row."""

    @property
    def size(self) -> int:
        return len(self.columns[self.key].values)


@dataclass(slots=True)
class Flattened:
    tables: list[FlatTable] = field(default_factory=list)
    placed: list[Placed] = field(default_factory=list)

    def note(self, path: str, found: int, how: How, table: str = "", rows: int = 0, note: str = "") -> None:
        self.placed.append(Placed(path=path, found=found, how=how, table=table, rows=rows, note=note))

    def free_name(self, wanted: str, owner: str = "") -> str:
        """A table name that is not taken; a table inside another one may have that one's name in front."""
        taken = {table.name for table in self.tables}
        options = [wanted, *([f"{singular(owner)}_{wanted}"] if owner else [])]
        options += [f"{wanted}_{number}" for number in range(2, len(taken) + 3)]
        return next(name for name in options if name not in taken)


def flatten(collections: Sequence[Collection]) -> Flattened:
    """Every collection and all that is inside it."""
    done = Flattened()
    for found in collections:
        _place(done, found, None)
    return done


def _place(done: Flattened, found: Collection, owner: Owner | None) -> None:
    parts = list(_fields(found.records, ()))
    names = _names([path for path, form, _ in parts if form not in ("map", "objects", "empty")])
    columns = _columns(done, found, parts, names)
    natural = key_of(found.name, columns, names.get((found.key,)) if found.key else None, owner is not None)
    title = found.name if owner is None or natural else f"{singular(owner.table)}_{found.name}"
    name = done.free_name(title, owner.table if owner else "")
    taken = set(names.values())
    key, columns = (natural, columns) if natural else _numbered(name, columns, len(found.records), taken)
    table = FlatTable(name, columns, key, found.file)
    done.tables.append(table)
    done.note(found.path, len(found.records), "table", name, table.size)
    inside = Owner(name, key, columns[key].values)
    if owner:
        _belong(table, owner, taken)
    for path, form, values in parts:
        where = f"{found.path}.{'.'.join(path)}"
        if form in ("map", "objects"):
            _inner(done, found, table, inside, where, path, form, values)
        elif form != "cell":
            _other(done, table, inside, where, names.get(path, ""), form, values, linked=natural is not None)


def _columns(
    done: Flattened, found: Collection, parts: Sequence[tuple[Path, Form, list[Json]]], names: dict[Path, str]
) -> dict[str, Cells]:
    columns = {}
    for path, form, values in parts:
        if form == "cell":
            cells = cells_of(names[path], values, found.textual)
            if any(value is not None for value in cells.values):
                columns[names[path]] = cells
            else:
                done.note(f"{found.path}.{'.'.join(path)}", 0, "empty", note="nothing is in it, in any record")
    return columns


def _fields(records: Sequence[Fields], path: Path) -> Iterator[tuple[Path, Form, list[Json]]]:
    """Every field in order of first occurrence with its form and a value for each record; parts are gone into."""
    for name in dict.fromkeys(name for record in records for name in record):
        values = [record.get(name) for record in records]
        form = form_of(values)
        if form == "record":
            yield from _fields([value or {} for value in values], (*path, name))
        else:
            yield (*path, name), form, values


def _names(paths: Sequence[Path]) -> dict[Path, str]:
    """Column names: the last part alone where that says enough, else all parts."""
    last = [snake_case(path[-1]) for path in paths]
    found: dict[Path, str] = {}
    for path, short in zip(paths, last, strict=True):
        wanted = short if short and (len(path) == 1 or last.count(short) == 1) else snake_case("_".join(path))
        wanted = wanted or f"column_{len(found) + 1}"
        taken = set(found.values())
        found[path] = next(n for n in (wanted, *(f"{wanted}_{i}" for i in range(2, len(paths) + 2))) if n not in taken)
    return found


def _numbered(table: str, columns: dict[str, Cells], size: int, taken: Set[str]) -> tuple[str, dict[str, Cells]]:
    key = _free(("id", f"{singular(table)}_number"), {*columns, *taken})
    return key, {key: Cells("integer", list(range(1, size + 1))), **columns}


def _belong(table: FlatTable, owner: Owner, taken: Set[str] = frozenset()) -> None:
    """The column that refers to the owner, after the key; a field that says the same already is it."""
    wanted = owner.key if owner.key != "id" else f"{singular(owner.table)}_id"
    given = table.columns.get(wanted)
    name = wanted
    if given is None or given.values != owner.values:
        name = _free((wanted, f"{singular(owner.table)}_{owner.key}", f"owner_{wanted}"), {*table.columns, *taken})
        kind: ColumnType = "integer" if all(isinstance(v, int) for v in owner.values) else "string"
        rest = {n: c for n, c in table.columns.items() if n != table.key}
        table.columns = {table.key: table.columns[table.key], name: Cells(kind, list(owner.values)), **rest}
    table.owner, table.owner_table, table.owner_key = name, owner.table, owner.key


def _free(wanted: Sequence[str], taken: Set[str]) -> str:
    more = (f"{wanted[-1]}_{number}" for number in range(2, len(taken) + 3))
    return next(name for name in (*wanted, *more) if name not in taken)


def _inner(
    done: Flattened, outer: Collection, table: FlatTable, inside: Owner, where: str, path: Path, form: Form,
    values: Sequence[Json],
) -> None:  # fmt: skip
    """Records inside the rows: a table of their own, each with its owner."""
    key = key_field([v for v in values if v]) if form == "map" else None
    groups: list[list[Fields]] = []
    for value in values:
        groups.append(keyed_records(value or {}, key or "") if form == "map" else list(value or []))
    records = [record for group in groups for record in group]
    owners = [owner for owner, group in zip(inside.values, groups, strict=True) for _ in group]
    title = snake_case("_".join(path[-1:])) or "parts"
    sign = "{}" if form == "map" else "[]"
    found = Collection(title, where + sign, outer.file, records, (key or "key") if form == "map" else None)
    _place(done, found, Owner(table.name, inside.key, owners))


def _other(
    done: Flattened, table: FlatTable, inside: Owner, where: str, name: str, form: Form, values: Sequence[Json],
    linked: bool,
) -> None:  # fmt: skip
    """Attributes, lists of scalars, and what fits no table."""
    known = [value for value in values if value is not None]
    if form == "empty":
        done.note(where, len(known), "empty", note="nothing is in it, in any record")
    elif form == "values" and linked:
        _linking(done, table, inside, where, name, values)
    elif form in ("attributes", "values"):
        table.columns[name] = Cells("string", [as_text(value) if value else None for value in values])
        kind = "`name: value; name: value`" if form == "attributes" else "`value; value`"
        done.note(where, len(known), "text", table.name, note=f"column {name}, as {kind}")
    else:
        texts = [None if v is None else v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in values]
        table.columns[name] = Cells("string", list(texts))
        done.note(where, len(known), "text", table.name, note=f"column {name}, as JSON text: kinds of value are mixed")


def _linking(done: Flattened, table: FlatTable, inside: Owner, where: str, name: str, values: Sequence[Json]) -> None:
    pairs = [(owner, item) for owner, group in zip(inside.values, values, strict=True) for item in (group or [])]
    title = done.free_name(f"{singular(table.name)}_{name}")
    cells = cells_of(singular(name), [item for _, item in pairs], False)
    key, columns = _numbered(title, {singular(name): cells}, len(pairs), frozenset())
    made = FlatTable(title, columns, key, table.file, listing=True)
    _belong(made, Owner(inside.table, inside.key, [owner for owner, _ in pairs]))
    done.tables.append(made)
    done.note(where + "[]", len(pairs), "linking table", title, made.size)
