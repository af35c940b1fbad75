"""Why an episode failed: its calls held against those of the gold, and its answer against the reference.

One kind an episode, the first that applies; the earliest departure counts, since what follows it is mostly its
consequence:

    loop, malformed        how the episode ended
    unauthorised_write     it changed data that the task does not ask to change
    wrong_order            a tool before the call that its argument comes from, or the calls in another order
    state_not_tracked      an argument that an earlier result supplies, or an answer that a write made stale
    wrong_argument         the right tool with another value than the question says, or with a made-up one
    wrong_tool             a tool that the gold does not use, while calls of the gold are missing
    stopped_early          no wrong call, but not all of them (it answered, or was out of turns)
    wrong_answer           all calls as in the gold, yet the answer is wrong
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from agent_world.agents.diagnoser.gold import GoldCall
from agent_world.schema import FailureKind, OperationKind, Record, StateDiff, Task, ToolSpec, Trajectory
from agent_world.tools.grading.compare import same


class Failure(Record):
    """A failed episode, classified."""

    environment: str
    task: str
    strategy: Literal["graph", "program"]
    level: int
    kind: FailureKind
    detail: str
    """What was done and what the gold does, in one line."""
    operation: OperationKind | None = None
    """Operation of the gold call that was missed; None where all were made."""
    trace: str = ""
    """The question, and what was called, shown and answered, shortened."""
    values: tuple[str, ...] = ()
    """Arguments of the gold, as JSON: how varied the rows are that the tasks ask about."""


@dataclass(frozen=True, slots=True)
class MadeCall:
    tool: str
    arguments: dict[str, Any]
    observation: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Departure:
    kind: FailureKind
    detail: str
    missed: GoldCall | None = None


def classify(run: Trajectory, task: Task, gold: Sequence[GoldCall], tools: Sequence[ToolSpec]) -> Failure:
    """The one kind of a failed `run`; `gold` are the calls of the task's reference solution."""
    departure = find_departure(run, task, gold, tools)
    specs = {tool.name: tool for tool in tools}
    missed = specs.get(departure.missed.tool) if departure.missed else None
    return Failure(
        environment=run.environment,
        task=task.id,
        strategy=task.strategy,
        level=task.difficulty.level,
        kind=departure.kind,
        detail=departure.detail,
        operation=missed.operation.kind if missed and missed.operation else None,
        trace=_trace(run, task),
        values=tuple(_short(value) for call in gold for _, value in sorted(call.arguments.items())),
    )


def find_departure(run: Trajectory, task: Task, gold: Sequence[GoldCall], tools: Sequence[ToolSpec]) -> Departure:
    made = made_calls(run)
    calls = _compare_calls(made, gold)
    if run.status == "loop":
        last = made[-1]
        return Departure("loop", f"made the same call of {last.tool} again and again", calls.missed if calls else None)
    if run.status in ("malformed", "truncated"):
        return Departure("malformed", _unreadable(run), calls.missed if calls else None)
    written = _unauthorised(run.diff, made, gold, tools)
    if written:
        return written
    if calls and run.status == "budget" and calls.kind == "stopped_early":
        return replace(calls, detail=f"out of turns: {calls.detail}")
    if calls:
        return calls
    if run.status == "budget":
        return Departure("loop", f"made {len(made)} calls and gave no answer")
    return _answer(run, task)


def made_calls(run: Trajectory) -> list[MadeCall]:
    """The calls that were carried out, each with what it showed."""
    shown = {m["tool_call_id"]: str(m["content"]) for m in run.messages if m["role"] == "tool"}
    asked = [call for m in run.messages if m["role"] == "assistant" for call in m.get("tool_calls") or ()]
    return [
        MadeCall(c["function"]["name"], json.loads(c["function"]["arguments"]), shown[c["id"]], _ok(shown[c["id"]]))
        for c in asked
        if c["id"] in shown
    ]


def _compare_calls(made: Sequence[MadeCall], gold: Sequence[GoldCall]) -> Departure | None:
    """The earliest departure from the gold; None when every call of the gold was made, in its order."""
    left, met = dict(enumerate(gold)), []
    first: Departure | None = None
    for position, call in enumerate(made):
        index = next((i for i, wanted in left.items() if _equal(call, wanted)), None)
        if index is not None:
            met.append(index)
            del left[index]
        elif first is None:
            first = _departure(call, made[position + 1 :], left, met, gold)
    if not left:
        return _order(met, gold)
    if first:
        return first
    missing = next(iter(left.values()))
    return Departure("stopped_early", f"{len(met)} of {len(gold)} calls made; {missing.tool} is missing", missing)


