"""Intake under hypothesis: it never trips, what it calls equivalent is, names lead back."""

import json
import re
import string
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema
from jsonschema import Draft7Validator, Draft202012Validator

from agent_world.errors import SpecError
from agent_world.schema import ToolSpec
from agent_world.tools.arguments import ArgumentChecker
from agent_world.tools.specs import HTTP, ORIGINAL, exposed_names, python_names, read_tools

QUICK = settings(
    max_examples=60, deadline=None, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)  # fmt: skip
NAMES = ["a", "b", "from", "x.y"]
KEYWORDS = [
    "type", "properties", "items", "required", "enum", "anyOf", "allOf", "oneOf", "not", "$ref", "$defs", "definitions",
    "nullable", "default", "minimum", "exclusiveMinimum", "pattern", "patternProperties", "additionalProperties",
    "dependencies", "const", "$id", "$anchor", "id", "examples", "prefixItems", "additionalItems", "if", "format",
    "name", "inputSchema", "parameters", "input_schema", "function", "tools", "functions", "openapi", "paths", "in",
    "get", "requestBody", "content", "schema", "result", "error", "crawled", "$dynamicRef", "minLength", "description",
    "swagger", "x-nullable", "collectionFormat", "consumes", "responses",
]  # fmt: skip
TEXTS = st.sampled_from(
    [
        "string",
        "object",
        "3.0.1",
        "#",
        "#/$defs/a",
        "#/definitions/a/b",
        "http://x/y",
        "#a",
        "{}",
        "[",
        "(",
        "a",
        "\ud800",
        "path",
        '{"$ref": "#"}',
        "http://[",
        "int",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | TEXTS | st.text(max_size=3)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYWORDS + NAMES) | st.text(max_size=2), inner, max_size=5)
    ),
    max_leaves=25,
)


def checked(document: Any) -> None:
    """Whatever is loaded is sound, and whatever is not is listed."""
    found = read_tools(document, "here", "s")
    assert found.tools or found.rejected or document == []
    assert len(found.names()) == len(found.tools)
    for tool in found.tools:
        assert re.fullmatch("[A-Za-z0-9_-]{1,64}", tool.spec.name)
        assert ToolSpec.model_validate_json(tool.spec.model_dump_json(by_alias=True)) == tool.spec
        Draft202012Validator.check_schema(tool.spec.input_schema)
        Draft202012Validator.check_schema(tool.spec.output_schema or {})
        assert json.loads(tool.spec.meta[ORIGINAL])
        checker = ArgumentChecker(tool.spec)
        for arguments in ({}, {"a": 1.0, "b": [None, {"a": "x"}]}):
            if checker.fault(arguments) is None:
                checker.ready(arguments)


@QUICK
@given(ANYTHING)
def test_any_json_value_gives_an_intake(document: Any) -> None:
    checked(document)


@QUICK
@given(ANYTHING, ANYTHING)
def test_any_schema_gives_a_sound_tool_or_a_reason(schema: Any, output: Any) -> None:
    checked([{"name": "t", "inputSchema": schema, "outputSchema": output}, {"name": "u"}])


@QUICK
@given(st.dictionaries(st.sampled_from(KEYWORDS), ANYTHING, max_size=6), ANYTHING, ANYTHING)
def test_any_properties_give_a_sound_tool_or_a_reason(schema: dict[str, Any], first: Any, second: Any) -> None:
    checked([{"name": "t", "inputSchema": {**schema, "properties": {"a": first, "b": second}, "$defs": {"a": schema}}}])


@QUICK
@given(ANYTHING, ANYTHING)
def test_any_openapi_document_gives_an_intake(operation: Any, part: Any) -> None:
    parameter = {"name": "a", "in": "query", "schema": part}
    whole = {"parameters": [parameter], "requestBody": {"content": {"application/json": {"schema": operation}}}}
    paths = {"/a": {"get": operation, "post": whole}, "/b": operation, "/c": {"parameters": [parameter], "get": {}}}
    checked({"openapi": "3.0.0", "info": {"title": "t"}, "paths": paths, "components": {"schemas": {"a": part}}})


