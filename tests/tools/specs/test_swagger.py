"""OpenAPI 2.0 (Swagger): the same normal form as version 3 gives, every difference told."""

from typing import Any

import pytest

from agent_world.tools.arguments import ArgumentChecker
from agent_world.tools.documents import parse_yaml
from agent_world.tools.specs import HTTP, NormalTool, read_tools

PETS = """
swagger: 2.0
info: {title: Pets, version: 1}
schemes: [https, http]
host: pets.example
basePath: /v1/
consumes: [text/xml, application/json]
security: [{key: []}]
parameters:
  Trace: {name: X-Trace, in: header, type: string}
paths:
  /pets:
    get:
      operationId: find.pets
      parameters:
      - {name: tags, in: query, type: array, items: {type: string}, collectionFormat: pipes, minItems: 1}
      - {name: ids, in: query, type: array, items: {type: integer}}
      - {name: limit, in: query, type: integer, maximum: 100, exclusiveMaximum: true, default: 10, x-hint: small}
      - {name: near, in: query, type: string, allowEmptyValue: true}
      - {name: Accept, in: header, type: string}
      responses: {200: {description: d, schema: {type: array, items: {$ref: '#/definitions/Pet'}}}}
    post:
      operationId: addPet
      parameters:
      - {$ref: '#/parameters/Trace'}
      - {name: pet, in: body, required: true, schema: {$ref: '#/definitions/Pet'}}
      responses: {201: {$ref: '#/responses/Made'}}
  /pets/{id}:
    parameters: [{name: id, in: path, required: true, type: integer, format: int64}]
    post:
      operationId: updatePet
      consumes: [application/x-www-form-urlencoded]
      schemes: [http]
      parameters:
      - {name: id, in: formData, type: string}
      - {name: status, in: formData, type: string, enum: [sold, free], required: true}
    put:
      operationId: tagPets
      parameters: [{name: tags, in: body, schema: {type: array, items: {type: string}}}]
  /pets/{id}/photo:
    parameters: [{name: id, in: path, required: true, type: integer}]
    post:
      operationId: addPhoto
      security: []
      produces: [image/png]
      parameters: [{name: photo, in: formData, type: file, required: true}]
      responses: {200: {description: d, schema: {type: file}}}
responses:
  Made: {description: d, schema: {type: object, properties: {id: {type: integer}}}}
definitions:
  Pet:
    type: object
    required: [name]
    properties:
      id: {type: integer, readOnly: true}
      name: {type: string}
      nick: {type: string, x-nullable: true}
      parent: {$ref: '#/definitions/Pet'}
"""


@pytest.fixture(scope="module")
def pets() -> dict[str, NormalTool]:
    found = read_tools(parse_yaml(PETS), "pets.yaml")
    assert not found.rejected
    return {tool.original_name: tool for tool in found.tools}


def changes(tool: NormalTool, what: str) -> dict[str, str]:
    return {change.path: change.effect for change in tool.changes if change.what == what}


def test_a_parameter_is_its_own_schema_and_a_list_has_the_style_of_version_3(pets: dict[str, NormalTool]) -> None:
    spec = pets["find.pets"].spec
    assert spec.input_schema["properties"] == {
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "ids": {"type": "array", "items": {"type": "integer"}},
        "limit": {"type": "integer", "exclusiveMaximum": 100, "default": 10}, "near": {"type": "string"},
    }  # fmt: skip
    places = spec.meta[HTTP]["arguments"]
    assert places["tags"] == {"in": "query", "name": "tags", "style": "pipeDelimited", "explode": False}
    assert places["ids"] == {"in": "query", "name": "ids", "explode": False}
    assert places["limit"] == {"in": "query", "name": "limit"}
    assert spec.annotations.read_only
    assert spec.output_schema == {
        "type": "array", "items": {"$ref": "#/$defs/Pet"}, "$defs": spec.output_schema["$defs"],
    }  # fmt: skip
    assert changes(pets["find.pets"], "transport") == {"arguments/near": "narrower", "arguments/Accept": "same"}


