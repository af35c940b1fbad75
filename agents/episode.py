"""Episodes: a policy acts in private instances of environments until it answers (paper section 2).

    opening -> policy.act -> tool calls -> observations -> ... -> final response -> grade

Episodes of a batch go in lock-step, so that a policy with weights sees all live conversations at once. A bad
episode is data: it ends with a status (`schema.EpisodeStatus`), never with an exception.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from agent_world.agents.policy import Message, Policy, ToolCall, Turn, assistant_message
from agent_world.errors import SandboxError
from agent_world.memory.store import Bundle
from agent_world.schema import EpisodeStatus, Json, Score, StateDiff, Task, ToolSpec, Trajectory
from agent_world.tools.grading import Judge, grade, parse_answer
from agent_world.tools.runtime import Instance, Observation, Runtime

SYSTEM = "Use the tools, then give the answer as JSON alone."


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets of an episode. The token limit of one turn is the policy's own."""

    max_turns: int = 12
    repeats: int = 3
    """An episode ends as `loop` when it makes the same call with the same result this often."""
    batch: int = 64
    """Episodes in lock-step; at most the runtime's `max_instances`, or the batch waits for itself."""


def opening(task: Task, tools: Sequence[ToolSpec]) -> list[Message]:
    """The messages that an episode of `task` begins with. `tools` go to the policy apart, not into the text."""
    question = f"{task.question}\nAnswer as JSON: {answer_form(task.answer_schema)}"
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]


def answer_form(schema: Mapping[str, Any]) -> str:
    """An answer schema in short: `{"elevation": integer, "names": [string]}`."""
    match schema.get("type"):
        case "object":
            return "{" + ", ".join(f'"{k}": {answer_form(v)}' for k, v in schema.get("properties", {}).items()) + "}"
        case "array":
            return f"[{answer_form(schema.get('items', {}))}]"
        case list() as kinds:
            return " or ".join(str(kind) for kind in kinds)
        case kind:
            return str(kind or "value")


def final_text(answer: Json) -> str:
    return json.dumps(answer, ensure_ascii=False)


def conversation(
    task: Task, tools: Sequence[ToolSpec], calls: Sequence[tuple[str, Mapping[str, Any], Observation]], answer: Json
) -> list[Message]:
    """A whole gold conversation: the calls one a turn in order, each with what it gave, then the answer."""
    messages = opening(task, tools)
    for number, (name, arguments, observation) in enumerate(calls):
        messages.append(assistant_message(Turn(tool_calls=(ToolCall(name, dict(arguments)),)), number))
        messages.append(tool_message(name, number, observation))
    return [*messages, {"role": "assistant", "content": final_text(answer)}]


def tool_message(name: str, number: int, observation: Observation) -> Message:
    return {"role": "tool", "tool_call_id": f"call_{number}", "name": name, "content": observation.text}


async def run_episodes(
    policy: Policy,
    items: Sequence[tuple[Task, Bundle]],
    runtime: Runtime,
    limits: Limits = Limits(),
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
    judge: Judge | None = None,
) -> list[Trajectory]:
    """One graded episode an item, in order, each in its own instance opened with `seed`.

    `on_progress(done, total)` is called as episodes end. An instance that fails ends its episode as `infra`,
    unscored; so does a turn that the policy could not give. `judge` decides criteria that code cannot.
    """
    found: list[Trajectory] = []
    for start in range(0, len(items), limits.batch):
        batch = await _Batch.open(items[start : start + limits.batch], runtime, limits, seed)
        try:
            await batch.play(policy, partial(_report, on_progress, start, len(items)))
            found += await asyncio.gather(*(e.finish(policy.name, runtime, seed, judge) for e in batch.episodes))
        finally:
            await asyncio.gather(*(e.close() for e in batch.episodes))
    return found


def _report(on_progress: Callable[[int, int], None] | None, before: int, total: int, done: int) -> None:
    if on_progress is not None:
        on_progress(before + done, total)


