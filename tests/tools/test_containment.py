"""What holds of the local backend alone; hostile tools are in the conformance suite (tests/evals/bench)."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent_world.errors import SandboxError
from agent_world.tools.runtime import Instance, Observation
from agent_world.tools.sandbox.launcher import NAMESPACED, Launcher
from agent_world.tools.sandbox.local import LocalBackend
from tests.tools.conftest import QUICK

World = Callable[..., Path]

PING = "def ping(): return 1\n"
RUNGS = ("namespaces", "confined")


@pytest.fixture(params=RUNGS)
async def runtime(request: pytest.FixtureRequest) -> AsyncIterator[LocalBackend]:
    """The best that this kernel grants, and what is left where it refuses namespaces."""
    backend = LocalBackend(QUICK, Launcher("confined" if request.param == "confined" else None))
    await backend.start()
    yield backend
    await backend.stop()


async def attack(runtime: LocalBackend, world: World, body: str) -> tuple[Observation, Instance]:
    """Call a tool of this body in one instance, then see that its sibling and a new call to itself still answer."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    root = world(f"import os, sys, time, socket, threading\n{PING}def tool():\n{lines}", data__json="[]")
    instance, sibling = await runtime.open(root), await runtime.open(root)
    seen = await instance.call("tool", {})
    assert (await sibling.call("ping", {})).value == 1
    assert (await instance.call("ping", {})).value == 1
    return seen, instance


async def test_secrets_of_our_environment_are_not_visible(
    world: World, monkeypatch: pytest.MonkeyPatch, runtime: LocalBackend
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-parent-secret")
    body = """
found = dict(os.environ)
for p in ('/proc/1/environ', '/proc/self/environ'):
    try: found[p] = open(p).read()
    except OSError: pass
return found
"""
    seen, _ = await attack(runtime, world, body)
    assert "sk-parent-secret" not in seen.text
    assert set(seen.value) == {"PYTHONHASHSEED", "PATH", "HOME", "LANG", "TZ", "MCP_DB_DIR"}


async def test_links_and_pipes_in_the_folder_are_reported_not_followed(runtime: LocalBackend, world: World) -> None:
    seen, instance = await attack(
        runtime,
        world,
        """
os.symlink('/etc/passwd', 'link')
os.mkfifo('pipe')
os.mkdir('a' )
os.truncate(os.open('sparse', os.O_CREAT | os.O_RDWR), 8_000_000)
return 1
""",
    )
    assert seen.value == 1
    found = {c.key: c.after for c in (await instance.diff()).changes}
    assert found["link"] == {"problem": "a link"}
    assert found["pipe"] == {"problem": "not a regular file"}
    with pytest.raises(SandboxError, match="link"):
        await instance.snapshot()


async def test_the_protections_that_hold_are_described(runtime: LocalBackend) -> None:
    text = "\n".join(runtime.describe())
    assert "sockets" in text
    assert ("own network" in text) == (runtime.launcher.rung != "confined")
    assert ("a uid of its own" in text) == (os.getuid() == 0)


async def test_a_dead_zygote_costs_the_call_in_flight_and_no_file(runtime: LocalBackend, world: World) -> None:
    root = world(f"import time\n{PING}def write():\n    open('mine.txt', 'w').write('x')\n    time.sleep(9)\n")
    instance, other = await runtime.open(root), await runtime.open(root)
    call = asyncio.create_task(instance.call("write", {}))
    while (await instance.diff()).changes == ():
        await asyncio.sleep(0.01)
    group = runtime.launcher.group
    os.killpg(group, signal.SIGKILL)
    assert (await call).error == "crashed"
    while _alive(group):
        await asyncio.sleep(0.01)
    assert (await (await runtime.open(root)).call("ping", {})).value == 1
    assert (await instance.call("ping", {})).value == 1
    assert [c.key for c in (await instance.diff()).changes] == ["mine.txt"]
    await other.reset()
    assert (await other.call("ping", {})).value == 1


async def test_a_tool_that_fills_the_disk_and_hangs_leaves_an_instance_that_answers(
    runtime: LocalBackend, world: World
) -> None:
    body = """
with open('big', 'wb', buffering=0) as file:
    try:
        while True: file.write(b'x' * 1_000_000)
    except OSError: pass
while True: pass
"""
    seen, instance = await attack(runtime, world, body)
    assert seen.error == "timeout"
    assert [change.key for change in (await instance.diff()).changes] == ["big"]


async def test_no_descriptor_of_an_instance_goes_to_a_program_that_we_start(world: World) -> None:
    before = _inheritable()
    backend = LocalBackend(QUICK)
    await backend.start()
    try:
        await backend.open(world(PING))
        assert _inheritable() == before
    finally:
        await backend.stop()


async def test_where_only_the_stem_has_died_another_sandbox_is_started(runtime: LocalBackend, world: World) -> None:
    """The process that instances are forked from, which is the zygote's child. The zygote lives."""
    before = 3 if runtime.launcher.rung in NAMESPACED else 1  # with namespaces, two on the way to process 1
    os.kill(sorted(_members(runtime.launcher.group))[before], signal.SIGKILL)
    assert (await (await runtime.open(world(PING))).call("ping", {})).value == 1
    assert runtime.launcher.generation == 2


async def test_an_instance_that_lost_its_files_says_so_until_it_is_reset(world: World) -> None:
    backend = LocalBackend(QUICK, Launcher("confined"))
    await backend.start()
    try:
        instance = await backend.open(world(f"import os\n{PING}def leave(): os._exit(1)\n"))
        assert (await instance.call("leave", {})).error == "crashed"
        for folder in backend.launcher.folders:
            shutil.rmtree(folder)
            folder.mkdir()
        assert (await instance.call("ping", {})).error == "infra"
        assert (await instance.run("def solve(): return 1", "solve", {})).error == "infra"
        with pytest.raises(SandboxError, match="lost its files"):
            await instance.diff()
        await instance.reset()
        assert (await instance.call("ping", {})).value == 1
    finally:
        await backend.stop()


@pytest.mark.parametrize("rung", RUNGS)
def test_when_the_caller_dies_everything_ends(world: World, rung: str) -> None:
    """Killed without a chance to clean up, our process leaves no zygote and no instance behind."""
    source = f"""
import asyncio, sys
from pathlib import Path
from agent_world.settings import LocalRuntime
from agent_world.tools.sandbox.launcher import Launcher
from agent_world.tools.sandbox.local import LocalBackend
async def main():
    backend = LocalBackend(LocalRuntime(), Launcher({"confined" if rung == "confined" else None!r}))
    await backend.start()
    instance = await backend.open(Path({str(world(PING))!r}))
    assert (await instance.call("ping", {{}})).ok
    print(backend.launcher.group, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", source], env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        with process.stdout:
            group = int(process.stdout.readline())
        assert _alive(group)
    finally:
        process.kill()
        process.wait()
    deadline = time.monotonic() + 5
    while _alive(group) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(group)


def _inheritable() -> set[int]:
    held = [int(fd) for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")]
    return {fd for fd in held if os.get_inheritable(fd)}


def _alive(group: int) -> bool:
    """Whether any process of the session is left (zombies aside)."""
    return bool(_members(group))


def _members(group: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == group and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found
