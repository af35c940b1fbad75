"""Business operations in tasks: the planner meets their conditions, SQL foretells them, and questions ask for them."""

import random
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_world.agents.synthesizer.answers import agrees_change
from agent_world.agents.synthesizer.graph import build_tool_graph
from agent_world.agents.synthesizer.operations import arguments_for, doable, open_to
from agent_world.agents.synthesizer.plan_database import Undetermined
from agent_world.agents.synthesizer.plan_rule import rule_statements
from agent_world.agents.synthesizer.proposals import Proposal, Strategy, draft_of
from agent_world.agents.synthesizer.realise import Realised, realise
from agent_world.agents.synthesizer.world import Action, World
from agent_world.agents.validator.blind import blind_fault
from agent_world.agents.validator.gate import open_gate
from agent_world.memory.store import Bundle
from agent_world.schema import Origin
from agent_world.settings import LocalRuntime, Settings
from agent_world.tools.runtime import Instance, open_runtime

PATIENT = LocalRuntime(call_timeout_s=60, run_timeout_s=120)
"""With time enough on a machine that is busy."""


@pytest.fixture(scope="module")
def service(cinema_service: Bundle) -> World:
    return World(cinema_service)


@pytest.fixture
async def instance(service: World) -> AsyncIterator[Instance]:
    async with open_runtime(PATIENT) as runtime:
        opened = await runtime.open(service.bundle.root)
        yield opened
        await opened.close()


def action(world: World, name: str) -> Action:
    found = world.action(name)
    assert found is not None
    return found


def test_a_tool_keeps_what_its_operation_demands_and_does(service: World) -> None:
    rule = action(service, "cancel_pending_booking").rule
    assert rule is not None
    assert (rule.status, rule.needs, rule.after) == ("status", "pending", "cancelled")
    refund = action(service, "refund_attended_booking_tickets").rule
    assert refund is not None
    assert refund.parts is not None
    assert (refund.needs, refund.parts.column) == ("attended", "seat_id")
    assert len(service.operations) >= 5


def test_what_is_shown_with_a_row_can_be_listed_by_it(service: World) -> None:
    inside = {a.table.name: a for a in service.of("related") if a.inside}
    tickets = next(a for name, a in inside.items() if name.endswith("tickets"))
    assert tickets.name == "get_booking_details"
    assert set(tickets.filters.values()) == {"booking_id"}
    assert service.action("get_booking_details") is not tickets  # by its name it is the tool that gets one row


async def test_what_the_planner_finds_can_be_done_and_sql_foretells_it(service: World, instance: Instance) -> None:
    for operation in service.operations:
        for seed in range(3):
            found = doable(service, operation, random.Random(seed))
            assert found is not None, operation.name
            row, values = found
            given = {operation.key or "": row[operation.table.primary_key], **values}
            seen = await instance.call(operation.name, given)
            assert seen.ok, (operation.name, given, seen.text)
            foretold, _ = service.sql.after(rule_statements(service.sql, operation, given), {})
            change = await instance.diff()
            assert change.changes, operation.name
            assert agrees_change(foretold, change), operation.name
            await instance.reset()


def test_what_the_conditions_refuse_is_refused_by_planner_and_sql(service: World) -> None:
    refused = 0
    for operation in service.operations:
        assert operation.rule is not None
        found = doable(service, operation, random.Random(0))
        assert found is not None
        for row in service.rows[operation.table.name]:
            if not open_to(operation.rule, row):
                refused += 1
                assert arguments_for(service, operation, row, random.Random(0)) is None
                with pytest.raises(Undetermined):
                    rule_statements(
                        service.sql, operation, {operation.key or "": row[operation.table.primary_key], **found[1]}
                    )
    assert refused > 10


@pytest.mark.parametrize("strategy", ["graph", "program"])
async def test_tasks_of_both_kinds_do_business_and_pass_the_gate(
    service: World, tmp_path: Path, strategy: Strategy
) -> None:
    graph, used, kept = build_tool_graph(service), Counter[str](), 0
    names, settings = {a.name for a in service.operations}, Settings(workspace=tmp_path)
    async with open_runtime(PATIENT) as runtime, open_gate(service, runtime, settings) as gate:
        for number in range(60):
            seed, level = f"op:{number}", 1 + number % 3
            draft = draft_of(service, graph, Proposal(strategy=strategy, level=level, seed=seed, guideline=""))
            if draft is None or not draft.writes:
                continue
            gate.pool.soil(0)
            made = await realise(draft, service.id, Origin(engine="procedural"), 0, await gate.pool.clean(0))
            gate.pool.soil(0)
            assert isinstance(made, Realised), (made, draft.question)
            assert blind_fault(service, made.task) == "", made.task.question
            done = names & {name for name, _, _ in made.calls}
            used.update(done)
            if done and kept < 3:
                kept += (await gate.judge(made.task)).reason is None
            if kept == 3 and len(used) > 2:
                return
    raise AssertionError((kept, used))
