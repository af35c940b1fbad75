"""An environment made of an MCP server that exists: its data and its tools, as a bundle like any other."""

import asyncio
import os
import shutil
from pathlib import Path

from agent_world.errors import UsageError
from agent_world.memory.store import Bundle, to_json, write_bytes, write_text
from agent_world.schema import Environment, Origin, Theme, ToolSpec
from agent_world.settings import McpRuntime
from agent_world.tools.files import Files, read_files, unpack
from agent_world.tools.runtime import open_runtime
from agent_world.tools.sandbox.mcp_instance import McpInstance
from agent_world.tools.specs.probe import learn
from agent_world.tools.tables import snake_case

RUNTIME = "runtime.json"
"""Of the bundle: the setting `runtime` with which it runs."""


async def import_server(
    config: McpRuntime,
    root: Path,
    *,
    name: str,
    data: Path | None = None,
    description: str = "",
    learning: bool = False,
) -> Bundle:
    """Start the server in the sandbox on a copy of `data` (a folder, or one file), list its tools, and write `root`.

    `database/` becomes what the server has made of the data when it has started, so that an instance differs from it
    in nothing until a tool is called. `learning`: test calls, each undone, teach which optional arguments depend on
    each other, and types that the server does not say. Raises `UsageError` for data or a name that will not do,
    `SandboxError` when the server does not start; nothing is left of `root` then.
    """
    identifier = snake_case(name)
    if not identifier:
        raise UsageError(f"The name {name!r} has no letters; give the environment one that has.")
    files = await asyncio.to_thread(_data, root, data, config.disk_mb)
    draft = Bundle(root.parent / f".import-{os.getpid()}" / root.name)
    try:
        _write(draft, files)
        async with open_runtime(config) as runtime:
            instance = await runtime.open(draft.root)
            assert isinstance(instance, McpInstance)  # of an `McpRuntime`
            specs, files = instance.specs, unpack(await instance.snapshot())
            if learning:
                specs = tuple([await learn(instance, spec) for spec in specs])
        shutil.rmtree(draft.database)
        _write(draft, files)
        draft.write_specs(specs)
        write_text(draft.root / RUNTIME, to_json(config))
        draft.write_environment(_head(identifier, name, description, config, specs))
        draft.root.rename(root)
    finally:
        shutil.rmtree(draft.root.parent, ignore_errors=True)
    return Bundle(root)


def _data(root: Path, data: Path | None, disk_mb: int) -> Files:
    if root.exists():
        raise UsageError(f"There is already an environment at {root}; remove it, or choose another name.")
    if data is None:
        return Files()
    if not data.exists():
        raise UsageError(f"There is no data at {data}; give the folder or file that the server works on.")
    if data.is_file():
        return Files({data.name: data.read_bytes()})
    files = read_files(data, disk_mb * 1024 * 1024)
    for path, reason in files.refused.items():
        raise UsageError(f"{data / path} cannot be taken along ({reason}); remove it, or raise disk_mb.")
    return files


def _write(draft: Bundle, files: Files) -> None:
    draft.database.mkdir(parents=True)
    for path, content in files.contents.items():
        write_bytes(draft.database / path, content)


def _head(identifier: str, name: str, description: str, config: McpRuntime, specs: tuple[ToolSpec, ...]) -> Environment:
    theme = Theme(
        id=identifier, name=name, description=description, kind="mcp", source=" ".join(config.command), tools=specs
    )
    origin = Origin(engine="procedural")
    return Environment(id=identifier, name=name, description=description, theme=theme, origin=origin)
