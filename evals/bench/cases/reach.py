"""Containment of reach: files of the machine, its network, our secrets."""

import sys
from typing import Any

from agent_world.evals.bench.cases.hostile import FAILED, hostile
from agent_world.evals.bench.lab import Lab, must, same
from agent_world.evals.bench.registry import case

hostile("reading a file outside that anyone may read", "return open('@CANARY@').read()", "walls", errors=FAILED)
hostile("writing a file outside that anyone may write", "open('@CANARY@', 'w').write('x')", "walls", errors=FAILED)
hostile(
    "appending to it by a raw descriptor",
    "os.write(os.open('@CANARY@', os.O_WRONLY | os.O_APPEND), b'x')",
    "walls",
    errors=FAILED,
)
hostile("truncating it", "os.truncate('@CANARY@', 0)", "walls", errors=FAILED)
hostile("removing it", "os.remove('@CANARY@')", "walls", errors=FAILED)
hostile("renaming it", "os.rename('@CANARY@', 'mine')", "walls", errors=FAILED)
hostile("moving a file beside it", "open('x', 'w').close()\nos.rename('x', '@CANARY@.x')", "walls", errors=FAILED)
hostile("changing its mode", "os.chmod('@CANARY@', 0o777)", "walls", errors=FAILED)
hostile("changing its times", "os.utime('@CANARY@', (5, 5))", "walls", errors=FAILED)
hostile("changing its extended attributes", "os.setxattr('@CANARY@', 'user.x', b'x')", "walls", errors=FAILED)
hostile("changing its owner", "os.chown('@CANARY@', os.getuid(), os.getgid())", "walls", errors=FAILED)
hostile("a hard link to it", "os.link('@CANARY@', 'mine')\nreturn open('mine').read()", "walls", errors=FAILED)
hostile("a symbolic link to it", "os.symlink('@CANARY@', 'mine')\nreturn open('mine').read()", "walls", errors=FAILED)
hostile("a folder of ours by way of the parent", "return open('../' * 12 + '@CANARY@').read()", "walls", errors=FAILED)
hostile("listing its folder", "return os.listdir(os.path.dirname('@CANARY@'))", "walls", errors=FAILED)
hostile("watching it", """
import ctypes
libc = ctypes.CDLL(None)
return libc.inotify_add_watch(libc.inotify_init(), b'@CANARY@', 0xfff)
""", "walls", value=lambda v: v == -1)  # fmt: skip

for _place in ("/x", "/tmp/x", "/usr/x", "/etc/x", "/dev/x", "/dev/shm/x", "../x"):
    hostile(f"a new file at {_place}", f"open({_place!r}, 'w')", "bare", errors=FAILED)
hostile("a new file at the interpreter", f"open({sys.base_prefix + '/x'!r}, 'w')", "bare", errors=FAILED)
hostile(
    "a module of the interpreter rewritten", "import json\nopen(json.__file__, 'a').write('#')", "walls", errors=FAILED
)
hostile(
    "its own standard library as a place for code",
    "import json\nopen(os.path.dirname(json.__file__) + '/x.py', 'w')",
    "walls",
    errors=FAILED,
)

_LOOK = """
found = []
for path in @PATHS@:
    try: found.append([path, sorted(os.listdir(path))[:50] if os.path.isdir(path) else open(path, 'rb').read(50).hex()])
    except OSError: pass
return found
"""
_SYSTEM = ["/etc/passwd", "/etc/shadow", "/etc/hosts", "/root", "/home", "/var", "/tmp", "/sys", "/run", "/boot",
           "/mnt", "/opt", "/srv", "/db/../etc/passwd", "/dev/mem", "/dev/kmsg", "/dev/shm"]  # fmt: skip
_PROC = ["/proc/1/environ", "/proc/self/environ", "/proc/self/maps", "/proc/1/root/etc/passwd", "/proc/1/cwd",
         "/proc/cpuinfo", "/proc/self/fd", "/proc/kcore", "/proc/net/tcp", "/proc/mounts"]  # fmt: skip
hostile("files of /proc", _LOOK.replace("@PATHS@", repr(_PROC)), "bare", value=lambda v: v == [])
_ROOTS = """
found = []
for path in ('/', '..'):
    try: found += os.listdir(path)
    except OSError: pass
return sorted(set(found) & {'etc', 'proc', 'tmp', 'home', 'root', 'var', 'sys'})
"""


def _on_the_way(lab: Lab, folder: str) -> set[str]:
    """Names in a folder that lead to what is there by design."""
    return {path.removeprefix(f"{folder}/").partition("/")[0] for path in lab.readable if path.startswith(f"{folder}/")}


async def _looked(lab: Lab, body: str) -> Any:
    seen, instance = await lab.attack(body)
    lab.traps.check(str(await instance.diff()))
    must(seen.ok, f"it ended with {seen.text[:200]}.")
    return seen.value["value"]


