"""The faults in tool specifications that users of neighbouring systems reported, each as its whole kind."""

import itertools
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from jsonschema import Draft202012Validator

from agent_world.schema import ToolSpec
from agent_world.settings import LocalRuntime
from agent_world.tools.arguments import ArgumentChecker
from agent_world.tools.runtime import Runtime, open_runtime
from agent_world.tools.specs import CONDITIONS, WEAK, Intake, python_names, read_servers, read_tools
from agent_world.tools.specs.probe import learn_conditions, learn_types

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),  # one runtime for all
    pytest.mark.filterwarnings("ignore:.*it is not an async function"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime() -> AsyncIterator[Runtime]:
    async with open_runtime(LocalRuntime()) as opened:
        yield opened


FITS = re.compile(r"[A-Za-z0-9_-]{1,64}")


def intake(*schemas: Any) -> Intake:
    return read_tools([{"name": f"t{i}", "inputSchema": schema} for i, schema in enumerate(schemas)], "here.json")


def one(schema: Any) -> ToolSpec:
    found = intake(schema)
    assert not found.rejected
    return found.tools[0].spec


def spec(name: str, properties: dict[str, Any], **more: Any) -> ToolSpec:
    return ToolSpec(name=name, description="", input_schema={"type": "object", "properties": properties, **more})


# --- PB-01: a referenced object arrives as an object -----------------------------------------------------

Q = {"type": "object", "properties": {"top": {"type": "integer"}}}
REFERRED = [
    {"properties": {"q": {"$ref": "#/$defs/Q"}}, "$defs": {"Q": Q}},
    {"properties": {"q": {"$ref": "#/definitions/Q"}}, "definitions": {"Q": Q}},
    {"properties": {"q": {"allOf": [{"$ref": "#/$defs/Q"}], "description": "d"}}, "$defs": {"Q": Q}},
    {"properties": {"q": {"$ref": "#/properties/p"}, "p": Q}},
    {"properties": {"q": {"$ref": "#q"}}, "$defs": {"Q": {"$anchor": "q", **Q}}},
    {"properties": {"q": {"$ref": "http://x.test/q"}}, "$defs": {"Q": {"$id": "http://x.test/q", **Q}}},
    {"properties": {"q": {"$ref": "#/$defs/a~1b%20c"}}, "$defs": {"a/b c": Q}},
    {"properties": {"q": {"$ref": "#/$defs/P"}}, "$defs": {"P": {"$ref": "#/$defs/Q"}, "Q": Q}},
]


@pytest.mark.parametrize("schema", REFERRED)
def test_a_referenced_object_is_written_out_and_its_text_refused(schema: dict[str, Any]) -> None:
    read = one({"type": "object", "required": ["q"], **schema})
    assert read.input_schema["properties"]["q"]["properties"] == {"top": {"type": "integer"}}
    assert "$defs" not in read.input_schema
    checker = ArgumentChecker(read)
    assert checker.fault({"q": {"top": 3}}) is None
    assert checker.ready({"q": {"top": 3.0}}) == {"q": {"top": 3}}
    assert isinstance(checker.ready({"q": {"top": 3.0}})["q"]["top"], int)
    assert "must be of type object" in (told := checker.fault({"q": '{"top":3}'}) or "")
    assert "not text that holds it" in told
    assert "'q.top' must be of type integer" in (checker.fault({"q": {"top": "3"}}) or "")


async def test_a_nested_argument_reaches_the_tool_as_an_object(runtime: Runtime, tmp_path: Path) -> None:
    read = one({"required": ["q"], **REFERRED[0]})
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [read.model_dump(mode="json", by_alias=True)]}))
    (tmp_path / "tools.py").write_text("def t0(q):\n    return [type(q).__name__, type(q['top']).__name__]\n")
    instance = await runtime.open(tmp_path)
    assert (await instance.call("t0", {"q": {"top": 3.0}})).value == ["dict", "int"]
    assert (await instance.call("t0", {"q": '{"top":3}'})).error == "invalid_arguments"
    await instance.close()


