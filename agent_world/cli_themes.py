"""The verbs `agent-world themes`: which themes there are, what one holds, and one more source."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from agent_world.cli_options import DEFAULT, Config, Machine, Overrides, show
from agent_world.errors import UsageError
from agent_world.schema import Dropped, Theme
from agent_world.settings import load_settings

app = typer.Typer(no_args_is_help=True, help="What environments are to be about.")


@app.command("list")
def list_themes(config: Config = DEFAULT, overrides: Overrides = None, machine: Machine = False) -> None:
    """Read all theme sources: MCP servers and lists of them, tool documentation, PRDs; say what was dropped and why."""
    themes, dropped = _collect(config, overrides)
    rows = [{"id": t.id, "kind": t.kind, "tools": len(t.tools), "name": t.name, "source": t.source} for t in themes]
    show(rows, machine)
    for item in dropped if not machine else ():
        print(f"dropped {item.kind} {item.id}: {item.reason}")


@app.command("show")
def show_theme(theme: str, overrides: Overrides = None, config: Config = DEFAULT, machine: Machine = False) -> None:
    """One theme: description, source, keywords, and the tools of the real service."""
    themes, _ = _collect(config, overrides)
    found = next((t for t in themes if t.id == theme), None)
    if found is None:
        raise UsageError(f"There is no theme {theme!r}; `agent-world themes list` shows them.")
    if machine:
        print(json.dumps(found.model_dump(mode="json", by_alias=True), ensure_ascii=False, indent=1))
        return
    print(f"{found.name} ({found.id})\n{found.description}\nsource: {found.source}\nabout: {', '.join(found.keywords)}")
    show([{"tool": t.name, "description": t.description[:100]} for t in found.tools], machine)


@app.command("add", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def add_theme(
    source: Annotated[
        list[str],
        typer.Argument(
            help="A file or an http(s) address, settings on top (key=value); or an MCP server's command after `--`."
        ),
    ],
    config: Config = DEFAULT,
    kind: Annotated[str | None, typer.Option(help="mcp, servers, tool_docs or prd, where it cannot be told.")] = None,
    name: Annotated[str | None, typer.Option(help="The theme's name, where the source has none or another.")] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(help="'Name: value' for an address; ${NAME} in it is read from the environment each time."),
    ] = None,
) -> None:
    """Add a source to the workspace; it is read at once, so one that is wrong or gives no theme is refused."""
    from agent_world.agents.themes.collect import read_sound_themes
    from agent_world.agents.themes.provenance import join_themes, place_of
    from agent_world.agents.themes.sources import add_source, guess_source

    first, *rest = source
    data = "://" in first or (Path(first).is_file() and not os.access(first, os.X_OK))  # what follows is no command's
    settings = load_settings(config, rest if data else ())
    wanted = guess_source([first] if data else source, kind, name, _headers(header or []))
    themes, dropped = asyncio.run(read_sound_themes(wanted, settings.theme_rules))
    if not themes:
        reasons = "; ".join(f"{item.id}: {item.reason}" for item in dropped[:3]) or "it holds none"
        raise UsageError(
            f"{source[0]} gives no theme, so it was not added ({reasons}); give one with tools, or with a description "
            f"of {settings.theme_rules.least_words} words or more."
        )
    add_source(settings.workspace, wanted)
    themes = join_themes(settings.workspace, themes, place_of(wanted))
    print(f"Added {len(themes)} theme{'s' * (len(themes) != 1)}: {', '.join(_shown(t) for t in themes[:8])}.")
    for item in dropped:
        print(f"dropped {item.kind} {item.id}: {item.reason}")
    print("`agent-world search` finds them now, `agent-world build` makes their environments.")


def _shown(theme: Theme) -> str:
    return f"{theme.name} ({theme.id}, {len(theme.tools)} tools)"


def _headers(given: list[str]) -> dict[str, str]:
    if wrong := [item for item in given if ":" not in item]:
        raise UsageError(f"--header {wrong[0]!r} must have the form 'Name: value'.")
    return {name.strip(): value.strip() for name, _, value in (item.partition(":") for item in given)}


def _collect(config: Path, overrides: list[str] | None) -> tuple[list[Theme], list[Dropped]]:
    from agent_world.agents.themes.collect import collect

    collected = asyncio.run(collect(load_settings(config, overrides or [])))
    for note in collected.notes:
        print(note, file=sys.stderr)
    return collected.themes, collected.dropped
