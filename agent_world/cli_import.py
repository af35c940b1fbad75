"""`agent-world import database`: an environment of data that others made."""

from pathlib import Path
from typing import Annotated

import typer

from agent_world.cli_options import DEFAULT, Config, Machine, Overrides, show
from agent_world.settings import load_settings


def database(
    data: Annotated[Path, typer.Argument(help="Folder of JSON, JSON Lines, CSV, TSV or SQLite files, or one file.")],
    name: Annotated[str, typer.Option(help="Of the new environment.")],
    specs: Annotated[Path | None, typer.Option(help="Tool specifications of the service that the data is of.")] = None,
    theme: Annotated[str, typer.Option(help="What the environment is about, in a sentence.")] = "",
    licence: Annotated[str | None, typer.Option(help="Of the data; left out, the folder's LICENSE says it.")] = None,
    leave_out: Annotated[list[str] | None, typer.Option(help="Pattern of file names that are no data.")] = None,
    config: Config = DEFAULT,
    overrides: Overrides = None,
    machine: Machine = False,
) -> None:
    """Make an environment of data files: nested objects become related tables, and every row is accounted for."""
    from agent_world.agents.importer import import_database
    from agent_world.tools.tables import snake_case

    root = load_settings(config, overrides or []).workspace / "environments" / (snake_case(name) or "_")
    bundle, report = import_database(
        data, root, name=name, specs=specs, description=theme, licence=licence, leave_out=tuple(leave_out or ())
    )
    if machine:
        print(report.model_dump_json(indent=1))
        return
    show([p.model_dump() for p in report.placed], machine)
    print("\n".join(f"{key} holds for every row." for key in report.keys))
    head = bundle.environment()
    print(f"{bundle.id}: {len(head.database.tables)} tables in {bundle.root}; its tools: agent-world tools {bundle.id}")