@pytest.mark.parametrize("ref", ["#/$defs/Gone", "#/definitions/Gone", "#/nowhere/0/x", "#gone", "#/$defs"])
def test_a_missing_definition_is_an_error_that_names_the_path(ref: str) -> None:
    broken = {"properties": {"deep": {"items": {"$ref": ref}}}}
    found = intake({"type": "object"}, broken)
    assert [tool.original_name for tool in found.tools] == ["t0"]
    (rejected,) = found.rejected
    assert (rejected.where, rejected.tool) == ("here.json", "t1")
    assert rejected.field == "inputSchema/properties/deep/items/$ref"
    assert "does not exist" in rejected.reason


def test_another_document_is_not_fetched_and_that_is_said() -> None:
    (tool,) = intake({"properties": {"q": {"$ref": "https://example.org/q.json#/Q"}}}).tools
    assert tool.spec.input_schema["properties"] == {"q": {}}
    assert [c.path for c in tool.changes if c.what == "reference"] == ["inputSchema/properties/q/$ref"]
    assert not tool.equivalent


# --- PB-02: recursion ------------------------------------------------------------------------------------

NODE = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}
CIRCLES = [
    {"properties": {"n": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": NODE}},
    {"properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}},
    {"properties": {"n": {"$recursiveRef": "#"}}},
    {"$ref": "#/$defs/Node", "$defs": {"Node": NODE}},
    {
        "properties": {"n": {"$ref": "#/$defs/A"}},
        "$defs": {
            "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
            "B": {"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}}},
        },
    },
]


@pytest.mark.parametrize("schema", CIRCLES)
def test_a_circle_is_kept_as_a_reference(schema: dict[str, Any]) -> None:
    found = intake(schema, {"type": "object"})
    assert len(found.tools) == 2
    read = found.tools[0].spec
    assert read.input_schema["$defs"]
    Draft202012Validator.check_schema(read.input_schema)
    checker = ArgumentChecker(read)
    assert (
        checker.fault({"n": {"kids": [{"kids": []}]}} if "n" in read.input_schema["properties"] else {"kids": []})
        is None
    )


def test_a_circle_is_checked_at_every_depth() -> None:
    checker = ArgumentChecker(one(CIRCLES[0]))
    assert "'n.kids[0].kids[0].kids'" in (checker.fault({"n": {"kids": [{"kids": [{"kids": 1}]}]}}) or "")
    deep: Any = {}
    for _ in range(90):
        deep = {"kids": [deep]}
    assert "deep" in (checker.fault({"n": deep}) or "")


@pytest.mark.parametrize(
    "definitions",
    [
        {"A": {"$ref": "#/$defs/A"}},
        {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
        {"A": {"allOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}},
        {"A": {"anyOf": [{"type": "string"}, {"not": {"$ref": "#/$defs/A"}}]}},
    ],
)
def test_a_definition_by_itself_alone_is_cut(definitions: dict[str, Any]) -> None:
    (tool,) = intake({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": definitions}).tools
    assert ArgumentChecker(tool.spec).fault({"a": "text"}) is None
    assert any("cut" in change.why for change in tool.changes)


def test_definitions_that_double_at_each_step_stay_small() -> None:
    twice = {
        f"D{i}": {"type": "object", "properties": {n: {"$ref": f"#/$defs/D{i + 1}"} for n in "ab"}} for i in range(60)
    }
    read = one({"properties": {"d": {"$ref": "#/$defs/D0"}}, "$defs": twice | {"D60": {"type": "string"}}})
    assert len(json.dumps(read.input_schema)) < 100_000


@pytest.mark.parametrize("depth", [60, 400, 5000])
def test_a_schema_nested_without_measure_is_refused_and_the_others_load(depth: int) -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        deep = {"type": "array", "items": deep}
    found = intake({"properties": {"d": deep}}, {"type": "object"})
    assert [t.original_name for t in found.tools] == (["t0", "t1"] if depth < 98 else ["t1"])
    assert all("nested" in rejected.reason for rejected in found.rejected)


# --- PB-03: what may be null -----------------------------------------------------------------------------

NULLABLE = [
    {"type": ["string", "null"]},
    {"type": ["null", "string"]},
    {"anyOf": [{"type": "string"}, {"type": "null", "description": "none"}]},
    {"oneOf": [{"type": "null"}, {"type": "string"}]},
    {"anyOf": [{"type": ["string", "null"]}, {"type": "null"}]},
    {"type": "string", "nullable": True},
    {"type": ["string"], "nullable": True},
    {"anyOf": [{"type": "string"}], "nullable": True},
    {"anyOf": [{"$ref": "#/$defs/S"}, {"type": "null"}]},
    {"allOf": [{"$ref": "#/$defs/S"}], "nullable": True},
    {"type": "Optional[str]"},
    {"type": "string | null"},
]


@pytest.mark.parametrize("schema", NULLABLE)
def test_every_way_to_allow_null_becomes_the_same_optional_string(schema: dict[str, Any]) -> None:
    read = one({"type": "object", "properties": {"s": schema}, "$defs": {"S": {"type": "string"}}})
    assert read.input_schema["properties"]["s"] == {"type": ["string", "null"]}
    checker = ArgumentChecker(read)
    assert [checker.fault(given) for given in ({}, {"s": None}, {"s": "x"})] == [None] * 3
    assert "must be of type string or null, not 3" in (checker.fault({"s": 3}) or "")


@pytest.mark.parametrize(
    ("schema", "normal"),
    [
        (
            {"enum": ["a", "b"], "type": "string", "nullable": True},
            {"enum": ["a", "b", None], "type": ["string", "null"]},
        ),
        ({"anyOf": [{"const": 1}, {"type": "null"}]}, {"enum": [1, None]}),
        ({"anyOf": [{"$ref": "#/$defs/O"}, {"type": "null"}]}, {"type": ["object", "null"], "properties": {}}),
        (
            {"anyOf": [{"anyOf": [{"type": "null"}, {"type": "string"}]}, {"type": "integer"}]},
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        ),
    ],
)
def test_null_beside_other_things_is_kept(schema: dict[str, Any], normal: dict[str, Any]) -> None:
    definitions = {"O": {"type": "object", "properties": {}}}
    assert one({"properties": {"s": schema}, "$defs": definitions}).input_schema["properties"]["s"] == normal


# --- PB-04: tools without arguments ----------------------------------------------------------------------

NOTHING: list[dict[str, Any]] = [
    {}, {"type": "object"}, {"type": "object", "properties": {}}, {"properties": {}}, {"type": None}, {"type": "None"},
    {"type": "object", "properties": None, "required": None}, {"type": "object", "required": []},
]  # fmt: skip


@pytest.mark.parametrize("schema", NOTHING)
def test_a_tool_without_arguments_takes_none(schema: dict[str, Any]) -> None:
    read = one(schema)
    assert {k: v for k, v in read.input_schema.items() if v != []} == {"type": "object", "properties": {}}
    checker = ArgumentChecker(read)
    assert checker.fault({}) is None
    assert "no argument 'x'" in (checker.fault({"x": 1}) or "")


def test_a_tool_whose_schema_is_absent_takes_none_and_that_is_said() -> None:
    (tool,) = read_tools([{"name": "ping", "description": "d", "inputSchema": None}], "here").tools
    assert ArgumentChecker(tool.spec).fault({}) is None
    assert [(c.what, c.effect) for c in tool.changes] == [("absent", "guess")]


# --- PB-06, PB-07: names ---------------------------------------------------------------------------------

NAMES = [
    "stock.lookup", "stock/lookup", "stock_lookup", "Stock Lookup", "stock lookup ", "x" * 90, "x" * 91, "名前", "имя",
    "a\x00b", "\n", "naïve", "-", "_", "..", "tool", "a" * 64, "a" * 65,
]  # fmt: skip


def test_awkward_names_of_one_server_are_distinct_and_lead_back() -> None:
    found = read_tools([{"name": name} for name in NAMES], "here", "shop")
    exposed = found.names()
    assert all(FITS.fullmatch(name) for name in exposed)
    given = {original for _, original in exposed.values()} | {r.tool for r in found.rejected}
    assert len(exposed) + len(found.rejected) == len(NAMES)
    assert set(NAMES) - given == {"\n"}  # blank: listed by its number
    assert exposed["stock_lookup"] == ("shop", "stock_lookup")


def test_names_do_not_depend_on_the_order() -> None:
    pairs = [("a", "search"), ("b", "search"), ("a", "get it"), ("a", "get.it"), ("b", "only")]
    whole = [
        read_servers([(s, {"tools": [{"name": n}]}) for s, n in order], "x").names()
        for order in itertools.permutations(pairs)
    ]
    assert all(names == whole[0] for names in whole)
    assert whole[0]["only"] == ("b", "only")
    assert {whole[0]["a_search"], whole[0]["b_search"]} == {("a", "search"), ("b", "search")}


def test_two_servers_with_one_name_stay_apart() -> None:
    by_text = {"name": "search", "inputSchema": {"properties": {"text": {"type": "string"}}}}
    by_id = {"name": "search", "inputSchema": {"properties": {"id": {"type": "integer"}}}}
    found = read_servers([("notes", {"tools": [by_text]}), ("people", {"tools": [by_id]})], "set")
    assert {(t.server, t.original_name): list(t.spec.input_schema["properties"]) for t in found.tools} == {
        ("notes", "search"): ["text"], ("people", "search"): ["id"],
    }  # fmt: skip
    assert len(found.names()) == 2


@pytest.mark.parametrize("other", [{"name": "get"}, {"name": "get", "description": "another"}])
def test_a_name_listed_twice_by_one_server_is_one_tool_and_the_other_listed(other: dict[str, Any]) -> None:
    found = read_tools([{"name": "get"}, other], "here", "shop")
    assert len(found.tools) == 1
    assert "lists this name twice" in found.rejected[0].reason


# --- PB-08: weak specifications --------------------------------------------------------------------------


def weak(parameters: list[Any], description: str = "") -> Any:
    (tool,) = read_tools([{"name": "list", "description": description, "parameters": parameters}], "page").tools
    return tool


def test_a_bare_list_of_parameters_is_of_low_confidence_and_its_types_are_open() -> None:
    tool = weak(
        [{"name": "query", "type": "string", "required": True}, {"name": "x", "type": "string", "required": False}]
    )
    assert tool.weak
    assert tool.spec.meta[WEAK] is True
    assert not tool.equivalent
    assert tool.spec.input_schema == {"type": "object", "properties": {"query": {}, "x": {}}, "required": ["query"]}


@pytest.mark.parametrize(
    ("name", "listed", "description", "guess"),
    [
        ("page_size", "string", "", "integer"),
        ("maxResults", "string", "", "integer"),
        ("is_open", "string", "", "boolean"),
        ("tags", "string", "tags (array): to filter by", "array"),
        ("tags", "array", "", "array"),
        ("island", "string", "", None),
        ("account", "string", "", None),
        ("user_id", "string", "", None),
    ],
)
def test_a_type_is_guessed_where_it_is_plain_and_said_so(
    name: str, listed: str, description: str, guess: str | None
) -> None:
    tool = weak([{"name": name, "type": listed, "required": False}], description)
    assert tool.spec.input_schema["properties"][name].get("type") == guess
    assert [c.effect for c in tool.changes if c.what == "type_guess"] == (["guess"] if guess else [])


def test_an_empty_list_of_parameters_refuses_nothing() -> None:
    tool = weak([])
    assert tool.weak
    assert [ArgumentChecker(tool.spec).fault(given) for given in ({}, {"anything": 1})] == [None, None]


@pytest.mark.parametrize("parameters", [[{"type": "string"}], ["q"], [{"name": ""}]])
def test_a_parameter_without_a_name_is_listed_with_its_place(parameters: list[Any]) -> None:
    (rejected,) = read_tools([{"name": "list", "parameters": parameters}], "page").rejected
    assert (rejected.tool, rejected.field) == ("list", "parameters/0")


async def test_types_are_learned_from_test_calls(runtime: Runtime, tmp_path: Path) -> None:
    tool = weak([{"name": "how_many", "type": "string", "required": True}, {"name": "word", "type": "string"}])
    (tmp_path / "tools.py").write_text("def list(how_many, word=''):\n    return [word.upper()] * (how_many + 0)\n")
    instance = await runtime.open(tmp_path)
    learned = await learn_types(instance, tool.spec)
    await instance.close()
    properties = learned.input_schema["properties"]
    assert (properties["how_many"], properties["word"]) == ({"type": "integer"}, {"type": "string"})
    assert learned.meta[WEAK] is True


# --- PB-14: reserved words -------------------------------------------------------------------------------

RESERVED = [
    "from",
    "class",
    "filter.ts.lte",
    "$schema",
    "None",
    "a-b",
    "a_b",
    "2nd",
    "",
    "ſ",
    "from_",
    "self",
    "__debug__",
]


def test_the_schema_keeps_real_names_and_python_gets_aliases_that_lead_back() -> None:
    read = one({"type": "object", "properties": {name: {"type": "string"} for name in RESERVED}, "required": ["from"]})
    assert list(read.input_schema["properties"]) == RESERVED
    assert ArgumentChecker(read).fault(dict.fromkeys(RESERVED, "x")) is None
    aliases = python_names(RESERVED)
    assert len(set(aliases.values())) == len(RESERVED)
    compile(f"def f({', '.join(aliases.values())}): pass", "f", "exec")  # our own text: names alone
    assert (aliases["filter.ts.lte"], aliases["self"], aliases["from_"]) == ("filter_ts_lte", "self", "from_")
    assert python_names(reversed(RESERVED)) == aliases


async def test_a_tool_with_reserved_argument_names_can_be_called(runtime: Runtime, tmp_path: Path) -> None:
    properties = {name: {"type": "string"} for name in ("from", "class", "filter.ts.lte", "$schema")}
    dumped = spec("echo", properties).model_dump(mode="json", by_alias=True)
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [dumped]}))
    (tmp_path / "tools.py").write_text("def echo(**arguments):\n    return sorted(arguments)\n")
    instance = await runtime.open(tmp_path)
    assert (await instance.call("echo", dict.fromkeys(properties, "x"))).value == sorted(properties)
    await instance.close()


# --- PB-15: arguments that depend on each other ----------------------------------------------------------

EITHER = """
def find(id=None, email=None):
    if (id is None) == (email is None):
        raise ToolError("bad_request", "give one of them, not both")
    raise ToolError("not_found", "nobody")
"""
ANY = """
def find(id=None, email=None):
    if id is None and email is None:
        raise ValueError("give something")
    return []
"""
TOGETHER = """
def find(id=None, email=None):
    if email is not None and id is None:
        raise ValueError("email needs id")
    return []
"""
ALWAYS = """
def find(id=None, email=None):
    if id is None:
        raise ValueError("id!")
    return []
"""
FREE = "def find(id=None, email=None):\n    return []\n"
BROKEN = "def find(id=None, email=None):\n    raise RuntimeError('always')\n"


@pytest.mark.parametrize(
    ("source", "kinds", "said"),
    [
        (EITHER, ["exactly_one"], "Give exactly one of 'id' and 'email'."),
        (ANY, ["at_least_one"], "Give at least one of 'id' and 'email'."),
        (TOGETHER, ["needs"], "'email' needs 'id'."),
        (ALWAYS, ["required"], "'id' must be given."),
        (FREE, [], ""),
        (BROKEN, [], ""),
    ],
)
async def test_a_condition_is_learned_from_test_calls_and_told(
    runtime: Runtime, tmp_path: Path, source: str, kinds: list[str], said: str
) -> None:
    given = spec("find", {"id": {"type": "integer"}, "email": {"type": "string"}})
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [given.model_dump(mode="json", by_alias=True)]}))
    (tmp_path / "tools.py").write_text(source)
    instance = await runtime.open(tmp_path)
    learned = await learn_conditions(instance, given)
    await instance.close()
    assert [condition["kind"] for condition in learned.meta.get(CONDITIONS, [])] == kinds
    assert said in learned.description
    assert learned.input_schema == given.input_schema


async def test_test_calls_leave_no_trace(runtime: Runtime, tmp_path: Path) -> None:
    source = "def find(id=None, email=None):\n    open('log.json', 'a').write('[1]')\n    return []\n"
    (tmp_path / "tools.py").write_text(source)
    (tmp_path / "database").mkdir()
    (tmp_path / "database" / "rows.json").write_text("[]")
    instance = await runtime.open(tmp_path)
    before = await instance.state_hash()
    await learn_conditions(instance, spec("find", {"id": {"type": "integer"}, "email": {"type": "string"}}))
    assert await instance.state_hash() == before
    await instance.close()
