"""Hostile tools: each is contained, and a sibling instance goes on undisturbed."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent_world.errors import SandboxError
from agent_world.tools.runtime import Instance, Observation
from agent_world.tools.sandbox.launcher import Launcher
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


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "time.sleep(100)",
        "import re; re.match(r'(a+)+$', 'a' * 40 + 'b')",
        """
import signal
for n in range(1, 32):
    try: signal.signal(n, signal.SIG_IGN)
    except OSError: pass
while True: pass
""",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    ],
)
async def test_an_endless_tool_dies_at_its_deadline(runtime: LocalBackend, world: World, body: str) -> None:
    started = time.monotonic()
    seen, _ = await attack(runtime, world, body)
    assert seen.error == "timeout"
    assert time.monotonic() - started < 3


async def test_children_of_an_endless_tool_die_with_it(runtime: LocalBackend, world: World) -> None:
    body = """
if os.fork() == 0:
    os.setsid()
    time.sleep(1.5)
    open('late.txt', 'w').write('x')
    os._exit(0)
while True: pass
"""
    _, instance = await attack(runtime, world, body)
    await asyncio.sleep(1)
    assert (await instance.diff()).changes == ()


async def test_what_a_killed_tool_wrote_is_kept(runtime: LocalBackend, world: World) -> None:
    _, instance = await attack(runtime, world, "open('data.json', 'w').write('[{\"id\": 1}]')\nwhile True: pass")
    assert [c.kind for c in (await instance.diff()).changes] == ["added"]


async def test_a_fork_bomb_is_bounded(runtime: LocalBackend, world: World) -> None:
    body = """
n = 0
try:
    while True:
        if os.fork() == 0: time.sleep(60)
        n += 1
except OSError:
    return n
"""
    seen, _ = await attack(runtime, world, body)
    assert seen.value < 20


async def test_threads_are_bounded(runtime: LocalBackend, world: World) -> None:
    body = """
n = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        n += 1
except RuntimeError:
    return n
"""
    seen, _ = await attack(runtime, world, body)
    assert seen.value < 64


@pytest.mark.parametrize(
    "body", ["return len(bytearray(10_000_000_000))", "keep = []\nwhile True: keep.append(bytearray(10_000_000))"]
)
async def test_a_memory_bomb_is_an_error(runtime: LocalBackend, world: World, body: str) -> None:
    seen, _ = await attack(runtime, world, body)
    assert "MemoryError" in seen.text


async def test_the_size_of_a_file_is_bounded(runtime: LocalBackend, world: World) -> None:
    seen, _ = await attack(runtime, world, "with open('big', 'wb') as f:\n    while True: f.write(b'x' * 1_000_000)")
    assert seen.error in ("exception", "crashed")


@pytest.mark.parametrize("runtime", ["namespaces"], indirect=True)
@pytest.mark.parametrize(
    "body",
    [
        "for n in range(100):\n    with open(f'f{n}', 'wb') as f: f.write(b'x' * 1_000_000)",
        "for n in range(100_000): open(f'f{n}', 'w').close()",
    ],
)
async def test_the_disk_of_an_instance_is_bounded(runtime: LocalBackend, world: World, body: str) -> None:
    seen, _ = await attack(runtime, world, body)
    assert seen.error in ("exception", "crashed")


async def test_no_network_not_even_loopback(runtime: LocalBackend, world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        seen, _ = await attack(runtime, world, f"socket.create_connection(('127.0.0.1', {port}), 0.5)")
        with pytest.raises(TimeoutError):
            server.accept()
    assert seen.error == "exception"
    for body in ("socket.create_connection(('1.1.1.1', 53), 0.5)", "socket.getaddrinfo('example.org', 80)"):
        assert (await attack(runtime, world, body))[0].error == "exception"


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


async def test_files_of_the_machine_are_not_visible(runtime: LocalBackend, world: World, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    paths = [
        str(tmp_path / "secret.txt"),
        "/etc/passwd",
        "/proc/1/root/etc/passwd",
        "/home",
        "/var",
        "/dev/shm",
        "/",
        "..",
        "../etc/passwd",
    ]
    body = f"""