@QUICK
@given(ANYTHING, ANYTHING, st.sampled_from(["query", "formData", "header"]))
def test_any_swagger_document_gives_an_intake(operation: Any, part: Any, place: str) -> None:
    loose = part if isinstance(part, dict) else {"type": part, "collectionFormat": part, "required": part}
    first, body = {**loose, "name": "a", "in": place}, {"name": "b", "in": "body", "schema": part}
    paths = {"/a": {"get": operation, "post": {"parameters": [first]}, "put": {"parameters": [body]}}, "/b": operation}
    more = {"host": part, "basePath": operation, "schemes": part, "consumes": operation, "produces": part}
    checked({"swagger": "2.0", "paths": paths, "definitions": {"a": part}, **more})


# --- Equivalence -----------------------------------------------------------------------------------------

PLAIN = st.sampled_from(
    [
        {},
        True,
        False,
        {"type": "string"},
        {"type": "integer"},
        {"type": ["number", "null"]},
        {"type": "null"},
        {"const": 1},
        {"enum": ["a", None]},
        {"type": "string", "minLength": 2},
        {"minimum": 2, "exclusiveMinimum": 1},
        {"pattern": "^a"},
        {"$ref": "#/definitions/D"},
        {"$ref": "#/definitions/Loop"},
        {"type": "boolean", "description": None},
    ]
)


def combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    required = st.lists(st.sampled_from(NAMES), max_size=2, unique=True)
    return st.one_of(
        st.builds(lambda p, r: {"type": "object", "properties": p, "required": r}, named, required),
        st.builds(lambda p, a: {"type": "object", "properties": p, "additionalProperties": a}, named, inner),
        st.builds(lambda i, a: {"type": "array", "items": i, "additionalItems": a}, some, inner),
        st.builds(lambda i: {"type": "array", "items": i}, inner),
        st.builds(lambda k, s: {k: s}, st.sampled_from(["anyOf", "allOf", "oneOf"]), some),
        st.builds(lambda s: {"anyOf": [s, {"type": "null"}], "title": "t"}, inner),
        st.builds(lambda s: {"oneOf": [{"type": "null"}, s], "description": "d"}, inner),
        st.builds(lambda s, d: {"allOf": [s], "description": d}, inner, st.sampled_from([None, "d"])),
        st.builds(lambda s: {"not": s}, inner),
        st.builds(lambda n, s: {"dependencies": {n: s}}, st.sampled_from(NAMES), inner | required),
        st.builds(lambda n, s: {"patternProperties": {f"^{n}$": s}}, st.sampled_from(NAMES), inner),
        st.builds(lambda a, b, c: {"if": a, "then": b, "else": c}, inner, inner, inner),
    )


SCHEMAS = st.recursive(PLAIN, combined, max_leaves=8)
VALUES: list[Any] = [
    None, True, 0, 1, 2, 1.0, 2.5, "", "a", "ab", "b", [], [0], ["a", 0], [None, {"a": 0}], ["ab", "ab", "ab"], {},
    {"a": 0}, {"b": "ab"}, {"a": "a", "b": None}, {"a": 1, "b": 2, "from": 3}, {"x.y": True}, {"from": "a"},
    {"a": {"a": {"b": 1}}}, {"a": None}, {"a": 0, "x.y": 1},
]  # fmt: skip
LOOP = {"type": "object", "properties": {"a": {"$ref": "#/definitions/Loop"}, "b": {"$ref": "#/definitions/D"}}}


def both(definition: Any, first: Any, second: Any) -> tuple[Draft7Validator, Draft202012Validator] | None:
    """Validators of a draft-07 schema and of its normal form; None where that does not claim to be equivalent."""
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": first, "b": second},
        "definitions": {"D": definition, "Loop": LOOP},
    }  # fmt: skip
    found = read_tools([{"name": "t", "inputSchema": schema}], "here")
    if not found.tools or not found.tools[0].equivalent:
        return None
    return Draft7Validator(schema), Draft202012Validator(found.tools[0].spec.input_schema)


NO_REF = SCHEMAS.filter(lambda schema: "$ref" not in json.dumps(schema))


CLOSED = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}


