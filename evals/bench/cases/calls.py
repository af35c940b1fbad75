"""Calls: values, errors as data, arguments, strict JSON, truncation."""

import json
from typing import Any

from agent_world.evals.bench.lab import Lab, must, same
from agent_world.evals.bench.registry import Case, add_case, case
from agent_world.tools.runtime import Instance, Observation


def refused(seen: Observation, *codes: str) -> str:
    """The message of an error with one of these codes."""
    must(
        not seen.ok and seen.error in codes,
        f"error {seen.error!r} ({seen.text[:200]}) instead of {' or '.join(codes)}.",
    )
    found = json.loads(seen.text)["error"]
    same(found["code"], seen.error, "the code in the text")
    must(seen.value is None, "an error has a value.")
    return str(found["message"])


async def unchanged(instance: Instance) -> None:
    changes = (await instance.diff()).changes
    must(not changes, f"the state has changed: {changes[:2]}.")


@case("behaviour", "a call gives its value, and its JSON as text")
async def value_and_text(lab: Lab) -> None:
    seen = await (await lab.open()).call("get_item", {"item_id": "I2"})
    must(seen.ok and seen.error is None, f"the call failed: {seen.text}")
    same(seen.value, {"item_id": "I2", "name": "thing 2", "count": 2, "price": 2.5}, "value")
    same(json.loads(seen.text), seen.value, "text")


@case("behaviour", "an optional argument may be left out or given")
async def optional_argument(lab: Lab) -> None:
    instance = await lab.open()
    same(len((await instance.call("list_items", {})).value["items"]), 5, "items without a limit")
    same(len((await instance.call("list_items", {"limit": 2})).value["items"]), 2, "items with limit 2")


def _wrong(name: str, tool: str, arguments: dict[str, Any], code: str, says: str) -> None:
    async def work(lab: Lab) -> None:
        instance = await lab.open()
        message = refused(await instance.call(tool, arguments), code)
        must(says in message, f"the message does not say {says!r}: {message}")
        await unchanged(instance)
        await lab.answers(instance, "an instance that refused a call")

    add_case(Case("behaviour", name, (), work))


_wrong("an unknown tool is named", "burn", {}, "unknown_tool", "burn")
_wrong("an unknown argument is named", "get_item", {"id": "I1"}, "invalid_arguments", "id")
_wrong("a missing argument is named", "get_item", {}, "invalid_arguments", "item_id")
_wrong("a Boolean is no integer", "set_count", {"item_id": "I1", "count": True}, "invalid_arguments", "count")
_wrong("a text is no integer", "set_count", {"item_id": "I1", "count": "3"}, "invalid_arguments", "count")
_wrong("a fraction is no integer", "set_count", {"item_id": "I1", "count": 2.5}, "invalid_arguments", "count")
_wrong("NaN is no argument", "wait", {"seconds": float("nan")}, "invalid_arguments", "")
_wrong("infinity is no argument", "wait", {"seconds": float("inf")}, "invalid_arguments", "")
_wrong("bytes are no argument", "get_item", {"item_id": b"I1"}, "invalid_arguments", "")


@case("behaviour", "a whole float is an integer for the tool")
async def whole_float(lab: Lab) -> None:
    seen = await (await lab.open()).call("set_count", {"item_id": "I1", "count": 3.0})
    same(seen.value["count"], 3, "count")


@case("behaviour", "any Unicode text comes back as it went in")
async def unicode_text(lab: Lab) -> None:
    text = "é 漢字 \U0001f600 \u2028 \\ \" '"
    seen = await (await lab.open()).call("execute", {"body": f"return {text!r}"})
    same(seen.value, {"value": text}, "value")


@case("behaviour", "a tool that raises is an error that says what was raised")
async def raised(lab: Lab) -> None:
    seen = await (await lab.open()).call("execute", {"body": "return 1 / 0"})
    must("division by zero" in refused(seen, "exception", "tool_error"), f"the cause is lost: {seen.text}")


@case("behaviour", "a tool's own refusal reaches the agent")
async def refusal(lab: Lab) -> None:
    seen = await (await lab.open()).call("get_item", {"item_id": "I9"})
    must("There is no item 'I9'" in refused(seen, "not_found", "tool_error"), f"the message is lost: {seen.text}")


