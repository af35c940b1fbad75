"""Which rung holds, what is said about it, and what is refused below the floor."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_world.errors import SandboxError
from agent_world.settings import LocalRuntime, Rung
from agent_world.tools.sandbox.ids import OwnIds, ids_within, own_ids
from agent_world.tools.sandbox.launcher import RUNGS, Launcher
from agent_world.tools.sandbox.local import LocalBackend

World = Callable[..., Path]

OURS: Rung = "own_uid" if own_ids() else "user_namespace"
OTHER: Rung = "user_namespace" if own_ids() else "own_uid"


@pytest.mark.parametrize("rung", [OURS, "confined", "limits"])
async def test_tools_run_on_every_rung_that_this_machine_has(world: World, rung: Rung) -> None:
    root = world("import os\ndef ping():\n    open('x', 'w').close()\n    return sorted(os.environ)")
    backend = LocalBackend(LocalRuntime(floor="limits"), Launcher(rung, floor="limits"))
    await backend.start()
    try:
        instance = await backend.open(root)
        seen = await instance.call("ping", {})
        assert seen.value == ["HOME", "LANG", "MCP_DB_DIR", "PATH", "PYTHONHASHSEED", "TZ"]
        assert (await instance.run("def solve(tools): return tools.ping()", "solve", {})).ok
        assert [c.key for c in (await instance.diff()).changes] == ["x"]
        assert backend.launcher.rung == rung
        lines = backend.describe()
        assert lines[0].startswith(f"isolation: {rung}")
        assert any("NO wall around files" in line for line in lines) == (rung == "limits")
    finally:
        await backend.stop()


async def test_no_capability_is_left_in_the_bounding_set(world: World) -> None:
    body = "import ctypes\ndef kept():\n    libc = ctypes.CDLL(None)\n"
    root = world(f"{body}    return [n for n in range(64) if libc.prctl(23, n, 0, 0, 0) == 1]")  # PR_CAPBSET_READ
    backend = LocalBackend(LocalRuntime(), Launcher(OURS))
    await backend.start()
    try:
        assert (await (await backend.open(root)).call("kept", {})).value == []
    finally:
        await backend.stop()


@pytest.mark.parametrize(("rung", "floor"), [("limits", "confined"), ("confined", OURS), ("limits", OURS)])
async def test_a_start_below_the_floor_is_refused_with_the_setting(rung: Rung, floor: Rung) -> None:
    launcher = Launcher(rung, floor=floor)
    with pytest.raises(SandboxError, match=rf"rung '{rung}'.*runtime\.floor asks for '{floor}'.*set runtime\.floor"):
        await launcher.start()
    await launcher.stop()


async def test_a_rung_that_the_caller_cannot_have_says_why() -> None:
    launcher = Launcher(OTHER)
    with pytest.raises(SandboxError, match=OURS):
        await launcher.start()
    await launcher.stop()


async def test_the_setting_reaches_the_sandbox() -> None:
    backend = LocalBackend(LocalRuntime(floor="own_uid"))
    if OURS == "own_uid":
        await backend.start()
        assert backend.launcher.rung == "own_uid"
    else:
        with pytest.raises(SandboxError, match=r"runtime\.floor"):
            await backend.start()
    await backend.stop()


def test_rungs_are_ordered_from_the_best_on() -> None:
    assert RUNGS == ("own_uid", "user_namespace", "confined", "limits")


async def test_no_two_zygotes_name_the_folder_of_their_instances_alike() -> None:
    names = set()
    for _ in range(2):
        launcher = Launcher("confined")
        await launcher.start()
        names |= set(launcher.folders)
        await launcher.stop()  # which removes it, if the zygote could not: it must be nobody else's
    assert len(names) == 2


async def test_a_sandbox_that_could_not_start_anew_is_started_by_who_asks_next(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = LocalBackend(LocalRuntime())
    await backend.start()
    try:
        assert backend.launcher._control is not None
        backend.launcher._control.hang_up()
        with monkeypatch.context() as broken:
            broken.setattr(sys, "executable", "/bin/true")  # an interpreter that ends at once
            with pytest.raises(SandboxError, match="cannot start"):
                await backend.open(world("def ping(): return 1"))
        instance = await backend.open(world("def ping(): return 1"))
        assert (await instance.call("ping", {})).value == 1
    finally:
        await backend.stop()


async def test_an_order_that_nobody_has_read_is_not_the_next_ones(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a process dies between its start and its order: here an order is given without the byte."""
    root = world("def ping(): return 1")
    backend = LocalBackend(LocalRuntime(ahead=0))
    await backend.start()
    try:
        await (await backend.open(root)).call("ping", {})
        control = backend.launcher._control
        assert control is not None
        gate, control._gate = control._gate, os.open(os.devnull, os.O_WRONLY)
        with monkeypatch.context() as hasty:
            hasty.setattr("agent_world.tools.sandbox.launcher._SPAWN_S", 0.3)
            hasty.setattr(control, "skip", lambda: None)
            with pytest.raises(SandboxError, match="no answer in time"):
                await backend.open(root)
        os.close(control._gate)
        control._gate = gate
        control.skip()
        instance = await backend.open(root)
        assert (await instance.call("ping", {})).value == 1
    finally:
        await backend.stop()