@settings(QUICK, max_examples=150)
@given(NO_REF, SCHEMAS)
@example({}, {"allOf": [CLOSED, {"properties": {"b": {}}}]})
@example({}, {"oneOf": [{"type": "null"}, {}]})
@example({}, {"oneOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "null"}]})
def test_an_equivalent_normal_form_accepts_the_same_arguments(definition: Any, schema: Any) -> None:
    validators = both(definition, schema, {"type": "integer"})
    for value in VALUES if validators else ():
        old, new = (validator.is_valid({"a": value}) for validator in validators)
        assert old == new, (value, old, new, validators[1].schema)


LEAVES = st.one_of(
    st.builds(
        lambda a, b: {"type": "string", "minLength": a, "maxLength": a + b}, st.integers(0, 3), st.integers(0, 3)
    ),
    st.builds(
        lambda a, b: {"type": "integer", "minimum": a, "exclusiveMaximum": a + b}, st.integers(-9, 9), st.integers(1, 9)
    ),
    st.sampled_from([{"type": "number", "multipleOf": 0.5}, {"enum": ["a", 1, None]}, {"type": ["null", "boolean"]}]),
)
TYPED = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(lambda i: {"type": "array", "items": i, "maxItems": 3}, inner)
        | st.builds(
            lambda i: {"type": "array", "items": i, "additionalItems": False}, st.lists(inner, min_size=1, max_size=3)
        )
        | st.builds(lambda i: {"anyOf": i}, st.lists(inner, min_size=1, max_size=3))
    ),
    max_leaves=5,
)


@settings(QUICK, max_examples=40)
@given(st.data())
def test_values_generated_from_the_original_fit_the_normal_form(data: st.DataObject) -> None:
    """Objects are put together here: hypothesis-jsonschema 0.23 generates none under today's hypothesis."""
    schemas = {"a": data.draw(TYPED), "b": data.draw(TYPED)}
    validators = both(True, schemas["a"], schemas["b"])
    assert validators is not None
    for _ in range(3):
        value = {name: data.draw(from_schema(schema)) for name, schema in schemas.items()}
        assert validators[1].is_valid(value), (value, validators[1].schema)


@QUICK
@given(TYPED, st.booleans(), st.booleans())
def test_swagger_and_version_3_of_one_operation_are_one_tool(schema: Any, needed: bool, in_body: bool) -> None:
    old: dict[str, Any] = {"name": "a", "in": "query", "required": needed, **schema}
    new: dict[str, Any] = {"parameters": [{"name": "a", "in": "query", "required": needed, "schema": schema}]}
    if in_body:
        whole = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
        old = {"name": "body", "in": "body", "required": needed, "schema": whole}
        new = {"requestBody": {"required": needed, "content": {"application/json": {"schema": whole}}}}
    second = read_tools({"swagger": "2.0", "paths": {"/a": {"post": {"parameters": [old]}}}}, "here").tools[0]
    third = read_tools({"openapi": "3.0.0", "paths": {"/a": {"post": new}}}, "here").tools[0]
    assert (second.spec.input_schema, second.changes) == (third.spec.input_schema, third.changes)
    places = [tool.spec.meta[HTTP]["arguments"]["a"] for tool in (second, third)]
    assert places[0] == places[1] | ({"explode": False} if "explode" in places[0] else {})


# --- Names -----------------------------------------------------------------------------------------------

AWKWARD = st.text(max_size=70) | st.text(alphabet="ab._- ", max_size=4) | st.text(alphabet=string.printable, max_size=5)


@QUICK
@given(st.lists(st.tuples(st.sampled_from(["", "s", "s.t", "s_t"]), AWKWARD), unique=True, max_size=12), st.randoms())
def test_exposed_names_are_distinct_and_lead_back_in_any_order(tools: list[tuple[str, str]], random: Any) -> None:
    names = exposed_names(tools)
    assert {name: tool for tool, name in names.items()}.keys() == set(names.values())
    assert len(set(names.values())) == len(tools)
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", name) for name in names.values())
    mixed = list(tools)
    random.shuffle(mixed)
    assert exposed_names(mixed) == names


@QUICK
@given(st.lists(AWKWARD, unique=True, max_size=12))
def test_python_names_are_distinct_identifiers(names: list[str]) -> None:
    aliases = python_names(names)
    assert list(aliases) != [] or not names
    assert set(aliases) == set(names)
    assert len(set(aliases.values())) == len(names)
    compile(f"def f({', '.join(aliases.values())}): pass", "f", "exec")  # our own text: names alone


def test_a_schema_error_is_a_spec_error() -> None:
    with pytest.raises(SpecError, match="Tool t: inputSchema type"):
        ArgumentChecker(ToolSpec(name="t", description="", input_schema={"type": 3}))
