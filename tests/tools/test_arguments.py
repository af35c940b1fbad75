import time
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agent_world.errors import SpecError
from agent_world.schema import ToolSpec
from agent_world.tools.arguments import PATTERN_S, ArgumentChecker


def checker(properties: dict[str, Any], **more: Any) -> ArgumentChecker:
    schema = {"type": "object", "properties": properties, **more}
    return ArgumentChecker(ToolSpec(name="t", description="", input_schema=schema))


PROPERTIES: dict[str, Any] = {
    "count": {"type": "integer", "minimum": 1},
    "kind": {"enum": ["red", "green"]},
    "where": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    "id": {"anyOf": [{"type": "integer"}, {"type": "object", "required": ["key"]}]},
    "day": {"type": "string", "format": "date", "pattern": "^[0-9-]+$"},
}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"count": True}, "Argument 'count' must be of type integer, not true."),
        ({"count": "5"}, "not \"5\"; give the value itself, not text that holds it as JSON."),
        ({"count": 0}, "Argument 'count' must be at least 1, not 0."),
        ({"Count": 1}, "There is no argument 'Count'; 'count' may be meant. Required: none. Optional: count,"),
        ({"zzz": 1}, "There is no argument 'zzz'. Required"),
        ({"kind": "greeen"}, "must be one of \"red\", \"green\", not \"greeen\"; 'green' may be meant."),
        ({"where": '{"city": "x"}'}, "Argument 'where' must be of type object"),
        ({"where": {}}, "Argument 'where' lacks 'city'; given were none."),
        ({"where": {"city": "x", "citty": 1}}, "'where' has no \"citty\"; known are 'city'; 'city' may be meant."),
        ({"tags": ["a", 1]}, "Argument 'tags[1]' must be of type string, not 1."),
        ({"tags": ["a", "b", "c"]}, "Argument 'tags' must have at most 2 items"),
        ({"id": "x"}, "Argument 'id' must be one of: integer; object with 'key'; not \"x\"."),
        ({"id": {}}, "Argument 'id' lacks 'key'"),
        ({"day": "to\nday"}, "Argument 'day' must match the pattern"),
        ({"count": float("nan")}, "The arguments must be JSON values"),
        ('{"count": 1}', "not text that holds one"),
        ([], "The arguments must be a JSON object."),
    ],
)  # fmt: skip
def test_a_fault_names_what_was_wanted_and_given_in_one_line(arguments: Any, told: str) -> None:
    fault = checker(PROPERTIES).fault(arguments)
    assert fault is not None
    assert told in fault
    assert "\n" not in fault
    assert len(fault) < 500


def test_whole_numbers_reach_the_tool_as_integers_at_any_depth() -> None:
    integer = {"type": "integer"}
    nested = checker(
        {
            "a": integer,
            "b": {"type": "array", "items": integer},
            "c": {"additionalProperties": integer},
            "e": {"type": "number"},
            "d": {"anyOf": [{"type": "string"}, {"type": ["integer", "null"]}]},
        }
    )
    ready = nested.ready({"a": 1.0, "b": [2.0], "c": {"x": 3.0}, "d": 4.0, "e": 5.0})
    assert repr(ready) == "{'a': 1, 'b': [2], 'c': {'x': 3}, 'd': 4, 'e': 5.0}"


def test_other_arguments_are_taken_where_the_schema_says_so() -> None:
    assert checker({}, additionalProperties=True).fault({"x": 1}) is None
    assert checker({}, patternProperties={"^x": {"type": "integer"}}).fault({"x1": 1}) is None
    assert "type integer" in (checker({}, additionalProperties={"type": "integer"}).fault({"x": "y"}) or "")
    assert checker({"o": {"type": "object"}}).fault({"o": {"x": 1}}) is None
    assert checker({}, anyOf=[{"required": ["a"], "properties": {"a": {}}}, {}]).fault({"a": 1}) is None


def test_formats_are_not_enforced_and_the_checker_says_which() -> None:
    dated = checker({"day": {"type": "string", "format": "date"}, "list": {"items": {"format": "uri"}}})
    assert dated.fault({"day": "tomorrow"}) is None
    assert dated.formats == {"day": "date", "list[]": "uri"}


def test_a_pattern_that_takes_exponential_time_refuses_the_value() -> None:
    hostile = checker({"p": {"type": "string", "pattern": "^(a|a)+(b|b)+(a|aa)+$"}})
    assert "pattern" in (hostile.fault({"p": "a" * 60 + "b" + "a" * 60 + "!"}) or "")


def test_patterns_take_no_longer_together_than_one_may() -> None:
    items = {"type": "string", "pattern": "^(a|a)+(b|b)+(a|aa)+$"}
    hostile = checker({"p": {"type": "array", "items": items}})
    started = time.monotonic()
    assert "pattern" in (hostile.fault({"p": ["a" * 60 + "b" + "a" * 60 + "!"] * 500}) or "")
    assert time.monotonic() - started < 100 * PATTERN_S / 5, "each for itself, they would take 500 times as long"


@pytest.mark.parametrize("ref", ["#/$defs/Gone", "#/definitions/Gone", "https://example.org/x"])
def test_a_reference_to_nothing_is_a_spec_error_with_its_path(ref: str) -> None:
    with pytest.raises(SpecError, match="Tool t: inputSchema/properties/q/items/\\$ref"):
        checker({"q": {"items": {"$ref": ref}}})


def test_a_schema_that_refers_to_itself_without_end_refuses_calls() -> None:
    endless = checker({"q": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": {"$ref": "#/$defs/A"}}})
    assert endless.fault({"q": 1}) == "The arguments are nested too deeply."


@pytest.mark.parametrize(
    ("items", "different"),
    [
        ([1, True, "1", None, 0, False], True),
        ([1, 1.0], False),
        ([{"a": 1, "b": [2.0]}, {"b": [2], "a": 1}], False),
        ([[1, 2], [2, 1]], True),
        ([0, -0.0], False),
        (["a", "a"], False),
        ([], True),
    ],
)
def test_items_are_different_as_json_schema_has_it(items: list[Any], different: bool) -> None:
    schema = {"type": "object", "properties": {"items": {"type": "array", "uniqueItems": True}}}
    spec = ToolSpec(name="take", description="", input_schema=schema)
    assert (ArgumentChecker(spec).fault({"items": items}) is None) is different
    assert Draft202012Validator(schema).is_valid({"items": items}) is different


def test_many_different_items_are_told_apart_in_time() -> None:
    """Compared each with each they would take minutes."""
    schema = {"type": "object", "properties": {"items": {"type": "array", "uniqueItems": True}}}
    spec = ToolSpec(name="take", description="", input_schema=schema)
    items = ["a", *range(100_000)]
    assert ArgumentChecker(spec).fault({"items": items}) is None
    assert "different items" in (ArgumentChecker(spec).fault({"items": [*items, "a"]}) or "")
