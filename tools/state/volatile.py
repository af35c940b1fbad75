"""The parts of a database that take no part in its state: logs, counters of use, caches.

An entry of `DatabaseSchema.volatile` is a table (`visits`, or as a diff names it: `log.json`, `shop.db:visits`), a
column of one (`books.reads`, `shop.db:quota.used`), or a file. A file may be a pattern (`*.log`, `cache/*`: `*` is any
text, `?` a letter), and only a pattern may name what does not exist yet.
"""

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from agent_world.errors import UsageError
from agent_world.schema import DatabaseSchema
from agent_world.tools.files import Files


def is_hidden_file(path: str, volatile: Sequence[str]) -> bool:
    return any(fnmatchcase(path, entry) if is_pattern(entry) else path == entry for entry in volatile)


def is_pattern(entry: str) -> bool:
    return "*" in entry or "?" in entry


def hidden_columns(table: str, volatile: Collection[str]) -> frozenset[str]:
    start = f"{table}."
    return frozenset(entry.removeprefix(start) for entry in volatile if entry.startswith(start))


def check_volatile(schema: DatabaseSchema, files: Files) -> None:
    """Raises `UsageError` for an entry that names nothing in the schema, nor in `files`."""
    missing = [entry for entry in schema.volatile if not is_pattern(entry) and not _names_a_part(entry, schema, files)]
    if missing:
        seen = _seen(schema, files)
        missing = [entry for entry in missing if entry not in seen]
    if missing:
        raise UsageError(
            f"The database's volatile part {missing[0]!r} names no table, table.column or file of it; correct it."
        )


def _names_a_part(entry: str, schema: DatabaseSchema, files: Files) -> bool:
    if entry in files.contents or entry in files.refused:
        return True
    for table in schema.tables:
        if entry in (table.name, table.file) or entry in {f"{table.name}.{column.name}" for column in table.columns}:
            return True
    return False


def _seen(schema: DatabaseSchema, files: Files) -> set[str]:
    """Names of tables and columns that the schema does not list and the files have."""
    from agent_world.tools.state.read import read_state

    state = read_state(files, schema.model_copy(update={"volatile": ()}))
    columns = {f"{name}.{column}" for name, rows in state.tables.items() for row in rows.values() for column in row}
    return columns | set(state.tables)
