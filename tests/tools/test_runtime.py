import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_world.errors import SandboxError, UsageError
from agent_world.memory.store import Bundle
from agent_world.schema import StateDiff
from agent_world.settings import LocalRuntime
from agent_world.tools.runtime import Runtime, open_runtime

World = Callable[..., Path]


async def test_a_call_gives_the_value_and_the_text_an_agent_sees(runtime: Runtime, library: Bundle) -> None:
    instance = await runtime.open(library.root)
    seen = await instance.call("count_loans_by_book", {"book_id": "B001"})
    assert (seen.ok, seen.value, seen.text) == (True, {"count": 3}, '{"count": 3}')


async def test_all_kinds_of_operation_of_the_library_work(runtime: Runtime, library: Bundle) -> None:
    instance = await runtime.open(library.root)
    assert (await instance.call("search_books", {"title": "park"})).value["items"][0]["book_id"] == "B005"
    assert (await instance.call("list_books_by_genre", {"genre": "romance", "limit": 2})).value["total"] == 6
    assert (await instance.call("list_loans_by_member", {"member_id": "M12"})).value["total"] == 1
    assert (await instance.call("average_books_pages", {"genre": "horror"})).value == {"value": 349.0}


async def test_writes_show_in_the_diff_and_leave_the_bundle_alone(runtime: Runtime, library: Bundle) -> None:
    before = library.content_hash()
    instance, other = await runtime.open(library.root), await runtime.open(library.root)
    await instance.call("update_book_copies", {"book_id": "B001", "copies": 9})
    await instance.call("delete_loan", {"loan_id": 3})
    changes = [(c.table, c.key, c.kind, c.after) for c in (await instance.diff()).changes]
    assert changes == [("books", "B001", "changed", {"copies": 9}), ("loans", "3", "removed", None)]
    assert await other.diff() == StateDiff()
    assert library.content_hash() == before


async def test_reset_and_restore_bring_back_an_earlier_state(runtime: Runtime, library: Bundle) -> None:
    instance = await runtime.open(library.root)
    start = await instance.state_hash()
    await instance.call("update_book_copies", {"book_id": "B001", "copies": 9})
    middle, kept = await instance.state_hash(), await instance.snapshot()
    await instance.call("update_book_copies", {"book_id": "B002", "copies": 8})
    await instance.restore(kept)
    assert await instance.state_hash() == middle
    assert (await instance.call("get_book", {"book_id": "B002"})).value["copies"] == 2
    await instance.reset()
    assert await instance.state_hash() == start != middle


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "says"),
    [
        ("get_book", {"book_id": "B999"}, "not_found", "There is no book 'B999'."),
        ("get_book", {"isbn": "B001"}, "invalid_arguments", "There is no argument 'isbn'. Required: book_id."),
        ("get_book", {}, "invalid_arguments", "Argument 'book_id' is missing."),
        ("list_books_by_genre", {"genre": "horror", "limit": True}, "invalid_arguments", "type integer, not true"),
        ("update_book_copies", {"book_id": "B001", "copies": float("nan")}, "invalid_arguments", "JSON values"),
        ("burn_book", {}, "unknown_tool", "burn_book"),
    ],
)
async def test_a_wrong_call_is_an_error_that_a_model_can_act_on(
    runtime: Runtime, library: Bundle, tool: str, arguments: dict[str, object], code: str, says: str
) -> None:
    instance = await runtime.open(library.root)
    seen = await instance.call(tool, arguments)
    assert (seen.ok, seen.error) == (False, code)
    assert says in json.loads(seen.text)["error"]["message"]
    assert await instance.diff() == StateDiff()


async def test_a_whole_float_is_an_integer_for_the_tool(runtime: Runtime, library: Bundle) -> None:
    instance = await runtime.open(library.root)
    assert (await instance.call("delete_loan", {"loan_id": 3.0})).value["loan_id"] == 3


