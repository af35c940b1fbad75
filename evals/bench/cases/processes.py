"""Containment of processes, privileges, and system calls."""

import platform

from agent_world.evals.bench.cases.hostile import FAILED, hostile
from agent_world.evals.bench.lab import Lab, must, same
from agent_world.evals.bench.registry import case

hostile("a fork bomb", """
n = 0
try:
    while True:
        if os.fork() == 0: time.sleep(60)
        n += 1
except OSError:
    return n
""", "walls", errors=("out_of_memory",), value=lambda v: v < 64)  # fmt: skip
hostile(
    "a fork bomb whose children bomb",
    "while True:\n    try: os.fork()\n    except OSError: time.sleep(0.01)",
    "walls",
    errors=("timeout", "crashed", "invalid_output", "out_of_memory"),
)
hostile("threads without end", """
n = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        n += 1
except RuntimeError:
    return n
""", "walls", value=lambda v: v < 64)  # fmt: skip
hostile(
    "a program started to read outside",
    "import subprocess\nreturn subprocess.run(['/bin/cat', '@CANARY@'], capture_output=True).stdout.decode()",
)
hostile("a shell started to read outside", "return os.popen('cat @CANARY@; env').read()")
hostile("a program by os.system", "return os.system('echo x > @CANARY@') or 1")
hostile("a program by posix_spawn", "return os.posix_spawn('/bin/sh', ['sh', '-c', 'echo x > @CANARY@'], {})")
hostile(
    "another interpreter",
    "import subprocess\ncode = 'print(open(\"@CANARY@\").read())'\n"
    "return subprocess.run([sys.executable, '-c', code], capture_output=True).stdout.decode()",
)
hostile("itself replaced by another program", "os.execv('/bin/sh', ['sh', '-c', 'cat @CANARY@'])", errors=FAILED)
hostile(
    "a pool of processes", "import multiprocessing\nreturn multiprocessing.get_context('fork').Pool(4).map(len, ['a'])"
)
hostile("a process left behind", "if os.fork() == 0:\n    time.sleep(30)\n    os._exit(0)\nreturn 1")

# Signal 0 asks who could be reached, and would hurt nobody if the walls were down. Its own are its threads, and the
# process that began its namespace, which is there for it alone.
hostile("signals to anybody", """
found = []
own = {os.getpid(), *(thread.native_id for thread in threading.enumerate())}
if (os.getppid(), os.getpid()) == (1, 2): own.add(1)
for pid in (-1, os.getppid() or 99999, @PID@, *range(1, 1000)):
    if pid in own: continue
    try: os.kill(pid, 0)
    except OSError: continue
    found.append(pid)
return found
""", "walls", value=lambda v: v == [])  # fmt: skip
hostile("a signal to its own group", "os.kill(0, 9)\nreturn 1", "walls")
hostile("a stop to its own group", "os.kill(0, 19)\nreturn 1", "walls")
hostile("a signal to its group by number", "os.killpg(os.getpgid(0) or 99999, 9)\nreturn 1", "walls")

_PRIVILEGES = """
import ctypes, fcntl, resource
libc = ctypes.CDLL(None, use_errno=True)
def raw(code):
    if code < 0: raise OSError(ctypes.get_errno())
def higher(limit):
    hard = resource.getrlimit(limit)[1]
    if hard == resource.RLIM_INFINITY: raise OSError
    resource.setrlimit(limit, (hard + 1, hard + 1))
def boundless():
    limits = (resource.RLIMIT_AS, resource.RLIMIT_DATA)
    if any(resource.getrlimit(limit)[1] != resource.RLIM_INFINITY for limit in limits): raise OSError
found = []
for name, call in {
    'setuid': lambda: os.getuid() and os.setuid(0) or (not os.getuid() and raw(-1)),
    'setgid': lambda: os.getgid() and os.setgid(0) or (not os.getgid() and raw(-1)),
    'setgroups': lambda: os.setgroups([0]),
    'mount': lambda: raw(libc.mount(b'tmpfs', b'/usr', b'tmpfs', 0, None)),
    'unmount': lambda: raw(libc.umount2(b'/usr', 2)),
    'chroot': lambda: os.chroot('/usr'),
    'hostname': lambda: socket.sethostname('x'),
    'clock': lambda: time.clock_settime(time.CLOCK_REALTIME, 0),
    'unshare user': lambda: raw(libc.unshare(0x10000000)),
    'unshare mounts': lambda: raw(libc.unshare(0x00020000)),
    'device': lambda: os.mknod('dev', 0o60666, os.makedev(8, 0)),
    'no memory limit': boundless,
    'memory limit': lambda: higher(resource.RLIMIT_AS),
    'data limit': lambda: higher(resource.RLIMIT_DATA),
    'priority': lambda: os.nice(-5),
    'reboot': lambda: raw(libc.reboot(0)),
    'swap': lambda: raw(libc.swapoff(b'/x')),
    'dumpable': lambda: raw(libc.ptrace(16, os.getppid() or 1, 0, 0)),
    'kernel log': lambda: raw(libc.klogctl(3, b' ' * 10, 10)),
    'accounting': lambda: raw(libc.acct(b'/db/x')),
}.items():
    try: call()
    except (OSError, ValueError, PermissionError): continue
    found.append(name)
return found
"""
hostile("privileges taken back", _PRIVILEGES, "walls", value=lambda v: v == [])

