"""What the verbs of the command line share: options, and how rows are shown."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from agent_world.errors import UsageError
from agent_world.settings import Settings

if TYPE_CHECKING:
    from agent_world.memory.store import Bundle, Store

Config = Annotated[Path, typer.Option("--config", "-c", help="YAML file of settings.")]
Overrides = Annotated[list[str] | None, typer.Argument(help="Settings on top: key=value, for example rounds=1.")]
Machine = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Empty the workspace, but for theme sources added to it, and start over.")
]
DEFAULT = Path("configs/quickstart.yaml")


def show(rows: list[dict[str, Any]], machine: bool) -> None:
    """A table for people, or a JSON list."""
    if machine:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    table = Table(box=None)
    for name in rows[0] if rows else ["nothing"]:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console(highlight=False).print(table)


def open_store(settings: Settings) -> "Store":
    from agent_world.memory.store import Store

    if not (settings.workspace / "environments").is_dir():
        raise UsageError(f"There is no workspace at {settings.workspace}; make one with agent-world evolve or build.")
    return Store(settings.workspace)


def find_bundle(environment: str, settings: Settings) -> "Bundle":
    store = open_store(settings)
    if environment not in store.ids():
        raise UsageError(f"There is no environment {environment!r}; there are: {', '.join(store.ids()) or 'none'}.")
    return store.bundle(environment)