@pytest.mark.parametrize(
    ("result", "value"),
    [
        ("(1, 2)", [1, 2]),
        ("{3, 1, 2}", [1, 2, 3]),
        ("datetime.date(2026, 1, 2)", "2026-01-02"),
        ("{1: None}", {"1": None}),
    ],
)
async def test_a_result_with_a_rule_becomes_json(runtime: Runtime, world: World, result: str, value: object) -> None:
    instance = await runtime.open(world(f"import datetime\ndef tool(): return {result}"))
    assert (await instance.call("tool", {})).value == value


@pytest.mark.parametrize(
    "result", ["float('nan')", "{'max': float('inf')}", "b'x'", "object()", "'\\ud800'", "LOOP", "'x' * 3_000_000"]
)
async def test_a_result_without_one_is_an_error(runtime: Runtime, world: World, result: str) -> None:
    instance = await runtime.open(world(f"LOOP = []\nLOOP.append(LOOP)\ndef tool(): return {result}"))
    assert (await instance.call("tool", {})).error == "invalid_output"


async def test_a_long_observation_is_cut_with_a_mark(world: World) -> None:
    async with open_runtime(LocalRuntime(observation_chars=20)) as runtime:
        instance = await runtime.open(world("def tool(): return 'x' * 100"))
        seen = await instance.call("tool", {})
    assert seen.text == f'"{"x" * 19}… [truncated: 20 of 102 characters]'
    assert (seen.ok, seen.truncated, seen.value) == (True, True, "x" * 100)


async def test_tool_errors_keep_their_code_and_others_say_what_they_are(runtime: Runtime, world: World) -> None:
    source = """
def refuse(): raise ToolError('no_stock', 'None left.')
def break_(): return 1 / 0
def leave(): raise SystemExit(3)
"""
    instance = await runtime.open(world(source))
    assert json.loads((await instance.call("refuse", {})).text) == {
        "error": {"code": "no_stock", "message": "None left."}
    }
    assert (
        json.loads((await instance.call("break_", {})).text)["error"]["message"]
        == "ZeroDivisionError: division by zero"
    )
    assert (await instance.call("leave", {})).error == "exception"


async def test_tools_that_do_not_load_are_an_observation(runtime: Runtime, world: World) -> None:
    instance = await runtime.open(world("def tool(:"))
    assert "SyntaxError" in (await instance.call("tool", {})).text


async def test_a_missing_database_file_is_an_error_of_the_environment(runtime: Runtime, library: Bundle) -> None:
    (library.database / "books.json").unlink()
    instance = await runtime.open(library.root)
    assert (await instance.call("get_book", {"book_id": "B001"})).error == "exception"


async def test_a_program_calls_tools_and_every_call_is_recorded(runtime: Runtime, library: Bundle) -> None:
    source = """
def solve(tools, books):
    print("counting")
    total = sum(tools.count_loans_by_book(book_id=b)["count"] for b in books)
    try:
        tools.get_book(book_id="none")
    except ToolError as error:
        return {"total": total, "error": error.code}
"""
    instance = await runtime.open(library.root)
    result = await instance.run(source, "solve", {"books": ["B001", "B008"]})
    assert (result.ok, result.value, result.output) == (True, {"total": 6, "error": "not_found"}, "counting\n")
    assert [(tool, arguments["book_id"], seen.ok) for tool, arguments, seen in result.calls] == [
        ("count_loans_by_book", "B001", True),
        ("count_loans_by_book", "B008", True),
        ("get_book", "none", False),
    ]