def _departure(
    call: MadeCall,
    later: Sequence[MadeCall],
    left: Mapping[int, GoldCall],
    met: Sequence[int],
    gold: Sequence[GoldCall],
) -> Departure | None:
    """How one call departs from the gold calls that are left; None for a harmless repetition."""
    if any(_equal(call, gold[index]) for index in met) or not left:
        return None
    alike = [wanted for wanted in left.values() if wanted.tool == call.tool]
    if not alike:
        wanted = next(iter(left.values()))
        return Departure("wrong_tool", f"called {call.tool} where the gold calls {wanted.tool}", wanted)
    wanted = min(alike, key=lambda one: len(_differing(call, one)))
    differing = _differing(call, wanted)
    name = next((n for n in differing if n in wanted.sources), differing[0])
    given = f"{call.tool} with {name} = {_short(call.arguments.get(name))}, not {_short(wanted.arguments.get(name))}"
    if name not in wanted.sources:
        return Departure("wrong_argument", f"called {given}", wanted)
    if wanted.sources[name] in met:
        return Departure("state_not_tracked", f"called {given}, which an earlier call had shown", wanted)
    if any(_equal(after, gold[wanted.sources[name]]) for after in later):
        return Departure("wrong_order", f"called {given}, before the call that shows it", wanted)
    return Departure("wrong_argument", f"called {given}, and never looked it up", wanted)


def _order(met: Sequence[int], gold: Sequence[GoldCall]) -> Departure | None:
    for position, index in enumerate(met):
        if index != min(met[position:]):
            wanted = gold[min(met[position:])]
            return Departure("wrong_order", f"called {gold[index].tool} before {wanted.tool}", wanted)
    return None


def _equal(call: MadeCall, wanted: GoldCall) -> bool:
    """The same tool, and the same arguments or the same thing shown."""
    return call.tool == wanted.tool and (
        not _differing(call, wanted) or (call.ok and call.observation == wanted.observation)
    )


def _differing(call: MadeCall, wanted: GoldCall) -> list[str]:
    names = sorted(call.arguments.keys() | wanted.arguments.keys())
    return [n for n in names if not same(wanted.arguments.get(n), call.arguments.get(n))]


def _unauthorised(
    diff: StateDiff, made: Sequence[MadeCall], gold: Sequence[GoldCall], tools: Sequence[ToolSpec]
) -> Departure | None:
    """A write that succeeded, by a tool that the gold does not write with (or more often than it does)."""
    if not diff.changes:
        return None
    writers = {tool.name for tool in tools if not tool.annotations.read_only}
    for name in sorted({call.tool for call in made if call.ok and call.tool in writers}):
        times = sum(call.tool == name and call.ok for call in made)
        allowed = sum(call.tool == name for call in gold)
        if times > allowed:
            asked = "the task asks for no such change" if not allowed else f"the task asks for {allowed}"
            return Departure("unauthorised_write", f"called {name} {times} times; {asked}")
    return None


def _answer(run: Trajectory, task: Task) -> Departure:
    given = run.answer if isinstance(run.answer, dict) else {}
    wrong = [k for k, v in task.reference_answer.items() if not same(v, given.get(k))]
    if given.keys() != task.reference_answer.keys():
        keys = f"{sorted(given)} instead of {sorted(task.reference_answer)}"
        return Departure("malformed", f"answered with the fields {keys}")
    if not wrong:
        failed = next((f"{r.id}: {r.detail}" for r in run.score.results if r.passed is False), "")
        return Departure("wrong_answer", f"right fields and calls, yet not accepted ({failed})")
    key = wrong[0]
    said = f"answered {key} = {_short(given[key])}, not {_short(task.reference_answer[key])}"
    if any(same(change.before.get(key), given[key]) for change in task.state_change.changes if change.before):
        return Departure("state_not_tracked", f"{said}: the value from before the change")
    return Departure("wrong_answer", said)


def _trace(run: Trajectory, task: Task) -> str:
    lines = [f"asked: {task.question}"]
    for call in made_calls(run):
        arguments = ", ".join(f"{name}={_short(value)}" for name, value in call.arguments.items())
        lines.append(f"called {call.tool}({arguments}) and saw {call.observation[:160]}")
    last = next((str(m.get("content") or "") for m in reversed(run.messages) if m["role"] == "assistant"), "")
    return "\n".join([*lines[:9], f"ended as {run.status} with {last[:160]!r}"])


def _unreadable(run: Trajectory) -> str:
    last = next((str(m.get("content") or "") for m in reversed(run.messages) if m["role"] == "assistant"), "")
    what = "was cut at the token limit" if run.status == "truncated" else "is neither a call nor a JSON answer"
    return f"the last turn {what}: {_short(last)}"


def _ok(observation: str) -> bool:
    """Whether an observation is a result. An error is shown as `{"error": {...}}`."""
    try:
        found = json.loads(observation)
    except ValueError:
        return True  # a long result, cut
    return not (isinstance(found, dict) and set(found) == {"error"})


def _short(value: Any, most: int = 60) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else text[: most - 1] + "…"
