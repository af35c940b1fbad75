"""Is everything that the gold solution knows either in the question or shown by a tool, and does it mean one thing?"""

import ast
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from agent_world.agents.synthesizer.words import value_text
from agent_world.agents.synthesizer.world import Action, World
from agent_world.agents.validator.replay import Call
from agent_world.schema import Chain, Fold, Program, Ref, Task
from agent_world.tools.grading.criteria import ignored_of

PAGING = ("limit", "offset")
SAYS_ONE = re.compile(r"\b(the only|the one|the single)\b", re.IGNORECASE)


def states(question: str, value: Any) -> bool:
    """Whether the question states the value: as a whole word or number, case aside for text."""
    text = value_text(value)
    pattern = rf"(?<!\w)(?<!\d[.,]){re.escape(text)}(?!\w|[.,]\d)"
    return re.search(pattern, question, re.IGNORECASE if isinstance(value, str) else 0) is not None


def own_arguments(world: World, task: Task) -> set[tuple[str, str]]:
    """Tools and their arguments that write to columns which the rubric leaves to the agent's own words."""
    own = ignored_of(task)
    return {(a.name, arg) for a in world.actions for arg, col in a.values.items() if f"{a.table.name}.{col}" in own}


def grounding_fault(task: Task, calls: Sequence[Call], own: Collection[tuple[str, str]] = ()) -> str:
    """An argument (or a constant that a program compares with) that nobody could know; empty when there is none. Those
    in `own` hold the agent's own words."""
    shown: set[Any] = set()
    computed = _computes(task)
    for tool, arguments, seen in calls:
        for name, value in arguments.items():
            if name not in PAGING and (tool, name) not in own and not _known(task, value, shown, computed):
                return f"{value!r} for {name} of {tool} is neither in the question nor shown before"
        shown |= set(scalars(seen.value))
    for constant in compared_constants(task):
        if not states(task.question, constant):
            return f"the condition on {constant!r} is not in the question"
    return ""


def _known(task: Task, value: Any, shown: set[Any], computed: bool) -> bool:
    if isinstance(value, list):
        return all(_known(task, inner, shown, computed) for inner in value)
    return states(task.question, value) or _among(value, shown) or (computed and not _written_in(task, value))


def _computes(task: Task) -> bool:
    """Whether the solution is a program: what it passes on and nobody wrote into it, it has computed."""
    return isinstance(task.solution, Program)


def _written_in(task: Task, value: Any) -> bool:
    assert isinstance(task.solution, Program)
    found = [n.value for n in ast.walk(ast.parse(task.solution.source)) if isinstance(n, ast.Constant)]
    return isinstance(value, str) or value in found


def _among(value: Any, shown: set[Any]) -> bool:
    return isinstance(value, str | int | float) and value in shown


def scalars(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from scalars(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from scalars(inner)
    elif value is not None:
        yield value


def compared_constants(task: Task) -> list[Any]:
    """Constants that `solve` compares with (never executed here, only parsed), or that a fold of the answer does."""
    if not isinstance(task.solution, Program):
        folds = [a for a in task.solution.answer.values() if isinstance(a, Fold) and a.comparison is not None]
        return [fold.value for fold in folds if fold.value is not None]
    functions = [n for n in ast.walk(ast.parse(task.solution.source)) if isinstance(n, ast.FunctionDef)]
    solve = next((f for f in functions if f.name == "solve"), None)
    compares = [n for n in ast.walk(solve) if isinstance(n, ast.Compare)] if solve else []
    constants = [c for compare in compares for c in compare.comparators if isinstance(c, ast.Constant)]
    return [c.value for c in constants if c.value is not None]


def reference_fault(world: World, task: Task, calls: Sequence[Call]) -> str:
    """A literal that no row has, or a search for one thing that finds none or several; empty when all is well."""
    shown: set[Any] = set()
    for index, (tool, arguments, seen) in enumerate(calls):
        action = world.action(tool)
        if action is not None:
            for name, value in arguments.items():
                if not _among(value, shown):
                    fault = _literal_fault(world, action, name, value)
                    if fault:
                        return fault
            if _names_one(action, task, index) and len(_items(action, seen.value)) != 1:
                return f"{arguments} names {len(_items(action, seen.value))} rows of {action.table.name}"
        shown |= set(scalars(seen.value))
    return ""


def _literal_fault(world: World, action: Action, name: str, value: Any) -> str:
    table = action.table
    if name == action.key:
        count = len(world.where(table.name, table.primary_key, value))
        return "" if count == 1 else f"{count} rows of {table.name} have the key {value!r}"
    column = action.filters.get(name)
    if column is None:
        return ""
    link = world.foreign_key(table.name, column)
    known = world.where(link.table, link.target, value) if link else world.where(table.name, column, value)
    if not known and action.kind == "search":
        known = world.containing(table.name, column, str(value))
    return "" if known else f"no row of {table.name} has {value!r} as {column}"


def _names_one(action: Action, task: Task, index: int) -> bool:
    """Whether the solution takes the first item of this call's list, and no other, as the one meant."""
    if not isinstance(task.solution, Chain):
        return action.kind == "search" and (task.plan is None or action.name in taken_first(task.solution))
    if action.kind != "search" and not SAYS_ONE.search(task.question):
        return False  # a list that is gone through: the best of it may be the first
    used = [ref.path for ref in references(task.solution) if ref.step == index]
    return bool(used) and all(".0." in f".{path}." for path in used)


def taken_first(program: Program) -> set[str]:
    """Tools of whose output the program takes the first item, where it was made of a plan: all others it goes through
    whole."""
    nodes = ast.walk(ast.parse(program.source))  # parsed, never executed here
    firsts = [n.value for n in nodes if isinstance(n, ast.Subscript) and getattr(n.slice, "value", None) == 0]
    calls = [n for first in firsts for n in ast.walk(first) if isinstance(n, ast.Call)]
    return {call.func.attr for call in calls if isinstance(call.func, ast.Attribute)}


def references(chain: Chain) -> list[Ref]:
    """All references of a chain: of its arguments, then of its answer."""
    found = [a for step in chain.steps for a in step.arguments.values() if isinstance(a, Ref)]
    for answer in chain.answer.values():
        found += answer.of if isinstance(answer, Fold) else [answer] if isinstance(answer, Ref) else []
    return found


def _items(action: Action, value: Any) -> list[Any]:
    path = next((p for p in action.operation.outputs if "[]" in p), "items[]").partition("[]")[0]
    found = value.get(path) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []
