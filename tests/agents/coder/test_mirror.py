"""Interfaces of a real service, taken over where the data can answer them."""

from pathlib import Path
from typing import Any

from agent_world.agents.coder.procedural import ProceduralCoder
from agent_world.schema import ToolSpec
from tests.agents.coder.worlds import make_awkward


def real(name: str, required: tuple[str, ...] = (), **parameters: str) -> ToolSpec:
    properties: dict[str, Any] = {parameter: {"type": kind} for parameter, kind in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec(name=name, description="Of the real service.", input_schema=schema)


async def mirrored(root: Path, *tools: ToolSpec) -> dict[str, tuple[ToolSpec, dict[str, Any]]]:
    draft = await ProceduralCoder(seed=0, most=24).draft(make_awkward(root / "awkward", tools))
    found = {tool.spec.name: tool.spec for tool in draft.tools}
    marks = {name: spec.meta.get("agent_world/mirrors") for name, spec in found.items()}
    return {name: (found[name], mark) for name, mark in marks.items() if mark}


async def test_a_real_tool_keeps_its_name_and_its_parameters(tmp_path: Path) -> None:
    tools = (real("getCity", ("code",), code="string"), real("city-search", ("text",), text="string", near="string"))
    found = await mirrored(tmp_path, *tools)
    get, mark = found["getCity"]
    assert (list(get.input_schema["properties"]), mark) == (["code"], {"tool": "getCity", "left_out": []})
    search, mark = found["city_search"]
    assert "text" in search.input_schema["required"]
    assert mark == {"tool": "city-search", "left_out": ["near"]}
    assert search.operation is not None
    assert search.operation.inputs == {"text": "cities.name"}


async def test_what_the_data_cannot_answer_is_not_mirrored(tmp_path: Path) -> None:
    tools = (
        real("get_forecast", ("city", "day"), city="string", day="string"),
        real("get_city", ("latitude", "longitude"), latitude="number", longitude="number"),
        real("send_alert", ("code",), code="string"),
    )
    assert await mirrored(tmp_path, *tools) == {}


async def test_a_name_that_is_no_identifier_is_made_one(tmp_path: Path) -> None:
    found = await mirrored(tmp_path, real("get-city", ("code",), code="string"))
    assert found["get_city"][1] == {"tool": "get-city", "left_out": []}


async def test_a_parameter_that_python_cannot_have_keeps_our_name(tmp_path: Path) -> None:
    found = await mirrored(tmp_path, real("count_cities", (), **{"coastal": "boolean", "class": "string"}))
    assert found["count_cities"][1]["left_out"] == ["class"]
    assert list(found["count_cities"][0].input_schema["properties"]) == ["coastal"]
