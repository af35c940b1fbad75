import asyncio
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent_world.errors import SandboxError, UsageError
from agent_world.schema import StateDiff
from agent_world.settings import McpRuntime
from agent_world.tools.runtime import Runtime, open_runtime

NOTES = ("{python}", str(Path(__file__).parent / "mcp_notes.py"))
pytestmark = [pytest.mark.server, pytest.mark.asyncio(loop_scope="module")]

TINY = """
import json, sys
def say(**fields): print(json.dumps({"jsonrpc": "2.0", **fields}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    match asked["method"]:
        case "initialize":
            say(id=asked["id"], result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "tiny", "version": "1"}})
        case "tools/list":
            at = int((asked.get("params") or {}).get("cursor", 0))
            tool = {"name": NAMES[at], "inputSchema": {"type": "object", "properties": {}}}
            more = {"nextCursor": str(at + 1)} if at + 1 < len(NAMES) else {}
            say(id=asked["id"], result={"tools": [tool], **more})
        case "tools/call":
            ANSWER
"""
"""A server in the standard library alone, which starts at once."""


def tiny(answer: str, *names: str) -> tuple[str, ...]:
    return ("{python}", "-c", TINY.replace("NAMES", repr(names or ("go",))).replace("ANSWER", answer))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A bundle of two files, without a tools.json."""
    (tmp_path / "notes" / "database").mkdir(parents=True)
    (tmp_path / "notes" / "database" / "first.txt").write_text("hello")
    (tmp_path / "notes" / "database" / "rows.json").write_text('[{"id": 1, "zip": "02138"}]')
    return tmp_path / "notes"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime() -> AsyncIterator[Runtime]:
    async with open_runtime(McpRuntime(command=NOTES, observation_chars=200)) as r:
        yield r


def message(text: str) -> str:
    found: str = json.loads(text)["error"]["message"]
    return found


async def test_calls_change_the_files_of_one_instance_and_reset_brings_them_and_a_fresh_server_back(
    runtime: Runtime, notes: Path
) -> None:
    one, other = await asyncio.gather(runtime.open(notes), runtime.open(notes))
    start = await one.state_hash()
    written = await one.call("write_note", {"name": "second.txt", "text": "x"})
    assert written.value == {"name": "second.txt", "size": 1}
    assert [(c.key, c.kind, c.after) for c in (await one.diff()).changes] == [("second.txt", "added", {"text": "x"})]
    assert not (await other.call("read_note", {"name": "second.txt"})).ok
    assert await other.diff() == StateDiff()
    assert [(await one.call("count_uses", {})).value["used"] for _ in range(2)] == [1, 2]
    kept = await one.snapshot()
    await one.reset()
    assert await one.state_hash() == start
    assert (await one.call("count_uses", {})).value["used"] == 1
    await one.restore(kept)
    assert (await one.call("read_note", {"name": "second.txt"})).value == "x"
    assert sorted(path.name for path in (notes / "database").iterdir()) == ["first.txt", "rows.json"]


async def test_observations_have_one_form_whatever_the_server_sends(runtime: Runtime, notes: Path) -> None:
    instance = await runtime.open(notes)
    assert (await instance.call("read_note", {"name": "first.txt"})).text == '"hello"'
    assert (await instance.call("read_note", {"name": "rows.json"})).value == [{"id": 1, "zip": "02138"}]
    seen = (await instance.call("picture", {})).value
    assert (seen["type"], seen["mime_type"], seen["bytes"], len(seen["sha256"])) == ("image", "image/png", 4, 64)
    refused = await instance.call("refuse", {})
    assert (refused.error, "not today" in message(refused.text)) == ("tool_error", True)
    long = await instance.call("attempt", {"code": "'x' * 1000"})
    assert long.truncated
    assert long.text.endswith("… [truncated: 200 of 1008 characters]")
    wrong = await instance.call("read_note", {"path": "first.txt"})
    assert (wrong.error, "no argument 'path'" in message(wrong.text)) == ("invalid_arguments", True)
    assert (await instance.call("burn", {})).error == "unknown_tool"


async def test_a_tool_that_says_it_only_reads_and_writes_is_reported(runtime: Runtime, notes: Path) -> None:
    instance = await runtime.open(notes)
    assert not (await instance.call("read_note", {"name": "first.txt"})).impure
    assert (await instance.call("peek", {"name": "first.txt"})).impure
    assert not (await instance.call("peek", {"name": "first.txt"})).impure  # it writes the same again


async def test_a_hanging_server_dies_at_its_deadline_with_its_children_and_the_next_call_finds_its_files(
    notes: Path,
) -> None:
    async with open_runtime(McpRuntime(command=NOTES, call_timeout_s=1)) as runtime:
        instance = await runtime.open(notes)
        hung = await instance.call("hang", {})
        assert (hung.error, message(hung.text)) == ("timeout", "hang took more than 1 s.")
        ticks = await instance.state_hash()
        await asyncio.sleep(0.1)
        assert await instance.state_hash() == ticks
        assert set((await instance.call("read_note", {"name": "ticks"})).value.split()) == {"x"}


async def test_a_dying_server_is_a_crash_with_its_last_words_and_the_next_call_gets_a_fresh_one(
    runtime: Runtime, notes: Path
) -> None:
    instance = await runtime.open(notes)
    died = await instance.call("die", {})
    assert (died.error, "out of memory of last week" in message(died.text)) == ("crashed", True)
    assert (await instance.call("count_uses", {})).value["used"] == 1


async def test_a_program_uses_the_server_s_tools_and_sees_none_of_its_files(runtime: Runtime, notes: Path) -> None:
    instance = await runtime.open(notes)
    source = """
