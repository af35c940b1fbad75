from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agent_world.tools.specs import NormalTool, read_tools


def read(schema: Any) -> NormalTool:
    found = read_tools([{"name": "t", "description": "d", "inputSchema": schema}], "here")
    assert not found.rejected, found.rejected
    Draft202012Validator.check_schema(found.tools[0].spec.input_schema)
    return found.tools[0]


CASES: list[tuple[Any, Any]] = [
    # drafts
    ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, {"type": "integer", "exclusiveMinimum": 1}),
    ({"type": "integer", "maximum": 1, "exclusiveMaximum": False}, {"type": "integer", "maximum": 1}),
    (
        {"type": "array", "items": [{"type": "string"}], "additionalItems": False},
        {"type": "array", "prefixItems": [{"type": "string"}], "items": False},
    ),
    (
        {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
        {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}},
    ),
    ({"$id": "x", "$schema": "y", "id": "z", "type": "string"}, {"type": "string"}),
    # careless types
    ("string", {"type": "string"}),
    ("int", {"type": "integer"}),
    ({"type": "dict"}, {"type": "object"}),
    ({"type": "STRING"}, {"type": "string"}),
    ({"type": "List[int]"}, {"type": "array"}),
    ({"type": "any"}, {}),
    ({"type": ["str", "int"]}, {"type": ["string", "integer"]}),
    ({"type": "widget"}, {}),
    ({"type": []}, {}),
    ({"type": ["string"]}, {"type": "string"}),
    (None, {}),
    (True, True),
    (7, {}),
    ('{"type": "integer"}', {"type": "integer"}),
    # wrong kinds
    ({"type": "string", "description": None, "enum": None}, {"type": "string"}),
    ({"type": "string", "enum": []}, {"type": "string"}),
    ({"type": "string", "maxLength": "5"}, {"type": "string", "maxLength": 5}),
    ({"type": "string", "minLength": -1}, {"type": "string"}),
    ({"type": "string", "minLength": 2.0}, {"type": "string", "minLength": 2}),
    ({"type": "string", "pattern": "(?<year>\\d+)"}, {"type": "string", "pattern": "(?P<year>\\d+)"}),
    ({"type": "string", "pattern": "[unclosed"}, {"type": "string"}),
    ({"anyOf": []}, {}),
    ({"anyOf": [{"type": "string"}]}, {"type": "string"}),
    ({"type": "integer", "default": "x"}, {"type": "integer"}),
    ({"type": "integer", "default": 3}, {"type": "integer", "default": 3}),
    ({"type": "string", "default": None}, {"type": "string"}),
    ({"type": "string", "example": "x"}, {"type": "string", "examples": ["x"]}),
    # objects
    ({"properties": {"a": {}}}, {"properties": {"a": {}}, "type": "object"}),
    (
        {"type": "object", "properties": {"a": {"required": True}}},
        {"type": "object", "properties": {"a": {}}, "required": ["a"]},
    ),
    ({"type": "object", "properties": {"a": {"optional": True}}}, {"type": "object", "properties": {"a": {}}}),
    (
        {"type": "object", "properties": {"a": {}}, "required": "a"},
        {"type": "object", "properties": {"a": {}}, "required": ["a"]},
    ),
    (
        {"type": "object", "properties": {"a": {}}, "required": ["a", "b", "a", 3]},
        {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
    ),
    (
        {"type": "object", "properties": [{"name": "a", "type": "int"}]},
        {"type": "object", "properties": {"a": {"type": "integer"}}},
    ),
    # combinations
    (
        {"allOf": [{"type": "object", "properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]},
        {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]},
    ),
    (
        {"allOf": [{"type": "object", "additionalProperties": False}, {"properties": {"b": {}}}]},
        {"allOf": [{"type": "object", "additionalProperties": False}, {"properties": {"b": {}}}]},
    ),
    (
        {"oneOf": [{"type": "string"}, {"type": "integer"}], "discriminator": {"propertyName": "k"}},
        {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    ),
]


@pytest.mark.parametrize(("given", "normal"), CASES)
def test_a_property_is_normalised_and_every_difference_is_a_change(given: Any, normal: Any) -> None:
    tool = read({"type": "object", "properties": {"p": given}})
    assert tool.spec.input_schema == {"type": "object", "properties": {"p": normal}}
    places = [change.path for change in tool.changes]
    assert (given == normal) or any(place.startswith("inputSchema/properties/p") for place in places)


def test_what_is_already_normal_stays_and_no_change_is_claimed() -> None:
    schema = {
        "type": "object", "additionalProperties": False, "required": ["a"],
        "properties": {
            "a": {"type": ["string", "null"], "minLength": 1, "x-order": 1},
            "b": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"const": 1}}], "default": 3},
            "$ref": {"type": "string"}, "enum": {"enum": [{"$ref": "#/x"}]}, "default": {"default": {"$ref": "#/x"}},
        },
    }  # fmt: skip
    tool = read(schema)
    assert tool.spec.input_schema == schema
    assert tool.changes == ()
    assert tool.equivalent


@pytest.mark.parametrize(
    "draft", ["http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema#"]
)
def test_what_old_drafts_ignore_beside_a_reference_is_left_out_but_not_its_words(draft: str) -> None:
    schema = {
        "$schema": draft, "properties": {"p": {"$ref": "#/definitions/D", "description": "mine", "minLength": 9}},
        "definitions": {"D": {"type": "string", "description": "its"}},
    }  # fmt: skip
    assert read(schema).spec.input_schema["properties"] == {"p": {"type": "string", "description": "mine"}}
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    assert read(schema).spec.input_schema["properties"]["p"]["minLength"] == 9


def test_a_definition_that_was_nested_with_its_schema_is_found() -> None:
    tool = read({"properties": {"p": {"$ref": "#/$defs/D", "$defs": {"D": {"type": "string"}}}}})
    assert tool.spec.input_schema["properties"] == {"p": {"type": "string"}}
    assert any("#/properties/p/$defs/D" in change.why for change in tool.changes)


def test_a_definition_too_large_to_write_out_is_kept_once() -> None:
    large = {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(300)}}
    properties = {name: {"$ref": "#/$defs/Large"} for name in "abc"}
    tool = read({"properties": properties, "$defs": {"Large": large, "Unused": {}}})
    assert tool.spec.input_schema["properties"] == properties
    assert tool.spec.input_schema["$defs"] == {"Large": large}
