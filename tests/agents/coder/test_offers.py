"""Operations of a service: taken from real specifications where there are any, else from what the tables show."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent_world.agents.coder.data import Data, read_data
from agent_world.agents.coder.mutate import mutation_score
from agent_world.agents.coder.service import serve, unserved
from agent_world.agents.miner.build import first_database, write_bundle
from agent_world.agents.miner.complexify import complexify
from agent_world.agents.synthesizer.operations import doable, placeable
from agent_world.agents.synthesizer.plan_rule import drawn, new_row, rule_statements
from agent_world.agents.synthesizer.world import Action, World
from agent_world.graphs.deps import open_deps
from agent_world.graphs.write_tools import write_tools
from agent_world.memory.store import Bundle
from agent_world.schema import ToolSpec
from agent_world.settings import Settings, ToolSettings
from agent_world.tools.runtime import Instance, Runtime
from tests.agents.coder.desk import make_desk, make_store
from tests.agents.coder.test_mirror import real
from tests.agents.miner import test_database as shop
from tests.worlds import make_library

DESK = {
    "close_ticket", "open_ticket", "cancel_ticket", "assign_ticket", "transfer_ticket", "reschedule_ticket",
    "confirm_visit", "schedule_visit",
}  # fmt: skip
STORE = {"place_order", "deliver_order", "cancel_order"}
LIBRARY = {"return_loan", "place_loan", "transfer_loan"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Bundle]:
    """A help desk and the library with their tools; not to be changed."""
    root = tmp_path_factory.mktemp("offers")
    folder = root / "environments"
    bundles = [make_desk(folder / "desk"), make_library(folder / "library"), make_store(folder / "store")]
    bundles.append(make_shop(folder / "shop"))

    async def write() -> None:
        for most, some in ((40, bundles[:3]), (14, bundles[3:])):
            few = Settings(workspace=root, tools=ToolSettings(max_tools=most))
            async with open_deps(few, checkpoints=False) as deps:
                for bundle in some:
                    await write_tools(bundle, deps)

    asyncio.run(write())
    return {bundle.id: bundle for bundle in bundles}


def make_shop(root: Path) -> Bundle:
    """A bike shop as it is mined from raw tables, two rounds richer."""
    bundle, whole = Bundle(root), shop.material()
    made = first_database(whole, "0", 60)
    for number in (1, 2):
        made, _ = complexify(made, whole, number, "0", 60)
    write_bundle(bundle, shop.THEME, whole, made, shop.MADE)
    return bundle


@pytest.fixture
async def desk(written: dict[str, Bundle], runtime: Runtime) -> AsyncIterator[Instance]:
    instance = await runtime.open(written["desk"].root)
    yield instance
    await instance.close()


@pytest.fixture
async def library(written: dict[str, Bundle], runtime: Runtime) -> AsyncIterator[Instance]:
    instance = await runtime.open(written["library"].root)
    yield instance
    await instance.close()


async def code(instance: Instance, tool: str, **arguments: Any) -> str | None:
    """Of a refusal, after which nothing has changed."""
    seen = await instance.call(tool, arguments)
    assert not seen.ok, seen.text
    assert (await instance.diff()).changes == ()
    return seen.error


async def only(instance: Instance, tool: str, **arguments: Any) -> Any:
    """The one row that a call changed, added or removed."""
    seen = await instance.call(tool, arguments)
    assert seen.ok, seen.text
    (change,) = (await instance.diff()).changes
    await instance.reset()
    return change


@pytest.mark.parametrize(("name", "wanted"), [("desk", DESK), ("library", LIBRARY), ("store", STORE)])
def test_what_the_tables_show_is_offered_and_passes_all_its_tests(
    written: dict[str, Bundle], name: str, wanted: set[str]
) -> None:
    verdicts = {v.tool: v for v in written[name].environment().tools}
    assert {tool.name for tool in written[name].tools() if tool.rule} == wanted
    for tool in wanted:
        assert (verdicts[tool].kept, verdicts[tool].tests_passed) == (True, verdicts[tool].tests_total), verdicts[tool]
        assert verdicts[tool].tests_total >= 4


def test_no_plain_tool_goes_round_the_conditions(written: dict[str, Bundle]) -> None:
    desk, library = ({tool.name for tool in written[name].tools()} for name in ("desk", "library"))
    assert not {"create_ticket", "update_ticket_status", "update_ticket_closed_on", "update_ticket_team_id"} & desk
    assert not {"create_loan", "update_loan_returned", "update_loan_member"} & library
    assert {"create_book", "update_book_copies"} <= library


async def test_a_state_is_left_only_where_it_may_be(desk: Instance) -> None:
    change = await only(desk, "close_ticket", ticket_id="T01", closed_on="2025-03-09")
    assert (change.key, change.after) == ("T01", {"status": "closed", "closed_on": "2025-03-09"})
    assert await code(desk, "close_ticket", ticket_id="T03", closed_on="2025-03-09") == "wrong_state"
    assert await code(desk, "cancel_ticket", ticket_id="T03") == "wrong_state"
    assert await code(desk, "close_ticket", ticket_id="T01", closed_on="2024-03-09") == "invalid_value"
    assert await code(desk, "close_ticket", ticket_id="T01", closed_on="9 March") == "invalid_value"
    assert await code(desk, "close_ticket", ticket_id="T99", closed_on="2025-03-09") == "not_found"
    assert (await only(desk, "cancel_ticket", ticket_id="T01")).after == {"status": "cancelled"}
    assert (await only(desk, "confirm_visit", visit_id=1)).after == {"confirmed": True}
    assert await code(desk, "confirm_visit", visit_id=2) == "wrong_state"


async def test_a_row_is_handed_on_to_another_that_exists_and_has_room(desk: Instance) -> None:
    assert (await only(desk, "transfer_ticket", ticket_id="T01", to_team_id="C")).after == {"team_id": "C"}
    assert await code(desk, "transfer_ticket", ticket_id="T01", to_team_id="A") == "invalid_value"
    assert await code(desk, "transfer_ticket", ticket_id="T01", to_team_id="Z") == "not_found"
    assert await code(desk, "transfer_ticket", ticket_id="T01", to_team_id="B") == "not_available"
    assert await code(desk, "transfer_ticket", ticket_id="T03", to_team_id="C") == "wrong_state"
    assert (await only(desk, "assign_ticket", ticket_id="T01", assignee="Bo")).after == {"assignee": "Bo"}
    assert await code(desk, "assign_ticket", ticket_id="T01", assignee="Ann") == "invalid_value"


async def test_a_day_is_put_off_only(desk: Instance) -> None:
    assert (await only(desk, "reschedule_ticket", ticket_id="T01", due_on="2025-06-01")).after["due_on"] == "2025-06-01"
    assert await code(desk, "reschedule_ticket", ticket_id="T01", due_on="2025-04-01") == "invalid_value"


async def test_a_new_row_begins_in_the_first_state_with_the_next_key(desk: Instance) -> None:
    given = {"team_id": "C", "assignee": "Bo", "opened_on": "2025-03-01", "due_on": "2025-03-02"}
    change = await only(desk, "open_ticket", **given)
    assert (change.kind, change.key) == ("added", "T13")
    assert change.after == {"ticket_id": "T13", **given, "status": "open", "closed_on": None, "hours_spent": 0.0}
    assert await code(desk, "open_ticket", **given | {"team_id": "B"}) == "not_available"
    assert await code(desk, "open_ticket", **given | {"due_on": "2025-02-28"}) == "invalid_value"


async def test_an_order_takes_from_stock_what_there_is(written: dict[str, Bundle], runtime: Runtime) -> None:
    store = await runtime.open(written["store"].root)
    given = {"item_id": "I1", "quantity": 3, "ordered_on": "2025-03-01"}
    assert await code(store, "place_order", **given | {"quantity": 6}) == "not_available"
    assert await code(store, "place_order", **given | {"quantity": 0}) == "invalid_arguments"
    assert await code(store, "place_order", **given | {"item_id": "I4"}) == "not_available"
    assert await code(store, "place_order", **given | {"item_id": "I9"}) == "not_found"
    assert (await store.call("place_order", given)).value == {"order_id": 13, **given, "status": "pending"}
    changes = {(c.table, c.key): c.after for c in (await store.diff()).changes}
    assert changes[("items", "I1")] == {"stock": 2}
    assert set(changes) == {("items", "I1"), ("orders", "13")}
    await store.close()


async def test_a_book_is_lent_while_there_are_copies_and_returned_once(library: Instance) -> None:
    given = {"book_id": "B005", "member_id": "M01", "lent": "2025-05-01"}
    assert await code(library, "place_loan", **given) == "not_available"  # its one copy is out
    assert (await library.call("return_loan", {"loan_id": 22, "returned": "2025-04-30"})).ok
    assert (await library.call("place_loan", given)).value["loan_id"] == 26
    await library.reset()
    assert await code(library, "return_loan", loan_id=22, returned="2025-03-24") == "invalid_value"
    assert await code(library, "return_loan", loan_id=1, returned="2025-05-01") == "wrong_state"


@pytest.mark.parametrize(("name", "seed"), [("desk", 1), ("shop", 0)])
async def test_their_tests_catch_at_least_eight_of_ten_seeded_faults(
    written: dict[str, Bundle], runtime: Runtime, name: str, seed: int
) -> None:
    score = await mutation_score(written[name], await runtime.open(written[name].root), seed=seed)
    assert score.total == 10
    assert score.caught >= 8, score.survivors


# --- Real specifications -----------------------------------------------------------------------------------

WANTED = (
    real("borrow_book", ("book_id", "member_id", "date"), book_id="string", member_id="string", date="string"),
    real("return_book", ("loan_id", "return_date"), loan_id="integer", return_date="string"),
    real("transfer_loan", ("loan_id", "new_member_id"), loan_id="integer", new_member_id="string"),
    real("schedule_loan", ("book_id", "member_id", "branch"), book_id="string", member_id="string", branch="string"),
    real("cancel_loan", ("loan_id",), loan_id="integer"),
    real("close_loan", ("loan_id",), loan_id="integer"),
)


def with_tools(bundle: Bundle, *tools: ToolSpec) -> tuple[Bundle, Data]:
    environment = bundle.environment()
    theme = environment.theme.model_copy(update={"tools": tools})
    bundle.write_environment(environment.model_copy(update={"theme": theme}))
    return bundle, read_data(bundle)


def test_real_operations_are_served_under_their_names_with_what_the_data_demands(tmp_path: Path) -> None:
    bundle, data = with_tools(make_library(tmp_path / "library"), *WANTED)
    served = serve(data, bundle.environment().theme, 0, 40)
    specs = {tool.spec.name: tool.spec for tool in served.tools}
    assert {"borrow_book", "return_book", "transfer_loan"} <= set(specs)
    assert list(specs["borrow_book"].input_schema["properties"]) == ["book_id", "member_id", "date"]
    assert specs["borrow_book"].meta["agent_world/mirrors"] == {"tool": "borrow_book", "left_out": []}
    borrow, back, moved = (specs[name].rule for name in ("borrow_book", "return_book", "transfer_loan"))
    assert borrow
    assert back
    assert moved
    assert (borrow.sets["date"], borrow.capacity and borrow.capacity.limit) == ("lent", "copies")
    assert (back.sets, back.empty, back.ordered) == (
        {"return_date": "returned"}, ("returned",), (("lent", "returned"),)
    )  # fmt: skip
    assert (moved.sets, moved.differ) == ({"new_member_id": "member_id"}, ("new_member_id",))
    assert not {"place_loan", "return_loan"} & set(specs)  # what is served already is not offered again


def test_a_day_that_a_service_knows_by_itself_has_to_be_given(tmp_path: Path) -> None:
    tools = (
        real("return_loan", ("loan_id",), loan_id="integer", return_date="string", note="string"),
        real("borrow_book", ("book_id", "member_id"), book_id="string", member_id="string", lent="string"),
    )
    bundle, data = with_tools(make_library(tmp_path / "library"), *tools)
    specs = {tool.spec.name: tool.spec for tool in serve(data, bundle.environment().theme, 0, 40).tools}
    assert specs["return_loan"].input_schema["required"] == ["loan_id", "return_date"]
    assert specs["return_loan"].meta["agent_world/mirrors"]["left_out"] == ["note"]
    assert specs["borrow_book"].input_schema["required"] == ["book_id", "member_id", "lent"]


def test_what_the_data_cannot_do_is_said_and_nothing_is_deleted_instead(tmp_path: Path) -> None:
    bundle, data = with_tools(make_library(tmp_path / "library"), *WANTED)
    served = serve(data, bundle.environment().theme, 0, 40)
    assert unserved(data, bundle.environment().theme, [tool.spec for tool in served.tools]) == {
        "schedule_loan": "the loans have no place for its argument branch",
        "cancel_loan": "no column of the loans says that something is done by that verb",
        "close_loan": "which day goes into the returned is none of its arguments",
    }
    assert not [tool.spec.name for tool in served.tools if tool.spec.annotations.destructive]


# --- Tasks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["desk", "library", "store"])
async def test_the_planner_meets_their_conditions_and_sql_foretells_them(
    written: dict[str, Bundle], runtime: Runtime, name: str
) -> None:
    world = World(written[name])
    instance = await runtime.open(written[name].root)
    for action in [*world.operations, *world.placings]:
        for seed in range(2):
            given, changes = foretold(world, action, random.Random(seed))
            seen = await instance.call(action.name, given)
            assert seen.ok, (action.name, given, seen.text)
            assert [(c.table, c.key, c.after) for c in (await instance.diff()).changes] == changes
            await instance.reset()


def foretold(world: World, action: Action, rng: random.Random) -> tuple[dict[str, Any], list[Any]]:
    """Arguments for a call, and the changes that SQL says it makes."""
    if action.rule and action.rule.adds:
        given = placeable(world, action, rng)
        assert given is not None
        row = new_row(world.sql, action, given)
        beside, _ = world.sql.after(drawn(action.rule, given), {})
        changes = [(c.table, c.key, c.after) for c in beside.changes]
        return given, [*changes, (action.table.name, str(row[action.table.primary_key]), row)]
    found = doable(world, action, rng)
    assert found is not None
    given = {action.key or "": found[0][action.table.primary_key], **found[1]}
    diff, _ = world.sql.after(rule_statements(world.sql, action, given), {})
    return given, [(c.table, c.key, c.after) for c in diff.changes]
