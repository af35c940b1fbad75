"""Containment of lies: broken processes, forged frames, odd files. What an instance says is not believed."""

from agent_world.errors import SandboxError
from agent_world.evals.bench.cases.hostile import FAILED, hostile
from agent_world.evals.bench.lab import Lab, must, same
from agent_world.evals.bench.registry import case

GONE = ("crashed", "exception", "tool_error", "timeout", "invalid_output")

hostile("recursion", "def f(): return f()\nf()", errors=FAILED)
hostile("recursion through the C stack", "sys.setrecursionlimit(10**9)\ndef f(): return f()\nf()", errors=GONE)
hostile(
    "recursion in a C function",
    "sys.setrecursionlimit(10**9)\nv = []\nfor _ in range(10**6): v = [v]\nreturn repr(v)",
    errors=GONE,
)
hostile("a jump to nowhere", "import ctypes\nctypes.CFUNCTYPE(None)(1)()", errors=GONE)
hostile("an exit", "os._exit(0)", errors=GONE)
hostile("the channel closed", "for fd in range(3, 256):\n    try: os.close(fd)\n    except OSError: pass", "tool_code",
        errors=GONE)  # fmt: skip
hostile("all descriptors closed", "os.closerange(0, 256)", errors=GONE)
hostile(
    "a frame that is no JSON",
    "for fd in range(3, 64):\n    try: os.write(fd, b'\\0\\0\\0\\x05hello')\n    except OSError: pass",
    "tool_code",
    errors=GONE,
)
hostile(
    "a frame of four gigabytes",
    "for fd in range(3, 64):\n    try: os.write(fd, b'\\xff' * 10)\n    except OSError: pass",
    "tool_code",
    errors=GONE,
)
hostile("a frame with another id", """
import json, struct
data = json.dumps({'id': 999_999, 'value': 'forged'}).encode()
for fd in range(3, 64):
    try: os.write(fd, struct.pack('>I', len(data)) + data)
    except OSError: pass
return 1
""", "tool_code", errors=GONE)  # fmt: skip
hostile(
    "half a frame, then silence",
    "for fd in range(3, 64):\n    try: os.write(fd, b'\\0\\0\\1\\0half')\n    except OSError: pass\ntime.sleep(60)",
    "tool_code",
    errors=GONE,
)
hostile("JSON encoding replaced", "import json\njson.dumps = lambda *a, **k: 'NaN'\nreturn 1", "tool_code")
hostile("the garbage collector and modules taken apart", """
import gc
gc.disable()
for name in list(sys.modules):
    if name not in ('sys', 'builtins', 'gc'): sys.modules[name] = None
return 1
""", "tool_code")  # fmt: skip
hostile("chmod 0 on its own folder", "os.chmod('.', 0)\nreturn 1", "tool_code")
hostile("its own files unreadable", "os.chmod('items.json', 0)\nreturn 1")
hostile("a pipe in place of a file", "os.remove('items.json')\nos.mkfifo('items.json')\nreturn 1")
hostile("a folder in place of a file", "os.remove('items.json')\nos.mkdir('items.json')\nreturn 1")
hostile("a link in place of a file", "os.remove('items.json')\nos.symlink('@CANARY@', 'items.json')\nreturn 1")
hostile("a link in place of a folder", "os.symlink(os.path.dirname('@CANARY@'), 'folder')\nreturn 1")
hostile("links that go round", "os.symlink('b', 'a')\nos.symlink('a', 'b')\nos.symlink('.', 'c')\nreturn 1")
hostile(
    "names that are no text",
    "open(b'\\xff\\xfe', 'w').close()\nopen('new\\nline', 'w').close()\nopen('x' * 255, 'w').close()\nreturn 1",
)
hostile("JSON of a hundred thousand levels in the database", "open('items.json', 'w').write('[' * 100_000)\nreturn 1")
hostile(
    "an SQLite file that is none", "open('sales.sqlite', 'wb').write(b'SQLite format 3\\0' + b'\\xff' * 4096)\nreturn 1"
)
hostile("an SQLite schema that lies", """
import sqlite3
c = sqlite3.connect('sales.sqlite')
c.execute('PRAGMA writable_schema = 1')
c.execute("INSERT INTO sqlite_master VALUES ('table', 'x', 'x', 2, 'CREATE VIRTUAL TABLE x USING fts5(a)')")
c.execute("INSERT INTO sqlite_master VALUES ('view', 'v', 'v', 0, 'CREATE VIEW v AS SELECT randomblob(1000000000)')")
c.commit()
return 1
""")  # fmt: skip
hostile("an SQLite trigger and a generated column", """
import sqlite3
c = sqlite3.connect('sales.sqlite')
c.execute('CREATE TABLE heavy (a, b AS (hex(zeroblob(100000000))))')
c.execute('INSERT INTO heavy (a) VALUES (1)')
c.commit()
return 1
""")  # fmt: skip
hostile(
    "a CSV of a million columns", "open('wide.csv', 'w').write(',' * 1_000_000 + '\\n' + ',' * 1_000_000)\nreturn 1"
)
hostile("a YAML bomb", """
lines = ['a: &a [x,x,x,x,x,x,x,x,x]']
for before, name in zip('abcdefgh', 'bcdefghi'): lines.append(f'{name}: &{name} [' + ','.join(['*' + before] * 9) + ']')
open('b.yaml', 'w').write('\n'.join(lines))
return 1
""")  # fmt: skip
hostile(
    "YAML that names a class",
    "open('b.yaml', 'w').write('!!python/object/apply:os.system [\"echo x > @CANARY@\"]')\nreturn 1",
)
hostile("a pickle", """
import pickle
class E:
    def __reduce__(self): return os.system, ('echo x > @CANARY@',)
open('x.pickle', 'wb').write(pickle.dumps(E(), 0))
return 1
""")  # fmt: skip