@dataclass(slots=True)
class _Batch:
    episodes: list["_Episode"]
    limits: Limits

    @classmethod
    async def open(cls, items: Sequence[tuple[Task, Bundle]], runtime: Runtime, limits: Limits, seed: int) -> "_Batch":
        specs = {bundle.root: bundle.tools() for _, bundle in items}
        episodes = [_Episode(task, bundle, specs[bundle.root], opening(task, ())) for task, bundle in items]
        await asyncio.gather(*(episode.open(runtime, seed) for episode in episodes))
        return cls(episodes, limits)

    async def play(self, policy: Policy, on_progress: Callable[[int], Any]) -> None:
        public = {e.bundle.root: [tool.public() for tool in e.tools] for e in self.episodes}
        for _ in range(self.limits.max_turns):
            live = [episode for episode in self.episodes if episode.status is None]
            on_progress(len(self.episodes) - len(live))
            if not live:
                return
            turns = await policy.act([e.messages for e in live], [public[e.bundle.root] for e in live])
            await asyncio.gather(*(e.take(turn, self.limits) for e, turn in zip(live, turns, strict=True)))
        on_progress(len(self.episodes))


@dataclass(slots=True)
class _Episode:
    task: Task
    bundle: Bundle
    tools: list[ToolSpec]
    messages: list[Message]
    instance: Instance | None = None
    status: EpisodeStatus | None = None
    """None while it goes on."""
    answer: dict[str, Any] | None = None
    calls: int = 0
    tool_errors: int = 0
    seen: Counter[str] = field(default_factory=Counter)

    async def open(self, runtime: Runtime, seed: int) -> None:
        try:
            self.instance = await runtime.open(self.bundle.root, seed=seed)
        except SandboxError:
            self.status = "infra"

    async def close(self) -> None:
        if self.instance is not None:
            await self.instance.close()

    async def take(self, turn: Turn, limits: Limits) -> None:
        """Carry out one turn: nothing of a cut or unreadable one."""
        if turn.failure is not None:
            self.status = "infra"
            return
        self.messages.append(assistant_message(turn, self.calls))
        if turn.truncated:
            self.status = "truncated"
        elif turn.tool_calls:
            await self._call_all(turn.tool_calls, limits)
        else:
            self.answer = parse_answer(turn.content)
            self.status = "malformed" if self.answer is None else "done"

    async def _call_all(self, calls: Sequence[ToolCall], limits: Limits) -> None:
        assert self.instance is not None
        try:
            for call in calls:
                observation = await self.instance.call(call.name, call.arguments)
                self.messages.append(tool_message(call.name, self.calls, observation))
                self.calls += 1
                self.tool_errors += not observation.ok
                if observation.error == "infra":  # the instance is lost, by no fault of the policy
                    self.status = "infra"
                    return
                key = json.dumps([call.name, call.arguments, observation.text], sort_keys=True)
                self.seen[key] += 1
                if self.seen[key] >= limits.repeats:
                    self.status = "loop"
                    return
        except SandboxError:
            self.status = "infra"

    async def finish(self, policy: str, runtime: Runtime, seed: int, judge: Judge | None) -> Trajectory:
        """Grade what was left behind; an episode out of turns ends as `budget`."""
        status: EpisodeStatus = self.status or "budget"
        diff, score = StateDiff(), Score(reward=None)
        if status != "infra":
            try:
                diff, score = await self._grade(runtime, judge)
            except SandboxError:
                status = "infra"
        return Trajectory(
            task=self.task.id,
            environment=self.bundle.id,
            policy=policy,
            seed=seed,
            messages=tuple(self.messages),
            calls=self.calls,
            tool_errors=self.tool_errors,
            status=status,
            answer=self.answer,
            score=score,
            diff=diff,
        )

    async def _grade(self, runtime: Runtime, judge: Judge | None) -> tuple[StateDiff, Score]:
        assert self.instance is not None
        diff = await self.instance.diff()
        # Closed first: a verifier opens an instance of its own, and a full runtime would wait for this one.
        await self.close()
        self.instance = None
        root = self.bundle.root
        return diff, await grade(self.task, self.answer, diff, runtime=runtime, environment=root, judge=judge)
