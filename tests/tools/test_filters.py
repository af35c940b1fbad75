"""The list of allowed system calls: as a program, run here step by step, and as a wall, seen from inside."""

import errno
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent_world.settings import LocalRuntime
from agent_world.tools.sandbox.inside import calls
from agent_world.tools.sandbox.inside.filters import Step, call_filter
from agent_world.tools.sandbox.launcher import Launcher
from agent_world.tools.sandbox.local import LocalBackend
from tests.tools.conftest import QUICK

World = Callable[..., Path]
RUNGS = ("namespaces", "confined")

X86, ARM = "x86_64", "aarch64"
AUDIT = {X86: 0xC000003E, ARM: 0xC00000B7}
I386, ARM32 = 0x40000003, 0x40000028
ALLOW, KILL = "allow", "kill"
KINDS = [(alone, program) for alone in (False, True) for program in (False, True)]
EVERYWHERE = calls.FILES | calls.RUNNING | calls.WAITING
ALL = EVERYWHERE | calls.COMPANY | calls.FOREIGN | calls.UNKNOWN | calls.CHECKED

HOSTILE = {
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "accept4": (288, 242),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "unshare": (272, 97),
    "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "fsopen": (430, 430), "open_tree": (428, 428), "move_mount": (429, 429), "open_by_handle_at": (304, 265),
    "setuid": (105, 146), "setgid": (106, 144), "setresuid": (117, 147), "setgroups": (116, 159), "capset": (126, 91),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "bpf": (321, 280), "userfaultfd": (323, 282),
    "perf_event_open": (298, 241), "keyctl": (250, 219), "add_key": (248, 217), "memfd_create": (319, 279),
    "execveat": (322, 281), "personality": (135, 92), "seccomp": (317, 277), "rt_sigqueueinfo": (129, 138),
    "shmget": (29, 194), "msgget": (68, 186), "mq_open": (240, 180), "sync": (162, 81), "syslog": (103, 116),
    "init_module": (175, 105), "kexec_load": (246, 104), "reboot": (169, 142), "sethostname": (170, 161),
    "clock_settime": (227, 112), "settimeofday": (164, 170), "swapon": (167, 224), "quotactl": (179, 60),
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setscheduler": (144, 119), "setxattr": (188, 5),
    "vmsplice": (278, 75), "fanotify_init": (300, 262), "landlock_create_ruleset": (444, 444),
    "name_to_handle_at": (303, 264), "process_madvise": (440, 440), "migrate_pages": (256, 238), "acct": (163, 89),
}  # fmt: skip
"""Raw calls that no tool has any use for."""


def verdict(program: list[Step], audit: int, number: int, *arguments: int) -> str:
    """Run classic BPF as the kernel would, and say what it gives: `allow`, `kill`, or the name of an error."""
    words = {0: number, 4: audit}
    for place, argument in enumerate(arguments):
        words |= {16 + 8 * place: argument & 0xFFFFFFFF, 20 + 8 * place: argument >> 32}
    at, value = 0, 0
    while True:
        code, if_true, if_false, operand = program[at]
        at += 1
        match code:
            case 0x20:
                value = words.get(operand, 0)
            case 0x54:
                value &= operand
            case 0x05:
                at += operand
            case 0x15 | 0x35 | 0x45:
                holds = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[code]
                at += if_true if holds else if_false
            case 0x06:
                kind = operand & 0x7FFF0000
                name = errno.errorcode.get(operand & 0xFFFF, "")
                return KILL if operand & 0x80000000 else ALLOW if kind == 0x7FFF0000 else name
            case _:
                raise AssertionError(f"no such instruction: {code:#x}")


def judge(machine: str, name: str, *arguments: int, alone: bool = False, program: bool = False) -> str:
    column = (X86, ARM).index(machine)
    number = (ALL | HOSTILE)[name][column]
    return verdict(call_filter(machine, alone, program), AUDIT[machine], number, *arguments)