@case("containment", "a tool that lies about its result is found out by the state", "tool_code")
async def liar(lab: Lab) -> None:
    source = "def set_count(): return {'count': 9}\ndef ping(): return {'pong': 1}\n"
    instance = await lab.open(lab.bare(source, items__json='[{"count": 1}]'))
    same((await instance.call("set_count", {})).value, {"count": 9}, "what the tool says")
    must((await instance.diff()).changes == (), "the diff follows what the tool says.")


@case("containment", "after every kind of odd file, reset brings the database back")
async def reset_after_mess(lab: Lab) -> None:
    instance = await lab.open()
    start = await instance.state_hash()
    body = """
os.remove('items.json')
os.mkfifo('items.json')
os.symlink('/', 'sales.link')
os.mkdir('d')
os.chmod('d', 0)
open(b'\\xff', 'w').close()
return 1
"""
    await instance.call("execute", {"body": body})
    await instance.diff()
    try:
        await instance.snapshot()
    except SandboxError as refusal:
        must(str(refusal), "a refused snapshot gives no reason.")
    await instance.reset()
    same(await instance.state_hash(), start, "state hash after reset")
    await lab.answers(instance, "an instance after reset")


@case("containment", "answers forged ahead mislead its own instance alone, and only until reset", "tool_code")
async def forged_ahead(lab: Lab) -> None:
    body = """
import struct
for n in range(1, 50):
    data = ('{"id": %d, "ask": "ping", "arguments": {}}' % n).encode()
    for fd in range(3, 64):
        try: os.write(fd, struct.pack('>I', len(data)) + data)
        except OSError: pass
return 1
"""
    instance, sibling = await lab.open(), await lab.open()
    await instance.call("execute", {"body": body})
    await instance.call("ping", {})
    await lab.answers(sibling, "a sibling of a forger")
    await instance.reset()
    await lab.answers(instance, "a forger after reset")
