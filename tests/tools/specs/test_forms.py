import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agent_world.errors import UsageError
from agent_world.tools.specs import ORIGINAL, Intake, read_file, read_tools

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
FORMS: dict[str, Any] = {
    "mcp list": [{"name": "find", "description": "d", "inputSchema": SCHEMA}],
    "mcp tools": {"tools": [{"name": "find", "description": "d", "inputSchema": SCHEMA}], "nextCursor": None},
    "json-rpc": {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"tools": [{"name": "find", "description": "d", "inputSchema": SCHEMA}]},
    },
    "openai bare": [{"name": "find", "description": "d", "parameters": SCHEMA}],
    "openai chat": [{"type": "function", "function": {"name": "find", "description": "d", "parameters": SCHEMA}}],
    "openai responses": [
        {"type": "function", "name": "find", "description": "d", "parameters": SCHEMA, "strict": True}
    ],
    "openai functions": {"functions": [{"name": "find", "description": "d", "parameters": SCHEMA}]},
    "anthropic": [{"name": "find", "description": "d", "input_schema": SCHEMA}],
    "one tool": {"name": "find", "description": "d", "inputSchema": SCHEMA},
    "schema as text": [{"name": "find", "description": "d", "inputSchema": json.dumps(SCHEMA)}],
    "tool as text": [json.dumps({"name": "find", "description": "d", "inputSchema": SCHEMA})],
    "document as text": json.dumps({"tools": [{"name": "find", "description": "d", "inputSchema": SCHEMA}]}),
    "bare map": [{"name": "find", "description": "d", "parameters": {"q": {"type": "string", "required": True}}}],
    "server record": {
        "file": "1.json",
        "name": "S",
        "tools": [{"name": "find", "description": "d", "input_schema": SCHEMA}],
    },
    "several servers": [{"server": "s", "tools": [{"name": "find", "description": "d", "input_schema": SCHEMA}]}],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_tool(form: str) -> None:
    (tool,) = read_tools(FORMS[form], "here").tools
    assert (tool.spec.name, tool.spec.description, tool.spec.input_schema) == ("find", "d", SCHEMA)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (3, "no known form"),
        (None, "no known form"),
        ({}, "no known form"),
        ("text", "no known form"),
        ({"tools": {}}, "must be a list"),
        ({"tools": []}, "lists no tools"),
        ({"jsonrpc": "2.0", "error": {"code": -1, "message": "boom"}}, "boom"),
        ({"swagger": "2.0", "paths": {}}, "no operations"),
        ({"swagger": "1.2", "apis": []}, "only 2.0, 3.0 and 3.1"),
        ([None], "not null"),
        ([{"name": 3}], "no name"),
        ([{"name": "x", "inputSchema": 3}], "not a int"),
        ([{"name": "x", "inputSchema": {"type": "array"}}], "arguments are an object"),
        ([{"name": "x", "inputSchema": False}], "accepts no arguments"),
        ([{"name": "bash", "type": "bash_20250124"}], "built-in of its vendor"),
        ([{"name": "x", "inputSchema": {"properties": {"a": {"default": float("nan")}}}}], "no JSON"),
        ([{"name": "x", "inputSchema": {"properties": {"a": {"default": {1: 2}}}}}], "no text"),
        ([{"name": "x", "inputSchema": {"enum": list(range(60_000))}}], "more than 50,000 values"),
    ],
)
def test_what_cannot_be_read_is_listed_with_the_reason(document: Any, reason: str) -> None:
    found = read_tools(document, "file.json", "shop")
    assert not found.tools
    assert reason in found.rejected[0].reason
    assert str(found.rejected[0]).startswith("file.json: shop")


def test_the_original_is_kept_whole() -> None:
    given = {"name": "a b", "inputSchema": {"properties": {"q": {"type": "str", "x": [1, None]}}}, "strict": True}
    (tool,) = read_tools([given], "here").tools
    assert json.loads(tool.spec.meta[ORIGINAL]) == given


def test_halves_of_characters_are_mended_and_the_original_kept() -> None:
    given = {"name": "cut\ud83d", "description": "x \ud83d", "inputSchema": {"properties": {"\ud83d": {}}}}
    (tool,) = read_tools([given], "here").tools
    assert tool.spec.model_dump_json()
    assert tool.spec.description == "x \ufffd"
    assert json.loads(tool.spec.meta[ORIGINAL]) == given
    assert [c.what for c in tool.changes if c.what == "text"] == ["text"]


def test_annotations_and_result_schemas_are_read_or_left_out_with_a_change() -> None:
    sound = {"name": "a", "annotations": {"readOnlyHint": True, "title": "T"}, "outputSchema": {"type": "str"}}
    odd = {"name": "b", "annotations": [], "outputSchema": {"$ref": "#/gone"}}
    one, two = read_tools([sound, odd], "here").tools
    assert (one.spec.annotations.read_only, one.spec.output_schema) == (True, {"type": "string"})
    assert (two.spec.annotations.read_only, two.spec.output_schema) == (False, None)
    assert {"annotations", "outputSchema"} <= {change.path for change in two.changes}


# --- Files ---------------------------------------------------------------------------------------------


def written(path: Path, data: bytes) -> Intake:
    path.write_bytes(data)
    return read_file(path)


def test_files_of_every_kind_are_read(tmp_path: Path) -> None:
    text = json.dumps(FORMS["mcp tools"]).encode()
    line = json.dumps(FORMS["server record"]).encode() + b"\n"
    assert len(written(tmp_path / "a.json", b"\xef\xbb\xbf" + text).tools) == 1
    assert len(written(tmp_path / "a.json.gz", gzip.compress(text)).tools) == 1
    assert len(written(tmp_path / "a.yaml", b"tools:\n- name: find\n  inputSchema: {type: object}\n").tools) == 1
    damaged = written(tmp_path / "a.jsonl", line + b"{broken\n\n" + line)
    assert [tool.server for tool in damaged.tools] == ["1.json", "1.json (line 4)"]
    assert [r.field for r in damaged.rejected] == ["line 2"]


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.json", b"{"), ("a.json", b'{"a": NaN}'), ("a.json", b"\xff"), ("a.yaml", b"a: [\n"), ("a.json.gz", b"no"),
     ("a.json", b"[" * 5000), ("a.yaml", b"{" * 5000)],
)  # fmt: skip
def test_a_file_that_is_not_what_its_name_says_is_named(tmp_path: Path, name: str, data: bytes) -> None:
    with pytest.raises(UsageError, match=name):
        written(tmp_path / name, data)


def test_yaml_that_refers_to_itself_does_not_hang(tmp_path: Path) -> None:
    found = written(tmp_path / "a.yaml", b"tools: [{name: a, inputSchema: &s {type: object, properties: {s: *s}}}]\n")
    assert "nested" in found.rejected[0].reason
    bomb = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        f"{n}: &{n} [*{p},*{p},*{p},*{p},*{p},*{p},*{p},*{p},*{p}]\n".encode()
        for p, n in zip("abcdefgh", "bcdefghi", strict=True)
    )
    found = written(tmp_path / "b.yaml", bomb + b"tools: [{name: a, inputSchema: {type: object, default: *i}}]\n")
    assert "more than 50,000 values" in found.rejected[0].reason