_CAPABILITIES = """
import ctypes
libc = ctypes.CDLL(None)
held = (ctypes.c_uint32 * 6)(*[9] * 6)
libc.capget((ctypes.c_uint32 * 2)(0x20080522, 0), held)
return [list(held), libc.prctl(39, 0, 0, 0, 0)]
"""
"""The last is PR_GET_NO_NEW_PRIVS."""
hostile("no capability, and none to be gained", _CAPABILITIES, "walls", value=lambda v: v == [[0] * 6, 1])

_CALLS = {
    "x86_64": {"clone new user": (56, 0x10000011), "ptrace": (101, 16, 1), "setns": (308, 0, 0), "pivot_root": (155,),
               "init_module": (175,), "kexec_load": (246,), "bpf": (321, 0), "perf_event_open": (298, 0),
               "userfaultfd": (323, 0), "keyctl": (250, 0, 0), "add_key": (248,), "io_uring_setup": (425, 1),
               "process_vm_readv": (310, 1), "process_vm_writev": (311, 1), "open_by_handle_at": (304, 0),
               "name_to_handle_at": (303, 0), "fanotify_init": (300, 0), "move_mount": (429,), "fsopen": (430,),
               "open_tree": (428, -100), "mount_setattr": (442,), "pidfd_getfd": (438, 0, 0), "iopl": (172, 3),
               "ioperm": (173, 0, 1, 1), "quotactl": (179,), "kcmp": (312, 1, 1), "settimeofday": (164,),
               "adjtimex write": (159, 0), "syslog": (103, 2), "lookup_dcookie": (212,), "vhangup": (153,)},
    "aarch64": {"ptrace": (117, 16, 1), "setns": (268, 0, 0), "pivot_root": (41,), "bpf": (280, 0),
                "perf_event_open": (241, 0), "userfaultfd": (282, 0), "keyctl": (219, 0, 0), "io_uring_setup": (425, 1),
                "process_vm_readv": (270, 1), "open_by_handle_at": (265, 0), "move_mount": (429,), "fsopen": (430,),
                "pidfd_getfd": (438, 0, 0), "settimeofday": (170,)},
}  # fmt: skip
for _name, _number in _CALLS.get(platform.machine(), {}).items():
    hostile(
        f"the system call {_name}",
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nlibc.syscall.restype = ctypes.c_long\n"
        f"numbers = [ctypes.c_long(n) for n in {_number!r} + (0,) * {7 - len(_number)}]\n"
        "return [libc.syscall(*numbers), ctypes.get_errno()]",
        "walls",
        value=lambda v: v[0] == -1 and v[1] in (1, 2, 13, 22, 38),
    )

if platform.machine() == "x86_64":
    _CODE = """
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes.fromhex('@CODE@'))
return ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
"""
    # mov eax, 20 (32-bit getpid); int 0x80; ret — and mov eax, 0x40000027 (x32 getpid); syscall; ret
    hostile("a 32-bit system call", _CODE.replace("@CODE@", "b814000000cd80c3"), "walls", errors=FAILED)
    hostile("a system call of the x32 kind", _CODE.replace("@CODE@", "b8270000400f05c3"), "walls")


@case("containment", "no descriptor but its channel", "tool_code", "walls")
async def descriptors(lab: Lab) -> None:
    body = """
found = []
for fd in range(64):
    try: found.append((fd, os.fstat(fd).st_mode >> 12))
    except OSError: pass
return found
"""
    seen, _ = await lab.attack(body)
    kinds = {fd: kind for fd, kind in seen.value["value"]}
    same([kinds.pop(fd, None) for fd in range(3)], [2, 2, 2], "kinds of descriptors 0 to 2 (2 is a device)")
    # One socket (12), or a pipe (1) in and one out.
    must(sorted(kinds.values()) in ([], [12], [1, 1]), f"more than one channel is open: {kinds}.")


@case("containment", "a program that ends the tools' process")
async def kills_parent(lab: Lab) -> None:
    instance = await lab.open()
    source = """
import os
def solve():
    for pid in (os.getppid(), 1):
        try: pid and os.kill(pid, 9)
        except OSError: pass
    return 1
"""
    await instance.run(source, "solve", {})
    await lab.answers(instance, "an instance whose program killed around itself")
    lab.traps.check()