@pytest.mark.parametrize("machine", [X86, ARM])
@pytest.mark.parametrize(("alone", "program"), KINDS)
def test_every_number_has_the_verdict_of_its_name(machine: str, alone: bool, program: bool) -> None:
    column = (X86, ARM).index(machine)
    allowed = EVERYWHERE | ({} if alone else calls.COMPANY) | (calls.FOREIGN if program else {})
    plain = {numbers[column] for numbers in allowed.values()}
    unknown = {numbers[column] for numbers in calls.UNKNOWN.values()}
    checked = {numbers[column] for numbers in calls.CHECKED.values()}
    steps = call_filter(machine, alone, program)
    for number in set(range(600)) - checked:
        expected = ALLOW if number in plain else "ENOSYS" if number in unknown or number >= calls.NEWER else "EPERM"
        assert verdict(steps, AUDIT[machine], number) == expected, number


@pytest.mark.parametrize("machine", [X86, ARM])
@pytest.mark.parametrize(("alone", "program"), KINDS)
def test_hostile_calls_are_refused_on_every_rung(machine: str, alone: bool, program: bool) -> None:
    assert {name: judge(machine, name, alone=alone, program=program) for name in HOSTILE} == dict.fromkeys(
        HOSTILE, "EPERM"
    )


@pytest.mark.parametrize(("alone", "program"), KINDS)
def test_other_architectures_are_killed(alone: bool, program: bool) -> None:
    read = {X86: 0, ARM: 63}
    for machine in (X86, ARM):
        steps = call_filter(machine, alone, program)
        other = ARM if machine == X86 else X86
        for audit in (AUDIT[other], I386, ARM32, 0):
            assert verdict(steps, audit, read[machine]) == KILL
        for number in (0x40000000, 0x40000000 + read[machine], 0xFFFFFFFF):
            assert verdict(steps, AUDIT[machine], number) == KILL


SIGCHLD, THREAD, NEWUSER, NEWNS, PARENT = 17, 0x3D0F00, 0x10000000, 0x20000, 0x8000
ARGUMENTS = [
    ("clone", (SIGCHLD,), "allow", "EPERM"),
    ("clone", (THREAD,), "allow", "allow"),
    ("clone", (0x4100 | SIGCHLD,), "allow", "EPERM"),  # posix_spawn
    ("clone", (SIGCHLD | NEWUSER,), "EPERM", "EPERM"),
    ("clone", (THREAD | NEWNS,), "EPERM", "EPERM"),
    ("clone", (SIGCHLD | PARENT,), "EPERM", "EPERM"),
    ("clone3", (0,), "ENOSYS", "ENOSYS"),
    ("prlimit64", (0, 7), "allow", "allow"),
    ("prlimit64", (1, 7), "EPERM", "EPERM"),
    ("prlimit64", (2**32, 7), "allow", "allow"),  # the kernel reads 32 bits: a pid of 0
    ("prlimit64", (2**32 + 5, 7), "EPERM", "EPERM"),
    ("ioctl", (0, 0x5401), "allow", "allow"),
    ("ioctl", (0, 0x5421), "allow", "allow"),
    ("ioctl", (0, 0x5412), "ENOTTY", "ENOTTY"),  # TIOCSTI
    ("ioctl", (0, 0x8901), "ENOTTY", "ENOTTY"),  # FIOSETOWN
    ("ioctl", (0, 2**32 + 0x5412), "ENOTTY", "ENOTTY"),
    ("fcntl", (0, 1030), "allow", "allow"),
    ("fcntl", (0, 6), "allow", "allow"),
    ("fcntl", (0, 8), "EPERM", "EPERM"),  # F_SETOWN
    ("fcntl", (0, 10), "EPERM", "EPERM"),  # F_SETSIG
    ("fcntl", (0, 15), "EPERM", "EPERM"),  # F_SETOWN_EX
    ("prctl", (15,), "allow", "allow"),
    ("prctl", (1,), "EPERM", "EPERM"),  # PR_SET_PDEATHSIG
    ("prctl", (22,), "EPERM", "EPERM"),  # PR_SET_SECCOMP
    ("prctl", (4,), "EPERM", "EPERM"),  # PR_SET_DUMPABLE
    ("socketpair", (1, 1), "allow", "allow"),
    ("socketpair", (16, 3), "EPERM", "EPERM"),  # netlink
    ("mknodat", (0, 0, 0o010644), "allow", "allow"),
    ("mknodat", (0, 0, 0o020644), "EPERM", "EPERM"),  # a character device
    ("mknodat", (0, 0, 0o060644), "EPERM", "EPERM"),
    ("kill", (1, 9), "allow", "EPERM"),
    ("wait4", (), "allow", "EPERM"),
]


