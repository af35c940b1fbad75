"""Programs: values, tool calls, refusals, failures."""

from agent_world.evals.bench.lab import Lab, must, same
from agent_world.evals.bench.registry import Case, add_case, case


@case("behaviour", "a program calls tools, and every call is recorded")
async def calls(lab: Lab) -> None:
    source = """
def solve(tools, ids):
    print("counting")
    return sum(tools.get_item(item_id=i)["count"] for i in ids)
"""
    result = await (await lab.open()).run(source, "solve", {"ids": ["I2", "I5"]})
    must(result.ok, f"the program failed: {result.error}")
    same((result.value, result.output), (7, "counting\n"), "value and output")
    recorded = [(tool, arguments, seen.ok) for tool, arguments, seen in result.calls]
    same(recorded, [("get_item", {"item_id": "I2"}, True), ("get_item", {"item_id": "I5"}, True)], "recorded calls")


@case("behaviour", "a failing tool raises ToolError in the program")
async def tool_error(lab: Lab) -> None:
    source = """
def solve(tools):
    found = []
    for arguments in ({"item_id": "I9"}, {"id": "I1"}):
        try: tools.get_item(**arguments)
        except ToolError as error: found.append(error.code)
    try: tools.burn()
    except ToolError as error: found.append(error.code)
    return found
"""
    result = await (await lab.open()).run(source, "solve", {})
    must(result.ok, f"the program failed: {result.error}")
    must(result.value[0] in ("not_found", "tool_error"), f"code of a refusal: {result.value[0]}")
    same(result.value[1:], ["invalid_arguments", "unknown_tool"], "codes")
    same([seen.ok for _, _, seen in result.calls], [False] * 3, "recorded calls that failed")


@case("behaviour", "what a program wrote before it failed stays")
async def writes_stay(lab: Lab) -> None:
    source = """
def solve(tools):
    tools.set_count(item_id="I1", count=7)
    tools.set_count(item_id="I1", count=True)
"""
    instance = await lab.open()
    result = await instance.run(source, "solve", {})
    must(not result.ok and "count" in (result.error or ""), f"the wrong argument was not refused: {result}")
    same([c.after for c in (await instance.diff()).changes], [{"count": 7}], "changes")


@case("behaviour", "a program may read the database by itself", "program_files")
async def reads_files(lab: Lab) -> None:
    source = "import json\ndef solve(): return len(json.load(open('items.json')))"
    result = await (await lab.open()).run(source, "solve", {})
    same(result.value, 5, f"rows that the program read ({result.error})")


@case("behaviour", "a program that writes files changes the state", "program_files")
async def writes_files(lab: Lab) -> None:
    instance = await lab.open()
    await instance.run("def solve(): open('made.txt', 'w').write('x')", "solve", {})
    must("made.txt" in str((await instance.diff()).changes), "a file that a program wrote is not in the diff.")


def _fails(name: str, source: str, says: str) -> None:
    async def work(lab: Lab) -> None:
        instance = await lab.open()
        result = await instance.run(source, "solve", {})
        must(not result.ok, f"the program passed with {result.value!r}.")
        must(says in (result.error or ""), f"the error does not say {says!r}: {result.error}")
        await lab.answers(instance, "an instance after a failed program")

    add_case(Case("behaviour", name, (), work))


_fails("a failed assertion says so, with its line", "\ndef solve(): assert 1 == 2, 'not so'", "AssertionError: not so")
_fails("a program that does not compile says so", "def solve(:", "SyntaxError")
_fails("a program without its function says so", "x = 1", "solve")
_fails("an endless program is a timeout", "def solve():\n    while True: pass", "timeout")
_fails("a program that dies has crashed", "import os\ndef solve(): os._exit(0)", "crashed")
_fails("a program's result must be JSON", "def solve(): return object()", "JSON")
_fails("a program's result may not be NaN", "def solve(): return float('nan')", "JSON")
_fails("a wrong argument of a program says so", "def solve(x): return 1", "x")


@case("behaviour", "a program leaves no trace in the tools' process", "tool_code")
async def no_trace(lab: Lab) -> None:
    instance = await lab.open()
    await instance.run("import json\njson.dumps = json.load = None\ndef solve(): return 1", "solve", {})
    must((await instance.call("list_items", {})).ok, "the tools were broken by a program that had ended.")


@case("behaviour", "what a program prints is bounded")
async def output_bounded(lab: Lab) -> None:
    source = "def solve():\n    for _ in range(200): print('x' * 100_000)\n    return 5"
    result = await (await lab.open()).run(source, "solve", {})
    same(result.value, 5, f"value ({result.error})")
    must(len(result.output) <= 1_000_000, f"{len(result.output)} characters of output came out.")


@case("behaviour", "an endless tool in a program is a timeout")
async def endless_tool(lab: Lab) -> None:
    instance = await lab.open()
    result = await instance.run("def solve(tools): return tools.wait(seconds=60)", "solve", {})
    late = "timeout" in (result.error or "") or "took more than" in (result.error or "")
    must(not result.ok and late, f"{result.error!r} instead of a timeout.")
    await lab.answers(instance, "an instance after an endless program")
