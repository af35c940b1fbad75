"""Containment of memory, disk, and output."""

import asyncio

from agent_world.evals.bench.cases.hostile import FAILED, hostile
from agent_world.evals.bench.lab import Lab, must
from agent_world.evals.bench.registry import case
from agent_world.tools.runtime import Observation

FULL = ("exception", "tool_error", "crashed", "timeout")
HEAVY = ("exception", "tool_error", "crashed", "out_of_memory", "timeout")

hostile("ten gigabytes at once", "return len(bytearray(10_000_000_000))", errors=HEAVY)
hostile("memory in endless pieces", "keep = []\nwhile True: keep.append(bytearray(1_000_000))", errors=HEAVY)
hostile(
    "memory mapped in one piece",
    "import mmap\nm = mmap.mmap(-1, 4_000_000_000)\nfor n in range(0, len(m), 4096): m[n] = 1",
    errors=HEAVY,
)
hostile("shared memory mapped in pieces", "import mmap\nkeep = []\nwhile True:\n    m = mmap.mmap(-1, 16_000_000)\n"
        "    m[::4096] = b'x' * len(m[::4096])\n    keep.append(m)", errors=HEAVY)  # fmt: skip
hostile("a text that doubles", "x = 'x'\nwhile True: x += x", errors=HEAVY)

hostile("one endless file", "with open('big', 'wb') as f:\n    while True: f.write(b'x' * 1_000_000)", errors=FULL)
hostile(
    "many files",
    "for n in range(1000):\n    with open(f'f{n}', 'wb') as f: f.write(b'x' * 1_000_000)",
    "disk",
    errors=FULL,
)
hostile("many empty files", "for n in range(100_000): open(f'f{n}', 'w').close()", "disk", errors=FULL)
hostile("folders in folders", "for n in range(100_000):\n    os.mkdir('d')\n    os.chdir('d')", "disk", errors=FULL)
hostile("a sparse file over the limit", "os.truncate(os.open('sparse', os.O_CREAT | os.O_RDWR), 10**12)", errors=FULL)
hostile(
    "an allocation over the limit", "os.posix_fallocate(os.open('big', os.O_CREAT | os.O_RDWR), 0, 10**11)", errors=FULL
)
hostile("memory as files", "keep = []\nwhile True:\n    fd = os.memfd_create('x')\n    os.write(fd, b'x' * 1_000_000)\n"
        "    keep.append(fd)", errors=FULL)  # fmt: skip
hostile("all descriptors", "keep = []\nwhile True: keep.append(os.open('items.json', os.O_RDONLY))", errors=FULL)
hostile("all pipes", "keep = []\nwhile True:\n    r, w = os.pipe()\n    keep += [r, w]", errors=FULL)

hostile("two hundred megabytes printed", "for _ in range(2000): print('x' * 100_000)\nreturn 5", "tool_code",
        value=lambda v: v == 5)  # fmt: skip
hostile("raw writes to standard output and error", "os.write(1, b'x' * 100_000)\nos.write(2, b'x' * 100_000)\n"
        "return 5", "tool_code", value=lambda v: v == 5)  # fmt: skip
hostile("sixty-four megabytes returned", "return 'x' * 64_000_000", errors=FAILED)
hostile("a list of a million numbers", "return list(range(1_000_000))", errors=FAILED)
hostile("a value of a hundred thousand levels", "v = []\nfor _ in range(100_000): v = [v]\nreturn v", errors=FAILED)
hostile("a value of nine hundred levels", "v = []\nfor _ in range(900): v = [v]\nreturn v")
hostile("an integer of ten thousand digits", "return 10 ** 10_000")
hostile("an error with ten megabytes to say", "raise ValueError('x' * 10_000_000)", errors=FAILED)
hostile("an error that cannot be shown", "class E(Exception):\n    def __str__(self): raise E\nraise E", errors=FAILED)
hostile(
    "an error that claims to be another", "class E(Exception):\n    code = 'timeout'\nE.__name__ = 'ToolError'\nraise E"
)


@case("containment", "sparse files neither fill a snapshot nor stop the state from being read", "tool_code")
async def sparse(lab: Lab) -> None:
    body = "for n in range(200): os.truncate(os.open(f's{n % 50}', os.O_CREAT | os.O_RDWR), 7_000_000)"
    _, instance = await lab.attack(body)
    changes = (await instance.diff()).changes
    must(changes, "the sparse files are not in the diff.")
    try:
        size = len(await instance.snapshot())
    except Exception as error:
        must(type(error).__name__ == "SandboxError", f"the snapshot raised {type(error).__name__}: {error}")
        return
    must(size <= 2 * lab.limits.disk_mb * 1024 * 1024, f"a snapshot of {size} bytes was made of sparse files.")


@case("containment", "memory hogs together stay below the bound over all instances", "total_memory")
async def hogs(lab: Lab) -> None:
    body = "globals()['keep'] = bytearray(150_000_000)\ntime.sleep(0.8)\nreturn 1"
    async with lab.other_runtime(total_memory_mb=300, call_timeout_s=10.0) as runtime:
        hogs = [await runtime.open(lab.standard) for _ in range(5)]
        sibling = await runtime.open(lab.standard)
        seen: list[Observation] = await asyncio.gather(*(hog.call("execute", {"body": body}) for hog in hogs))
        await lab.answers(sibling, "a sibling of memory hogs")
        refused = [one.error for one in seen if not one.ok]
        must(refused, "five instances took 150 MB each where 300 MB is the most over all.")
        must(set(refused) <= set(HEAVY), f"they ended with {refused}.")
        for hog in hogs:
            await hog.reset()
            await lab.answers(hog, "a memory hog after reset")