def test_servers_media_types_and_security_are_told_as_in_version_3(pets: dict[str, NormalTool]) -> None:
    told = {name: tool.spec.meta[HTTP] for name, tool in pets.items()}
    both = ["https://pets.example/v1", "http://pets.example/v1"]
    assert [told[name]["servers"] for name in ("addPet", "updatePet")] == [both, both[1:]]
    assert {name: http["body_type"] for name, http in told.items()} == {
        "find.pets": None, "addPet": "application/json", "updatePet": "application/x-www-form-urlencoded",
        "tagPets": "application/json", "addPhoto": "multipart/form-data",
    }  # fmt: skip
    assert [told[name]["security"] for name in ("addPet", "addPhoto")] == [[["key"]], []]


def test_a_body_is_read_through_its_definition_and_what_is_read_only_is_left_out(pets: dict[str, NormalTool]) -> None:
    tool = pets["addPet"]
    assert tool.spec.meta[HTTP]["arguments"] == {
        "X-Trace": {"in": "header", "name": "X-Trace"}, "name": {"in": "body", "pointer": "/name"},
        "nick": {"in": "body", "pointer": "/nick"}, "parent": {"in": "body", "pointer": "/parent"},
    }  # fmt: skip
    assert tool.spec.input_schema["required"] == ["name"]
    assert tool.spec.input_schema["properties"]["nick"]["type"] == ["string", "null"]
    assert tool.spec.output_schema == {"type": "object", "properties": {"id": {"type": "integer"}}}
    assert "guess" in changes(tool, "null_form").values()
    checker = ArgumentChecker(tool.spec)
    assert checker.fault({"name": "Rex", "parent": {"name": "Max", "nick": None}}) is None
    assert "'parent' lacks 'name'" in (checker.fault({"name": "Rex", "parent": {}}) or "")


def test_a_body_that_is_no_object_is_one_argument_under_its_own_name(pets: dict[str, NormalTool]) -> None:
    spec = pets["tagPets"].spec
    assert spec.meta[HTTP]["arguments"]["tags"] == {"in": "body", "pointer": ""}
    assert spec.input_schema["properties"]["tags"] == {"type": "array", "items": {"type": "string"}}
    assert spec.input_schema["required"] == ["id"]


def test_fields_of_a_form_are_arguments_and_a_file_is_text(pets: dict[str, NormalTool]) -> None:
    form, photo = pets["updatePet"], pets["addPhoto"]
    assert form.spec.meta[HTTP]["arguments"]["body_id"] == {"in": "body", "pointer": "/id"}
    assert form.spec.input_schema["required"] == ["id", "status"]
    assert changes(form, "argument_name") == {"arguments/body_id": "same"}
    assert photo.spec.input_schema["properties"]["photo"] == {"type": "string", "format": "binary"}
    assert changes(photo, "type_name") == {"arguments/photo": "guess"}
    assert photo.spec.output_schema is None


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ([{"name": "a", "in": "body"}, {"name": "b", "in": "formData", "type": "string"}], "one body or the fields"),
        ([{"name": "a", "in": "body"}, {"name": "b", "in": "body"}], "one body or the fields"),
        ([{"name": "a", "in": "cookie", "type": "string"}], "a place (in) of path, query, header, body, formData"),
        ([{"$ref": "#/parameters/Gone"}], "'#/parameters/Gone' does not exist"),
        ([{"name": "a", "in": "body", "schema": {"$ref": "#/definitions/Gone"}}], "'#/definitions/Gone'"),
    ],
)
def test_what_cannot_be_a_request_is_listed_with_the_reason(parameters: list[Any], reason: str) -> None:
    paths = {"/a": {"post": {"parameters": parameters}, "get": {}}}
    found = read_tools({"swagger": "2.0", "paths": paths}, "api.json")
    assert [tool.original_name for tool in found.tools] == ["GET /a"]
    assert [reason in str(rejected) for rejected in found.rejected] == [True]


def test_without_host_or_schemes_the_address_is_as_far_as_it_is_said() -> None:
    def servers(**parts: Any) -> Any:
        found = read_tools({"swagger": "2.0", "paths": {"/a": {"get": {}}}, **parts}, "api.json")
        return found.tools[0].spec.meta[HTTP]["servers"]

    assert servers() == []
    assert servers(basePath="/v2") == ["/v2"]
    assert servers(host="x.example", basePath="/") == ["https://x.example"]