@case("containment", "files of the system", "bare")
async def system_files(lab: Lab) -> None:
    for path, shown in await _looked(lab, _LOOK.replace("@PATHS@", repr(_SYSTEM))):
        by_design = isinstance(shown, list) and set(shown) <= _on_the_way(lab, path) != set()
        must(by_design, f"{path} is there, and shows {shown}.")


@case("containment", "the root folder and the parent", "bare")
async def roots(lab: Lab) -> None:
    names = set(await _looked(lab, _ROOTS)) - _on_the_way(lab, "")
    must(not names, f"they show {sorted(names)}.")


hostile("our secret in its environment", "return dict(os.environ)", value=lambda v: len(v) < 20)
hostile("our secret in every environment there is", """
found = []
for pid in [str(n) for n in range(1, 400)] + ['self', 'thread-self', str(os.getppid())]:
    try: found.append(open(f'/proc/{pid}/environ').read())
    except OSError: pass
return found
""")  # fmt: skip
hostile("our memory", "return open(f'/proc/{os.getppid()}/mem', 'rb').read(10).hex()", errors=FAILED)
hostile("our secret in its own memory", """
import ctypes, gc
found = [o for o in gc.get_objects() if isinstance(o, dict)]
return [str(o)[:80] for o in found if any('API_KEY' in str(k) for k in list(o)[:200])]
""")  # fmt: skip

hostile("a TCP connection to loopback", "socket.create_connection(('127.0.0.1', @PORT@), 0.5)", "walls", errors=FAILED)
hostile(
    "a UDP packet to loopback",
    "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', @PORT@))",
    "walls",
    errors=FAILED,
)
hostile("a TCP connection over IPv6", "socket.create_connection(('::1', @PORT@), 0.5)", "walls", errors=FAILED)
hostile("a connection to the world", "socket.create_connection(('1.1.1.1', 53), 0.5)", "walls", errors=FAILED)
hostile("a name looked up", "socket.getaddrinfo('example.org', 80)", "walls", errors=FAILED)
hostile("a listener of its own", "socket.create_server(('127.0.0.1', 0))", "walls", errors=FAILED)
hostile("a unix socket", "s = socket.socket(socket.AF_UNIX)\ns.connect('/run/docker.sock')", "walls", errors=FAILED)
hostile(
    "an abstract unix socket",
    "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\ns.sendto(b'x', '\\0x')",
    "walls",
    errors=FAILED,
)
hostile("a netlink socket", "socket.socket(16, socket.SOCK_RAW, 0).bind((0, 0))\nraise OSError", "walls", errors=FAILED)
hostile("a raw socket", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", "walls", errors=FAILED)
hostile("a packet socket", "socket.socket(17, socket.SOCK_RAW, 3)", "walls", errors=FAILED)
hostile("a virtual socket to the host", "socket.socket(40, socket.SOCK_STREAM)\nraise OSError", "walls", errors=FAILED)
hostile(
    "HTTP by the standard library",
    "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:@PORT@/', timeout=0.5)",
    "walls",
    errors=FAILED,
)


@case("containment", "files of a sibling", "walls")
async def sibling_files(lab: Lab) -> None:
    victim, thief = await lab.open(), await lab.open()
    await victim.call(
        "execute",
        {"body": f"open('private.txt', 'w').write({lab.traps.secret[::-1]!r})\nos.chmod('private.txt', 0o644)"},
    )
    body = """
found = []
for top in ('/db', '/dev/shm', '/tmp', '/run', '/var/tmp', os.path.dirname(os.getcwd()), '/proc'):
    for folder, _, names in os.walk(top):
        for name in names:
            if name == 'private.txt':
                try: found.append(open(os.path.join(folder, name)).read())
                except OSError as error: found.append(str(error))
return found
"""
    seen = await thief.call("execute", {"body": body})
    must(lab.traps.secret[::-1] not in seen.text, f"the file of a sibling was read: {seen.text[:200]}")
    await lab.answers(victim, "the sibling")


@case("containment", "module-level code runs inside alone", "tool_code", "walls")
async def module_level(lab: Lab) -> None:
    mark = lab.traps.canary.with_name(f"mark-{lab.folder.name}")
    root = lab.bare(f"open({str(mark)!r}, 'w').write('ran')\ndef ping(): return 1\n")
    instance = await lab.open(root)
    same((await instance.call("ping", {})).error, "exception", "error")
    must(not mark.exists(), "tools.py ran outside of an instance.")


@case("containment", "an endless module is a timeout of its first call", "tool_code")
async def endless_module(lab: Lab) -> None:
    instance = await lab.open(lab.bare("while True: pass\ndef ping(): return 1\n"))
    same((await instance.call("ping", {})).error, "timeout", "error")
