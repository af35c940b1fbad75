from pathlib import Path
from typing import Any

import pytest

from agent_world.tools.arguments import ArgumentChecker
from agent_world.tools.specs import HTTP, NormalTool, read_file, read_tools

YAML = """
openapi: 3.0.3
info: {title: Pets, version: 1}
servers: [{url: https://pets.example/v1}]
security: [{key: []}]
paths:
  /pets/{id}:
    parameters:
    - {name: id, in: path, required: true, schema: {type: integer}}
    - {name: lang, in: query, schema: {type: string}}
    get:
      parameters: [{name: lang, in: query, required: true, schema: {type: string, nullable: true}}]
      responses: {200: {description: d, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}}
    put:
      operationId: replace.pet
      summary: Replace a pet
      parameters:
      - {$ref: '#/components/parameters/Trace'}
      - {name: Authorization, in: header, schema: {type: string}}
      requestBody: {$ref: '#/components/requestBodies/Pet'}
      responses: {204: {description: d}}
  /pets:
    post:
      security: []
      requestBody:
        content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Pet'}}}}
components:
  parameters:
    Trace: {name: X-Trace, in: header, schema: {type: string}}
  requestBodies:
    Pet: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}
  schemas:
    Pet:
      type: object
      required: [name, id, made]
      properties:
        name: {type: string}
        id: {type: integer, format: int64}
        made: {type: string, readOnly: true}
        price: {type: number, minimum: 0, exclusiveMinimum: true}
        parent: {$ref: '#/components/schemas/Pet'}
"""


@pytest.fixture(scope="module")
def pets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, NormalTool]:
    path: Path = tmp_path_factory.mktemp("api") / "pets.yaml"
    path.write_text(YAML)
    found = read_file(path)
    assert not found.rejected
    return {tool.original_name: tool for tool in found.tools}


def test_each_operation_is_a_tool_named_by_its_id_or_method_and_path(pets: dict[str, NormalTool]) -> None:
    assert {name: tool.spec.name for name, tool in pets.items()} == {
        "GET /pets/{id}": "GET_pets_id", "replace.pet": "replace_pet", "POST /pets": "POST_pets",
    }  # fmt: skip
    assert {tool.server for tool in pets.values()} == {"Pets"}
    assert pets["GET /pets/{id}"].spec.annotations.read_only
    assert not pets["replace.pet"].spec.annotations.read_only


def test_parameters_of_operation_and_path_are_one_object(pets: dict[str, NormalTool]) -> None:
    spec = pets["GET /pets/{id}"].spec
    assert spec.input_schema["properties"] == {"id": {"type": "integer"}, "lang": {"type": ["string", "null"]}}
    assert spec.input_schema["required"] == ["id", "lang"]
    assert spec.output_schema
    assert spec.output_schema["properties"]["parent"] == {"$ref": "#/$defs/Pet"}


def test_parameters_and_body_are_merged_and_each_argument_has_its_place(pets: dict[str, NormalTool]) -> None:
    spec = pets["replace.pet"].spec
    assert spec.meta[HTTP] == {
        "method": "PUT", "path": "/pets/{id}", "servers": ["https://pets.example/v1"], "security": [["key"]],
        "body_type": "application/json", "rest": None,
        "arguments": {
            "id": {"in": "path", "name": "id"}, "lang": {"in": "query", "name": "lang"},
            "X-Trace": {"in": "header", "name": "X-Trace"}, "name": {"in": "body", "pointer": "/name"},
            "body_id": {"in": "body", "pointer": "/id"}, "price": {"in": "body", "pointer": "/price"},
            "parent": {"in": "body", "pointer": "/parent"},
        },
    }  # fmt: skip
    assert spec.input_schema["required"] == ["id", "name", "body_id"]
    assert spec.input_schema["properties"]["price"] == {"type": "number", "exclusiveMinimum": 0}
    checker = ArgumentChecker(spec)
    sound = {"id": 1, "name": "Rex", "body_id": 2}
    assert checker.fault(sound) is None
    assert "'parent' lacks 'name'" in (checker.fault(sound | {"parent": {"id": 1}}) or "")
    assert "'parent.name'" in (checker.fault(sound | {"parent": {"id": 1, "name": 3, "made": "x"}}) or "")
    left_out = {change.path for change in pets["replace.pet"].changes if change.what == "transport"}
    assert left_out == {"arguments/Authorization", "arguments/made"}


def test_a_body_that_is_no_plain_object_is_one_argument(pets: dict[str, NormalTool]) -> None:
    spec = pets["POST /pets"].spec
    assert spec.input_schema["properties"]["body"]["type"] == "array"
    assert spec.meta[HTTP]["arguments"] == {"body": {"in": "body", "pointer": ""}}
    assert spec.meta[HTTP]["security"] == []


def test_a_broken_operation_is_listed_with_its_place_and_the_others_load() -> None:
    paths: dict[str, Any] = {
        "/a": {"get": {"parameters": [{"$ref": "#/components/parameters/Gone"}]}, "post": {}},
        "/b": {"get": {"parameters": [{"name": "x", "in": "nowhere"}]}},
        "/c": 3,
        "/d": {"get": {"parameters": [{"name": "q", "in": "query", "schema": {"$ref": "#/components/schemas/Gone"}}]}},
        "/e": {"$ref": "#/paths/~1e"},
    }
    found = read_tools({"openapi": "3.1.0", "info": {"title": "t"}, "paths": paths}, "api.json")
    assert [tool.original_name for tool in found.tools] == ["POST /a"]
    told = {rejected.tool: str(rejected) for rejected in found.rejected}
    assert "parameters/0: $ref '#/components/parameters/Gone' does not exist" in told["GET /a"]
    assert "a place (in)" in told["GET /b"]
    assert "must be an object" in told["/c"]
    assert "arguments/properties/q/$ref" in told["GET /d"]
    assert "never end" in told["/e"]


def test_a_tool_that_reaches_a_whole_document_is_bounded_and_says_so() -> None:
    """Every schema refers to ten others, as the documents of large services do."""
    schemas = {
        f"S{i}": {
            "type": "object",
            "properties": {f"p{k}": {"$ref": f"#/components/schemas/S{(i * 7 + k) % 2000}"} for k in range(10)},
        }
        for i in range(2000)
    }
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S1"}}}}
    paths = {f"/o{i}": {"post": {"requestBody": body}} for i in range(3)}
    found = read_tools({"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}}, "large.json", "large")
    assert len(found.tools) == 3
    assert len(found.tools[0].spec.input_schema["$defs"]) <= 200
    assert any("more than 200 definitions" in change.why for change in found.tools[0].changes)
    assert ArgumentChecker(found.tools[0].spec).fault({"p0": {"p0": 3}}) is not None