@case("behaviour", "a tool's own error code is kept", "own_codes")
async def own_code(lab: Lab) -> None:
    instance = await lab.open()
    refused(await instance.call("execute", {"body": "raise ToolError('no_stock', 'None left.')"}), "no_stock")
    odd = await instance.call("execute", {"body": "raise ToolError('no stock; \\n' * 50, 'None left.')"})
    refused(odd, "tool_error")


@case("behaviour", "a tool that exits is an error, and its instance goes on", "tool_code")
async def exits(lab: Lab) -> None:
    instance = await lab.open()
    refused(await instance.call("execute", {"body": "raise SystemExit(3)"}), "exception")
    refused(await instance.call("execute", {"body": "raise KeyboardInterrupt"}), "exception")
    await lab.answers(instance, "an instance whose tool exited")


@case("behaviour", "tools that do not compile are an error as data", "tool_code")
async def broken_source(lab: Lab) -> None:
    instance = await lab.open(lab.bare("def tool(:"))
    must("SyntaxError" in refused(await instance.call("tool", {}), "exception"), "the cause is lost.")


@case("behaviour", "a read tool that changes the state is reported")
async def impure(lab: Lab) -> None:
    instance = await lab.open()
    must((await instance.call("peek", {})).impure, "peek says that it reads, writes, and was not reported.")
    must(not (await instance.call("get_item", {"item_id": "I1"})).impure, "get_item only reads, and was reported.")
    written = await instance.call("set_count", {"item_id": "I1", "count": 7})
    must(not written.impure, "set_count says that it writes, and was reported.")


@case("behaviour", "a long text is cut with a mark, its value stays whole")
async def truncation(lab: Lab) -> None:
    limit = lab.limits.observation_chars
    instance = await lab.open()
    seen = await instance.call("say", {"size": limit})
    must(seen.ok and seen.truncated, "a text over the limit is not marked as truncated.")
    must("truncated" in seen.text[limit:] and len(seen.text) < limit + 100, f"no mark at the end: …{seen.text[-80:]}")
    same(seen.value, {"text": "x" * limit}, "value")
    short = await instance.call("say", {"size": limit - 100})
    must(not short.truncated and json.loads(short.text) == short.value, "a text within the limit was cut.")


def _result(name: str, expression: str, value: Any = None, *, bad: bool = False) -> None:
    async def work(lab: Lab) -> None:
        root = lab.bare(f"import datetime, decimal\nLOOP = []\nLOOP.append(LOOP)\ndef tool(): return {expression}")
        seen = await (await lab.open(root)).call("tool", {})
        if bad:
            refused(seen, "invalid_output")
            must("NaN" not in seen.text.split("message")[0], "the text is no strict JSON.")
        else:
            same(seen.value, value, "value")
            same(json.loads(seen.text), value, "text")

    add_case(Case("behaviour", name, ("tool_code",), work))


_result("a tuple becomes a list", "(1, 2)", [1, 2])
_result("a set becomes a sorted list", "{3, 1, 2}", [1, 2, 3])
_result("a set of texts and a set of sets are sorted", "[{'b', 'a'}, {frozenset({2, 1})}]", [["a", "b"], [[1, 2]]])
_result("a date becomes ISO text", "datetime.date(2026, 1, 2)", "2026-01-02")
_result("a time with a zone becomes ISO text", "datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)",
        "2026-01-02T00:00:00+00:00")  # fmt: skip
_result("keys become text", "{1: None}", {"1": None})
_result("of two keys that become the same text the last holds", "{1: 'a', '1': 'b'}", {"1": "b"})
_result("nothing is null", "None")
_result("a number keeps its type", "[1, 1.0, True, '1']", [1, 1.0, True, "1"])
_result("NaN is refused", "float('nan')", bad=True)
_result("infinity inside is refused", "{'max': [float('-inf')]}", bad=True)
_result("bytes are refused", "b'x'", bad=True)
_result("an object is refused", "object()", bad=True)
_result("half a surrogate pair is refused", "'\\ud800'", bad=True)
_result("a circular value is refused", "LOOP", bad=True)
_result("a generator is refused", "(n for n in 'ab')", bad=True)
_result("an endless value is refused", "'x' * 3_000_000", bad=True)
_result("a key that is a tuple is refused", "{(1, 2): 3}", bad=True)