@pytest.mark.parametrize("machine", [X86, ARM])
@pytest.mark.parametrize(("name", "arguments", "in_company", "alone"), ARGUMENTS)
def test_arguments_are_judged_where_a_number_says_too_little(
    machine: str, name: str, arguments: tuple[int, ...], in_company: str, alone: str
) -> None:
    assert judge(machine, name, *arguments) == in_company
    assert judge(machine, name, *arguments, alone=True) == alone


@pytest.mark.parametrize("machine", [X86, ARM])
@pytest.mark.parametrize(("alone", "program"), KINDS)
def test_no_call_passes_more_than_a_few_steps(machine: str, alone: bool, program: bool) -> None:
    steps = call_filter(machine, alone, program)
    assert len(steps) < 320
    assert all(0 <= skip < 256 for _, if_true, if_false, _ in steps for skip in (if_true, if_false))
    assert _deepest(steps) <= 30


def _deepest(steps: list[Step]) -> int:
    """Most steps on any way through. Jumps only lead forwards, so one pass from the end finds it."""
    depth = [0] * (len(steps) + 1)
    for at in range(len(steps) - 1, -1, -1):
        code, if_true, if_false, operand = steps[at]
        ways = {0x06: [], 0x05: [operand], 0x20: [0], 0x54: [0]}.get(code, [if_true, if_false])
        depth[at] = 1 + max((depth[at + 1 + way] for way in ways), default=0)
    return depth[0]


@pytest.mark.parametrize(
    ("column", "header"),
    [(0, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), (1, "/usr/include/asm-generic/unistd.h")],
)
def test_numbers_are_those_of_the_kernels_headers(column: int, header: str) -> None:
    if not Path(header).exists():
        pytest.skip("the kernel's headers are not installed")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", Path(header).read_text())
    known = {name: int(number) for name, number in reversed(found)}
    # The generic table gives some numbers by a word that depends on the width of the machine.
    widths = {"fstat": 80, "newfstatat": 79, "lseek": 62, "fcntl": 25, "mmap": 222, "sendfile": 71, "fadvise64": 223}
    widths |= {"truncate": 45, "ftruncate": 46, "statfs": 43, "fstatfs": 44}
    known |= {name: number for name, number in widths.items() if column == 1}
    ours = {name: numbers[column] for name, numbers in (ALL | HOSTILE).items() if numbers[column] >= 0}
    newest = max(known.values())
    assert {name: number for name, number in ours.items() if number <= newest} == {
        name: known.get(name) for name, number in ours.items() if number <= newest
    }
    absent = [name for name, numbers in (ALL | HOSTILE).items() if numbers[column] < 0]
    assert not [name for name in absent if name in known]


# --- Seen from inside -------------------------------------------------------------------------------------------------


@pytest.fixture(params=RUNGS)
async def runtime(request: pytest.FixtureRequest) -> AsyncIterator[LocalBackend]:
    config = LocalRuntime(**QUICK.model_dump() | {"call_timeout_s": 10.0})
    backend = LocalBackend(config, Launcher("confined" if request.param == "confined" else None))
    await backend.start()
    yield backend
    await backend.stop()


HEAD = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"