found = []
for path in {paths!r}:
    try: found.append((os.listdir if os.path.isdir(path) else open)(path))
    except OSError: pass
return [set(names) & {{'etc', 'proc', 'tmp', 'home'}} for names in found]
"""
    seen, _ = await attack(runtime, world, body)
    assert not any(seen.value)


@pytest.mark.parametrize("path", ["/x", "/usr/x", "/dev/x", "../x", f"{sys.base_prefix}/x"])
async def test_only_the_own_folder_is_writable(runtime: LocalBackend, world: World, path: str) -> None:
    seen, _ = await attack(runtime, world, f"open({path!r}, 'w')")
    assert seen.error == "exception"


async def test_a_tool_has_no_descriptor_but_its_channel(runtime: LocalBackend, world: World) -> None:
    body = """
found = []
for fd in range(64):
    try: found.append((fd, os.fstat(fd).st_mode >> 12))
    except OSError: pass
return found
"""
    seen, _ = await attack(runtime, world, body)
    kinds = [kind for fd, kind in seen.value if fd > 2]
    assert [kind for fd, kind in seen.value if fd <= 2] == [2, 2, 2]  # character devices: /dev/null
    assert kinds == [12]  # one socket


async def test_privileges_are_gone_and_do_not_come_back(runtime: LocalBackend, world: World) -> None:
    body = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
found = []
for name, call in {
    'setuid': lambda: os.setuid(0),
    'mount': lambda: libc.mount(b'tmpfs', b'/usr', b'tmpfs', 0, None) and os.strerror(1) and exec('raise OSError'),
    'chroot': lambda: os.chroot('/usr'),
    'hostname': lambda: socket.sethostname('x'),
    'ptrace': lambda: open('/proc/1/mem'),
}.items():
    try: call()
    except OSError: continue
    found.append(name)
return found
"""
    seen, _ = await attack(runtime, world, body)
    assert [name for name in seen.value if name != "setuid" or os.getuid() == 0] == []


async def test_signals_reach_nobody_else(runtime: LocalBackend, world: World) -> None:
    body = """
for pid in (-1, 2, 3, 4, 5, os.getppid() or 99999):
    try: os.kill(pid, 9)
    except OSError: pass
return 5
"""
    seen, _ = await attack(runtime, world, body)
    assert seen.value == 5


async def test_attributes_of_files_outside_stay_as_they_are(
    runtime: LocalBackend, world: World, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("x")
    before = mine.stat()
    body = f"os.chmod({str(mine)!r}, 0o777)"
    assert (await attack(runtime, world, body))[0].error == "exception"
    assert (await attack(runtime, world, body.replace("chmod", "utime").replace("0o777", "(1, 1)")))[
        0
    ].error == "exception"
    assert mine.stat() == before


@pytest.mark.parametrize(
    "body",
    [
        "os._exit(3)",
        "import ctypes; ctypes.string_at(0)",
        "sys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
        "for fd in range(64):\n    try: os.write(fd, b'\\0\\0\\0\\x05hello')\n    except OSError: pass",
        "for fd in range(3, 64):\n    try: os.write(fd, b'\\xff' * 10)\n    except OSError: pass",
        "for fd in range(64):\n    try: os.close(fd)\n    except OSError: pass",
    ],
)
async def test_a_tool_that_breaks_its_process_is_an_observation(runtime: LocalBackend, world: World, body: str) -> None:
    seen, _ = await attack(runtime, world, body)
    assert seen.error in ("crashed", "exception", "timeout")


async def test_printing_is_bounded_and_leaves_the_answer_whole(runtime: LocalBackend, world: World) -> None:
    seen, _ = await attack(
        runtime, world, "for _ in range(300): print('x' * 100_000)\nos.write(1, b'x')\nos.write(2, b'x')\nreturn 5"
    )
    assert seen.value == 5


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


async def test_module_level_code_runs_only_inside(runtime: LocalBackend, world: World, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    instance = await runtime.open(world(f"open({str(mark)!r}, 'w')\n"))
    assert (await instance.call("ping", {})).error == "exception"
    assert not mark.exists()


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


def _alive(group: int) -> bool:
    """Whether any process of the session is left (zombies aside)."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == group and fields[0] != "Z":
            return True
    return False