async def test_a_program_is_held_to_the_schemas_and_its_writes_stay(runtime: Runtime, library: Bundle) -> None:
    source = """
def solve(tools):
    tools.update_book_copies(book_id="B001", copies=7)
    tools.update_book_copies(book_id="B001", copies=True)
"""
    instance = await runtime.open(library.root)
    result = await instance.run(source, "solve", {})
    assert not result.ok
    assert (result.error or "").startswith("ToolError: Argument 'copies' must be of type integer")
    assert [c.after for c in (await instance.diff()).changes] == [{"copies": 7}]


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("def solve(): assert 1 == 2, 'not so'", "AssertionError: not so (line 1)"),
        ("def solve(:", "SyntaxError"),
        ("x = 1", "KeyError: 'solve'"),
        ("def solve():\n    while True: pass", "timeout"),
        ("import os\ndef solve(): os._exit(0)", "crashed"),
        ("def solve(): return object()", "has no JSON form"),
    ],
)
async def test_a_failed_program_is_a_value(runtime: Runtime, world: World, source: str, error: str) -> None:
    instance = await runtime.open(world("def ping(): return 1"))
    result = await instance.run(source, "solve", {})
    assert not result.ok
    assert error in (result.error or "")
    assert (await instance.call("ping", {})).value == 1


async def test_a_program_leaves_no_trace_in_the_tools_process(runtime: Runtime, world: World) -> None:
    instance = await runtime.open(world("import json\ndef tool(): return json.dumps(1)"))
    await instance.run("import json\njson.dumps = None\ndef solve(): return 1", "solve", {})
    assert (await instance.call("tool", {})).value == "1"


async def test_instances_wait_for_a_place(library: Bundle) -> None:
    async with open_runtime(LocalRuntime(max_instances=1)) as runtime:
        first = await runtime.open(library.root)
        waiting = asyncio.create_task(runtime.open(library.root))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await first.close()
        second = await waiting
        assert (await second.call("get_book", {"book_id": "B001"})).ok


async def test_a_closed_instance_says_so(runtime: Runtime, library: Bundle) -> None:
    instance = await runtime.open(library.root)
    await instance.close()
    await instance.close()
    with pytest.raises(SandboxError, match="closed"):
        await instance.call("get_book", {"book_id": "B001"})


async def test_a_changed_bundle_is_read_again(runtime: Runtime, world: World) -> None:
    root = world("def tool(): return 1")
    assert (await (await runtime.open(root)).call("tool", {})).value == 1
    (root / "tools.py").write_text("def tool(): return 'two'")
    assert (await (await runtime.open(root)).call("tool", {})).value == "two"


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("tools.json", "{", r"tools\.json cannot be read \(Expecting property name"),
        ("tools.json", "[]", r"tools\.json cannot be read \(it must be an object with a list `tools`"),
        (
            "tools.json",
            '{"tools": [{"name": "a", "description": "", "inputSchema": "x"}]}',
            r"tools\.json .*tool a, inputSchema: ",
        ),
        ("tools.json", '{"tools": [7]}', r"tools\.json .*tool number 1, "),
        (
            "tools.json",
            '{"tools": [{"name": "a", "description": "", "inputSchema": {"type": "objct"}}]}',
            r"tools\.json cannot be read \(Tool a: inputSchema type: ",
        ),
        ("environment.json", '{"id": 7}', r"environment\.json cannot be read \(id: "),
    ],
)
async def test_a_bundle_that_cannot_be_read_names_file_tool_and_field(
    runtime: Runtime, library: Bundle, file: str, text: str, said: str
) -> None:
    (library.root / file).write_text(text)
    with pytest.raises(SandboxError, match=said):
        await runtime.open(library.root)


async def test_a_wrong_clock_names_the_setting() -> None:
    with pytest.raises(UsageError, match=r"runtime\.clock"):
        async with open_runtime(LocalRuntime(clock="soon")):
            pass


async def test_two_hundred_instances_at_once_answer(library: Bundle) -> None:
    async with open_runtime(LocalRuntime(max_instances=200)) as runtime:
        instances = await asyncio.gather(*(runtime.open(library.root) for _ in range(200)))
        seen = await asyncio.gather(*(i.call("get_book", {"book_id": "B003"}) for i in instances))
        assert {s.value["title"] for s in seen} == {"Emma"}
