"""The answer by a second way, where there is one: computed from the raw tables, without the tools."""

from agent_world.agents.synthesizer.plan_database import Undetermined
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.blind import blind_fault, difference
from agent_world.agents.validator.blind_chain import solve_chain
from agent_world.schema import Chain, Ref, Task, Value

SECOND = "a second way agrees"
"""Name of the receipt; tasks without a second way have none."""


def second_fault(world: World, task: Task) -> str | None:
    """How the second way comes to another end, empty when it comes to the same; None where there is no such way: a
    program without a plan, or a chain of which too little is known."""
    if not isinstance(task.solution, Chain):
        return blind_fault(world, task) if task.plan is not None else None
    if not all(isinstance(argument, Ref | Value) for argument in task.solution.answer.values()):
        return None
    try:
        answer, change = solve_chain(world, task.solution)
    except Undetermined:
        return None
    told = {key: value for key, value in answer.items() if value is not None}  # a new row's own id, say, is not told
    return difference(task, {**task.reference_answer, **told}, change)