async def test_raw_calls_are_refused_inside(runtime: LocalBackend, world: World) -> None:
    column = (X86, ARM).index(platform.machine())
    numbers = {name: both[column] for name, both in HOSTILE.items()}
    more = {"fork": 57, "vfork": 58, "execve": 59, "kill": 62, "tkill": 200, "chmod": 90} if column == 0 else {}
    numbers |= more if runtime.launcher.rung == "confined" else {}
    root = world(
        HEAD
        + f"""
def tool():
    found = {{}}
    for name, number in {numbers!r}.items():
        ctypes.set_errno(0)
        result = libc.syscall(number, 0, 0, 0, 0, 0, 0)
        found[name] = os.strerror(ctypes.get_errno()) if result < 0 else result
    return found
"""
    )
    instance = await runtime.open(root)
    seen = (await instance.call("tool", {})).value
    assert seen == dict.fromkeys(numbers, "Operation not permitted")


@pytest.mark.skipif(platform.machine() != X86, reason="ways of x86-64 alone")
@pytest.mark.parametrize(
    "body",
    [
        "libc.syscall(0x40000000 + 39)",  # getpid of x32
        "libc.syscall(-1)",
        """
    libc.mmap.restype = ctypes.c_void_p
    place = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, 0)  # may be written and executed
    code = bytes.fromhex('b814000000cd80c3')  # mov eax, 20 (getpid of i386); int 0x80; ret
    ctypes.memmove(place, code, len(code))
    return ctypes.CFUNCTYPE(ctypes.c_int)(place)()
""",
    ],
)
async def test_the_other_ways_into_the_kernel_are_deadly(runtime: LocalBackend, world: World, body: str) -> None:
    root = world(HEAD + f"def ping(): return 1\ndef tool():\n    {body.strip()}\n")
    instance, sibling = await runtime.open(root), await runtime.open(root)
    assert (await instance.call("tool", {})).error == "crashed"
    assert (await sibling.call("ping", {})).value == 1


async def test_what_would_send_signals_by_the_kernel_is_refused(runtime: LocalBackend, world: World) -> None:
    root = world(
        HEAD
        + """
def tool():
    calls = [libc.fcntl(0, command, 9) for command in (8, 10, 1024)]  # F_SETOWN, F_SETSIG, F_SETLEASE
    return [*calls, libc.prctl(1, 0, 0, 0, 0), libc.prctl(4, 1, 0, 0, 0)]
"""
    )
    instance = await runtime.open(root)
    assert (await instance.call("tool", {})).value == [-1] * 5


WALLS = """
import os, sys
sys.path.insert(0, {here!r})
from inside import filters, kernel
kernel.gain_no_privileges()
kernel.give_up_privileges()
filters.restrict_calls(alone={alone}, program={program})
"""
WORK = """
import asyncio, concurrent.futures, csv, fcntl, json, mmap, os, pathlib, queue, select, shutil, socket, sqlite3
import tempfile, threading, time, zipfile

def files():
    root = pathlib.Path("work"); root.mkdir()
    (root / "a.txt").write_text("x" * 10_000)
    with open(root / "a.txt", "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with mmap.mmap(file.fileno(), 0) as view: view[0] = 121
        file.truncate(100); os.fsync(file.fileno())
    shutil.copyfile(root / "a.txt", root / "b.txt")
    os.link(root / "a.txt", root / "c.txt"); os.rename(root / "c.txt", root / "d.txt"); os.mkfifo(root / "pipe")
    with zipfile.ZipFile("all.zip", "w") as archive: archive.write(root / "b.txt")
    with tempfile.TemporaryDirectory(dir=".") as folder: (pathlib.Path(folder) / "f").touch()
    names = sorted(os.listdir(root)); shutil.rmtree(root)
    return names

def databases():
    connection = sqlite3.connect("x.sqlite")
    connection.execute("PRAGMA journal_mode=WAL")
    with connection:
        connection.execute("CREATE TABLE t (n)")
        connection.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(1000)])
    connection.execute("VACUUM")
    return connection.execute("SELECT sum(n) FROM t").fetchone()[0]

def threads():
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        return sum(pool.map(lambda n: n * n, range(10)))

def loops():
    async def main():
        reader, writer = os.pipe()
        os.write(writer, b"x")
        await asyncio.wait_for(asyncio.sleep(0.001), 5)
        return await asyncio.to_thread(os.read, reader, 1) == b"x"
    return asyncio.run(main())
"""