import os
def main(tools, name):
    tools.write_note(name=name, text="abc")
    try:
        tools.refuse()
    except ToolError as error:
        code = error.code
    print("printed")
    return {"text": tools.read_note(name=name), "code": code, "files": os.listdir(".")}
"""
    result = await instance.run(source, "main", {"name": "third.txt"})
    assert result.value == {"text": "abc", "code": "tool_error", "files": []}
    assert [(tool, seen.ok) for tool, _, seen in result.calls] == [
        ("write_note", True), ("refuse", False), ("read_note", True),
    ]  # fmt: skip
    assert result.output == "printed\n"
    assert [change.key for change in (await instance.diff()).changes] == ["third.txt"]
    assert (await instance.run("def main(): raise KeyError('k')", "main", {})).error == "KeyError: 'k' (line 1)"
    assert (await instance.run("import os\ndef main(): os._exit(0)", "main", {})).error == "crashed"


async def test_a_hostile_server_is_contained(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_OURS", "hunter2")
    async with open_runtime(McpRuntime(command=NOTES, observation_chars=2000)) as late:
        instance = await late.open(notes)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(0)
            port = listener.getsockname()[1]
            wanted = {
                "open('/etc/passwd').read()": "FileNotFoundError",
                "open('/proc/1/environ').read()": "FileNotFoundError",
                "open('/usr/mine', 'w')": "refused",
                "open('/mine', 'w')": "refused",
                "open(__file__, 'a')": "refused",
                "os.listdir('/home')": "FileNotFoundError",
                f"socket.create_connection(('127.0.0.1', {port}))": "refused",
                "socket.socket(socket.AF_UNIX)": "refused",
                "os.kill(-1, 0)": "ProcessLookupError",
                "os.setuid(0)": "refused",
                "os.chroot('.')": "refused",
                "os.unshare(0x10000000) if hasattr(os, 'unshare') else os.chroot('.')": "refused",
                "Path('/scratch/here').write_text('x')": "did 1",
                "sorted(os.listdir('/dev'))": "did ['null', 'urandom', 'zero']",
            }
            found = {code: (await instance.call("attempt", {"code": code})).value for code in wanted}
            assert found == wanted
            assert await instance.diff() == StateDiff()
            with pytest.raises(BlockingIOError):
                listener.accept()
        seen = (await instance.call("attempt", {"code": "sorted(os.environ)"})).text
        assert "HOME" in seen
        assert "SECRET_OF_OURS" not in seen


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("no-such-server",), r"did not start.*status 127: no program 'no-such-server' in the sandbox"),
        (("{python}", "-c", "raise SystemExit('out of order')"), r"did not start.*status 1: out of order\."),
        (("{python}", "-c", "import time; time.sleep(60)"), r"did not answer within 1 s\."),
        (
            ("{python}", "-c", "print('{oops', flush=True); input(); input()"),
            r"wrote what is no message of the protocol",
        ),
        (
            ("{python}", "-c", "print('x' * 5_000_000, flush=True); input(); input()"),
            r"a line of more than 4194304 bytes",
        ),
    ],
)
async def test_a_server_that_does_not_start_is_one_sentence(notes: Path, command: tuple[str, ...], says: str) -> None:
    limit = 1 if "within 1 s" in says else 30
    async with open_runtime(McpRuntime(command=command, start_timeout_s=limit)) as runtime:
        with pytest.raises(SandboxError, match=says) as raised:
            await runtime.open(notes)
    assert "\n" not in str(raised.value)


async def test_what_breaks_the_protocol_or_json_is_an_observation(notes: Path) -> None:
    answers = {
        "say(id=asked['id'], result={'content': 7})": "invalid_output",
        "say(id=asked['id'], result={'content': [], 'structuredContent': {'n': float('nan')}})": "invalid_output",
        "say(id=asked['id'], error={'code': -32602, 'message': 'no such tool'})": "tool_error",
        "print('{', flush=True)": "crashed",
        "sys.exit(5)": "crashed",
        "print('{' + 'x' * 5_000_000, flush=True)": "crashed",
        "while True: print('noise', flush=True)": "timeout",
        "while True: print('noise', file=sys.stderr, flush=True)": "timeout",
        "say(id=99, result={})": "timeout",
    }

    async def error(answer: str, code: str) -> str | None:
        limit = 0.5 if code == "timeout" else 30
        async with open_runtime(McpRuntime(command=tiny(answer), call_timeout_s=limit)) as runtime:
            return (await (await runtime.open(notes)).call("go", {})).error

    found = await asyncio.gather(*(error(answer, code) for answer, code in answers.items()))
    assert dict(zip(answers, found, strict=True)) == answers


async def test_a_banner_on_the_standard_output_does_no_harm(notes: Path) -> None:
    command = tiny("print('working'); say(id=asked['id'], result={'content': []})")
    async with open_runtime(McpRuntime(command=(*command[:2], "print('Welcome!')" + command[2]))) as runtime:
        assert (await (await runtime.open(notes)).call("go", {})).text == "null"


async def test_all_pages_of_the_list_become_tools_under_names_that_models_can_write(notes: Path) -> None:
    command = tiny("say(id=asked['id'], result={'structuredContent': asked['params'], 'content': []})", "a", "b.c", "d")
    async with open_runtime(McpRuntime(command=command)) as runtime:
        instance = await runtime.open(notes)
        assert [spec.name for spec in instance.specs] == ["a", "b_c", "d"]
        assert (await instance.call("b_c", {})).value == {"name": "b.c", "arguments": {}}


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("go",), "'back' of tools.json is not offered"),
        (("go", "back", "up"), "offers tool 'up', which tools.json lacks"),
    ],
)
async def test_a_bundle_and_a_server_that_differ_are_told_apart_by_the_tool(
    notes: Path, names: tuple[str, ...], says: str
) -> None:
    schema = {"type": "object", "properties": {}}
    listed = [{"name": name, "description": "", "inputSchema": schema} for name in ("go", "back")]
    (notes / "tools.json").write_text(json.dumps({"tools": listed}))
    async with open_runtime(McpRuntime(command=tiny("pass", *names))) as runtime:
        with pytest.raises(SandboxError, match=says):
            await runtime.open(notes)


async def test_memory_of_a_server_is_bounded(notes: Path) -> None:
    command = tiny("say(id=asked['id'], result={'content': [], 'structuredContent': {'n': len(bytearray(10**9))}})")
    async with open_runtime(McpRuntime(command=command, memory_mb=300)) as runtime:
        seen = await (await runtime.open(notes)).call("go", {})
    assert (seen.error, "MemoryError" in message(seen.text)) == ("crashed", True)


async def test_memory_of_all_servers_together_is_bounded(notes: Path) -> None:
    command = tiny("held = b'1' * (400 * 2**20); import time; time.sleep(60)")
    async with open_runtime(McpRuntime(command=command, total_memory_mb=200)) as runtime:
        instance = await runtime.open(notes)
        assert (await instance.call("go", {})).error == "out_of_memory"
        assert await instance.diff() == StateDiff()


async def test_a_folder_that_is_missing_is_named() -> None:
    with pytest.raises(UsageError, match="needs /no/such/folder, which cannot be read"):
        async with open_runtime(McpRuntime(command=("true",), readable=(Path("/no/such/folder"),))):
            pass
