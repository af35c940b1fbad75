"""Tools of a real service made to work on its data: what they answer, what they change, and what they refuse."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent_world.agents.coder.data import read_data
from agent_world.agents.coder.mutate import mutation_score
from agent_world.agents.coder.service import unserved
from agent_world.agents.importer import import_database
from agent_world.graphs.deps import open_deps
from agent_world.graphs.synthesize import SynthesisRequest, synthesize
from agent_world.graphs.write_tools import write_tools
from agent_world.memory.store import Bundle
from agent_world.schema import ToolSpec
from agent_world.settings import LocalRuntime, Settings, ToolSettings
from agent_world.tools.runtime import Instance, Observation, open_runtime
from tests.cinema import cinema, write_cinema

SERVED = {
    "get_booking_details", "get_customer_details", "find_customer_id_by_email", "find_customer_id_by_name_zip",
    "cancel_pending_booking", "change_pending_booking_tickets", "change_pending_booking_payment",
    "refund_attended_booking_tickets", "dispute_attended_booking_tickets", "change_customer_address", "calculate",
}  # fmt: skip


@pytest.fixture
def written(cinema_service: Bundle) -> Bundle:
    """The cinema with its tools; not to be changed."""
    return cinema_service


@pytest.fixture
async def instance(written: Bundle) -> AsyncIterator[Instance]:
    async with open_runtime(LocalRuntime()) as runtime:
        yield await runtime.open(written.root)


def booking(state: str) -> dict[str, Any]:
    return next(b for b in cinema()["bookings"].values() if b["status"] == state)


async def code(instance: Instance, tool: str, **arguments: Any) -> str | None:
    """Of a refusal, after which nothing has changed."""
    seen = await instance.call(tool, arguments)
    assert not seen.ok, seen.text
    assert (await instance.diff()).changes == ()
    return seen.error


def test_all_tests_of_the_served_tools_pass(written: Bundle) -> None:
    verdicts = {v.tool: v for v in written.environment().tools}
    for tool in SERVED:
        assert (verdicts[tool].kept, verdicts[tool].tests_passed) == (True, verdicts[tool].tests_total), verdicts[tool]
        assert verdicts[tool].tests_total >= 2


def test_served_tools_have_the_parameters_of_the_real_ones(written: Bundle) -> None:
    real = {spec.name: spec for spec in written.environment().theme.tools}
    for tool in written.tools():
        if tool.name in SERVED:
            assert list(tool.input_schema["properties"]) == list(real[tool.name].input_schema["properties"])
            assert tool.input_schema["required"] == real[tool.name].input_schema["required"]


def test_what_the_data_cannot_serve_is_listed_with_the_reason(written: Bundle) -> None:
    left = unserved(read_data(written), written.environment().theme, written.tools())
    nothing = "no table of the data is what it is about"
    assert left == {"send_greeting": nothing, "call_a_human": nothing}


async def test_details_show_a_row_with_its_parts_and_what_refers_to_it(instance: Instance) -> None:
    source = cinema()
    seen = (await instance.call("get_booking_details", {"booking_id": "#B007"})).value
    assert [t["seat_id"] for t in seen["tickets"]] == [t["seat_id"] for t in source["bookings"]["#B007"]["tickets"]]
    assert seen["payments"][0]["amount"] == source["bookings"]["#B007"]["payments"][0]["amount"]
    seen = (await instance.call("get_customer_details", {"customer_id": "ann_3"})).value
    assert seen["bookings"] == source["customers"]["ann_3"]["bookings"]
    assert [card["id"] for card in seen["cards"]] == list(source["customers"]["ann_3"]["cards"])


async def test_a_key_is_found_by_what_people_know(instance: Instance) -> None:
    async def found(tool: str, **known: str) -> Observation:
        return await instance.call(tool, known)

    assert (await found("find_customer_id_by_email", email="ANN4@example.com")).value == {"customer_id": "ann_4"}
    named = {"first_name": "ann", "last_name": "lee2", "zip": "02132"}
    assert (await found("find_customer_id_by_name_zip", **named)).value == {"customer_id": "ann_2"}
    assert (await found("find_customer_id_by_name_zip", **named | {"zip": "2132"})).error == "not_found"


async def test_a_pending_booking_can_be_cancelled_once(instance: Instance) -> None:
    given = {"booking_id": booking("pending")["booking_id"], "reason": "no time"}
    seen = await instance.call("cancel_pending_booking", given)
    assert seen.value["status"] == "cancelled"
    (change,) = (await instance.diff()).changes
    assert (change.table, change.before, change.after) == ("bookings", {"status": "pending"}, {"status": "cancelled"})
    assert (await instance.call("cancel_pending_booking", given)).error == "wrong_state"


async def test_a_condition_that_does_not_hold_is_refused_and_changes_nothing(instance: Instance) -> None:
    pending, attended = booking("pending"), booking("attended")
    assert await code(instance, "cancel_pending_booking", booking_id="#B999", reason="no time") == "not_found"
    given = {"booking_id": attended["booking_id"], "reason": "no time"}
    assert await code(instance, "cancel_pending_booking", **given) == "wrong_state"
    other = "card_90" if pending["customer_id"] != "ann_9" else "card_80"
    given = {"booking_id": pending["booking_id"], "card_id": other}
    assert await code(instance, "change_pending_booking_payment", **given) == "not_allowed"
    seats = [t["seat_id"] for t in attended["tickets"]]
    card = attended["payments"][0]["card_id"]
    given = {"booking_id": attended["booking_id"], "card_id": card}
    refund = "refund_attended_booking_tickets"
    assert await code(instance, refund, **given, seat_ids=["none"]) == "not_found"
    assert await code(instance, refund, **given, seat_ids=[seats[0], seats[0]]) == "not_found"


async def test_what_a_sibling_says_of_the_new_state_holds_likewise(instance: Instance) -> None:
    attended = booking("attended")
    given = {
        "booking_id": attended["booking_id"], "seat_ids": [attended["tickets"][0]["seat_id"]],
        "card_id": attended["payments"][0]["card_id"],
    }  # fmt: skip
    assert (await instance.call("dispute_attended_booking_tickets", given)).value["status"] == "dispute requested"


async def test_parts_are_swapped_for_free_ones_of_the_same_kind(instance: Instance) -> None:
    source = cinema()
    pending = booking("pending")
    old = pending["tickets"][0]
    seats = source["shows"][old["show_id"]]["seats"].values()
    new = next(seat for seat in seats if seat["available"] and seat["seat_id"] != old["seat_id"])
    taken = next(seat for seat in seats if not seat["available"])
    elsewhere = next(iter(source["shows"]["s4" if old["show_id"] != "s4" else "s3"]["seats"]))
    tool, card = "change_pending_booking_tickets", pending["payments"][0]["card_id"]
    given = {"booking_id": pending["booking_id"], "seat_ids": [old["seat_id"]], "card_id": card}
    assert await code(instance, tool, **given, new_seat_ids=[taken["seat_id"]]) == "not_available"
    assert await code(instance, tool, **given, new_seat_ids=[elsewhere]) == "not_allowed"
    assert await code(instance, tool, **given, new_seat_ids=[new["seat_id"]] * 2) == "invalid_value"
    seen = await instance.call(tool, given | {"new_seat_ids": [new["seat_id"]]})
    ticket = seen.value["tickets"][0]
    assert (ticket["seat_id"], ticket["price"]) == (new["seat_id"], new["price"])
    assert seen.value["status"] == "pending"
    assert {c.table for c in (await instance.diff()).changes} == {"booking_tickets"}


async def test_several_columns_change_together(instance: Instance) -> None:
    given = {"customer_id": "ann_1", "street": "", "town": "Elsewhere", "zip": "01000"}
    seen = await instance.call("change_customer_address", given)
    assert {name: seen.value[name] for name in ("street", "town", "zip")} == {
        k: given[k] for k in ("street", "town", "zip")
    }
    (change,) = (await instance.diff()).changes
    assert change.after == {"street": "", "town": "Elsewhere", "zip": "01000"}


async def test_arguments_may_be_called_as_the_written_code_calls_its_variables(tmp_path: Path) -> None:
    folder = write_cinema(tmp_path / "cinema")
    names = {"street": "held", "town": "state"}
    pattern = re.compile(rf"\b({'|'.join(names)})\b")
    for file in folder.iterdir():
        file.write_text(pattern.sub(lambda found: names[found[1]], file.read_text()))
    bundle, _ = import_database(folder, tmp_path / "environments" / "cinema", name="c", specs=folder / "tools.json")
    async with open_deps(Settings(workspace=tmp_path, tools=ToolSettings(max_tools=30))) as deps:
        await write_tools(bundle, deps)
    found = {verdict.tool: verdict.kept for verdict in bundle.environment().tools}
    assert {name: found.get(name) for name in SERVED} == dict.fromkeys(SERVED, True)
    async with open_runtime(LocalRuntime()) as runtime:
        instance = await runtime.open(bundle.root)
        given = {"customer_id": "ann_1", "held": "", "state": "Elsewhere", "zip": "01000"}
        assert (await instance.call("change_customer_address", given)).ok
        (change,) = (await instance.diff()).changes
        assert change.after == {"held": "", "state": "Elsewhere", "zip": "01000"}


async def test_sums_are_worked_out_and_nothing_else(instance: Instance) -> None:
    assert (await instance.call("calculate", {"expression": "3 * (4.5 - 1) / 2"})).value == {"value": 5.25}
    assert await code(instance, "calculate", expression="__import__('os')") == "invalid_value"


def test_written_tools_are_the_same_for_the_same_data(written: Bundle, tmp_path: Path) -> None:
    again = Bundle(tmp_path / "environments" / "cinema")
    shutil.copytree(written.root, again.root)
    (again.root / "tools.py").unlink()

    async def write() -> None:
        async with open_deps(Settings(workspace=tmp_path, tools=ToolSettings(max_tools=30))) as deps:
            await write_tools(again, deps)

    asyncio.run(write())
    assert (again.root / "tools.py").read_text() == (written.root / "tools.py").read_text()
    assert tools_of(again) == tools_of(written)


def tools_of(bundle: Bundle) -> list[ToolSpec]:
    return bundle.tools()


@pytest.mark.parametrize("seed", [0, 1])
async def test_the_tests_notice_faults_put_into_the_tools(instance: Instance, written: Bundle, seed: int) -> None:
    score = await mutation_score(written, instance, seed=seed)
    assert score.total == 10
    assert score.caught >= 8, score.survivors


async def test_tasks_can_be_made_of_an_imported_environment(written: Bundle, tmp_path: Path) -> None:
    bundle = Bundle(tmp_path / "environments" / "cinema")
    shutil.copytree(written.root, bundle.root)
    async with open_deps(Settings(workspace=tmp_path), checkpoints=False) as deps:
        report = await synthesize(bundle, SynthesisRequest(graph=6, program=3), deps)
    assert len(report.kept) == 9
    assert {task.validation.status for task in report.kept} == {"gate only"}