@pytest.mark.parametrize(
    ("uids", "gids", "found"),
    [
        ([range(2**32 - 1)], [range(2**32 - 1)], OwnIds(100_000, 50_000)),
        ([range(65_536)], [range(65_536)], OwnIds(65_536 - 32_768, 32_768)),
        ([range(1), range(1, 65_537)], [range(1), range(1, 65_537)], OwnIds(32_769, 32_768)),
        ([range(1)], [range(1)], None),
        ([range(65_536)], [range(1)], None),
        ([range(3_000)], [range(3_000)], None),
    ],
    ids=["the machine's root", "a container's", "rootless", "one id", "one group", "few"],
)
def test_own_ids_are_such_as_there_are(uids: list[range], gids: list[range], found: OwnIds | None) -> None:
    assert ids_within(uids, gids) == found


def test_root_that_may_not_take_on_other_ids_has_none_to_give(tmp_path: Path) -> None:
    for name in ("uid_map", "gid_map"):
        (tmp_path / name).write_text("         0          0 4294967295\n")
    (tmp_path / "status").write_text("Name:\tx\nCapEff:\t000001ffffffffff\n")
    assert own_ids(tmp_path) == (OwnIds(100_000, 50_000) if os.getuid() == 0 else None)
    (tmp_path / "status").write_text("Name:\tx\nCapEff:\t0000000000000000\n")
    assert own_ids(tmp_path) is None


AS_ROOT_OF_ONE_ID = """
import asyncio, sys
from pathlib import Path
from agent_world.settings import LocalRuntime
from agent_world.tools.sandbox.launcher import Launcher
from agent_world.tools.sandbox.local import LocalBackend

async def main():
    for only in (None, "confined"):
        backend = LocalBackend(LocalRuntime(), Launcher(only))
        await backend.start()
        instance = await backend.open(Path(sys.argv[1]))
        print(backend.launcher.rung, (await instance.call("write", {})).value, len((await instance.diff()).changes))
        await backend.stop()

asyncio.run(main())
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no program unshare")
def test_root_of_a_container_with_one_id_steps_down(world: World) -> None:
    root = world("import os\ndef write():\n    open('x', 'w').close()\n    return os.getpid()")
    command = ["unshare", "-Ur", sys.executable, "-c", AS_ROOT_OF_ONE_ID, str(root)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if "unshare failed" in run.stderr:
        pytest.skip("this machine lets nobody have a user namespace")
    assert run.stdout.split("\n") == ["user_namespace 1 1", "confined 2 1", ""], run.stderr