@pytest.mark.parametrize("alone", [False, True])
def test_ordinary_work_goes_on(alone: bool, tmp_path: Path) -> None:
    work = WORK + "print([files(), databases(), threads(), loops()])"
    here = str(Path(calls.__file__).parent.parent)
    source = WALLS.format(here=here, alone=alone, program=False) + work
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.stdout == "[['a.txt', 'b.txt', 'd.txt', 'pipe'], 499500, 285, True]\n", done.stderr


async def test_programs_may_be_started_where_processes_have_a_namespace(world: World) -> None:
    backend = LocalBackend(QUICK)
    await backend.start()
    try:
        if backend.launcher.rung == "confined":
            pytest.skip("no namespaces on this machine")
        instance = await backend.open(
            world(
                "import os, subprocess\ndef tool():\n"
                "    done = subprocess.run(['/usr/bin/sort'], input=b'b\\na\\n', capture_output=True, timeout=5)\n"
                "    return done.stdout.decode()"
            )
        )
        assert (await instance.call("tool", {})).value == "a\nb\n"
    finally:
        await backend.stop()


# --- Programs of another kind -----------------------------------------------------------------------------------------

ASYNC_PROGRAM = """
import asyncio, os, socket, sys, threading
async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    line = await asyncio.wait_for(reader.readline(), 10)
    try: socket.socket()
    except PermissionError: print("no sockets")
    print(await asyncio.to_thread(line.decode().upper), end="")
asyncio.run(main())
"""
NODE_PROGRAM = """
const fs = require('fs'), net = require('net'), readline = require('readline')
const lines = readline.createInterface({input: process.stdin})
lines.once('line', async line => {
  await fs.promises.writeFile(process.argv[2], line)
  const text = await fs.promises.readFile(process.argv[2], 'utf8')
  require('zlib').gzip(text, () => {
    const socket = net.connect(9, '127.0.0.1')
    socket.on('error', error => { console.log(error.code); console.log(text.toUpperCase()); process.exit(0) })
  })
})
"""


def under_the_filter(arguments: list[str], alone: bool) -> str:
    here = str(Path(calls.__file__).parent.parent)
    source = WALLS.format(here=here, alone=alone, program=True) + "os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-S", "-c", source, *arguments]
    done = subprocess.run(command, input="hello\n", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("alone", [False, True])
def test_an_asyncio_program_runs_under_the_filter_for_programs(alone: bool) -> None:
    assert under_the_filter([sys.executable, "-I", "-c", ASYNC_PROGRAM], alone) == "no sockets\nHELLO\n"


@pytest.mark.parametrize("alone", [False, True])
def test_node_runs_under_the_filter_for_programs(alone: bool, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    script = tmp_path / "program.js"
    script.write_text(NODE_PROGRAM)
    assert under_the_filter([node, str(script), str(tmp_path / "out")], alone) == "EPERM\nHELLO\n"


@pytest.mark.parametrize("machine", [X86, ARM])
def test_where_landlock_does_not_guard_lengths_the_filter_does(machine: str) -> None:
    """Landlock below version 3: no right is asked for `truncate`, nor for emptying what is opened for reading."""
    column = (X86, ARM).index(machine)
    number = {name: numbers[column] for name, numbers in calls.FILES.items()}
    read_only, write_only, emptying = 0, 1, 0o1000
    asked = [
        ("truncate", (0, 0), "EPERM"),
        ("openat", (0, 0, read_only | emptying), "EPERM"),
        ("openat", (0, 0, read_only), ALLOW),
        ("openat", (0, 0, write_only | emptying | 0o100), ALLOW),
        ("ftruncate", (3, 0), ALLOW),
    ]
    if machine == X86:
        asked += [("open", (0, read_only | emptying), "EPERM"), ("open", (0, write_only | emptying), ALLOW)]
    for guarded in (True, False):
        steps = call_filter(machine, True, False, guarded)
        for name, arguments, wanted in asked:
            found = verdict(steps, AUDIT[machine], number[name], *arguments)
            assert found == (ALLOW if guarded else wanted), (name, arguments)
