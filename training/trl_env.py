"""The thin adapter between TRL's GRPO trainer and the environment runtime.

TRL wants a class an environment, whose attributes are its tools. Handing over plain methods would lose most of a
JSON Schema, so each attribute is a `SchemaTool`: a dict (the schema, taken as it is) that can be called. Attribute
names are numbers; TRL goes by `__name__`, so tools may be called `get-item` or `reset`.

TRL calls every public method of such a class a tool: all else here begins with an underscore.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_world.agents.episode import opening
from agent_world.errors import SandboxError, UsageError
from agent_world.memory.store import Bundle
from agent_world.schema import Score, Task
from agent_world.tools.grading import grade, parse_answer
from agent_world.tools.sync import SyncInstance, SyncRuntime


class SchemaTool(dict[str, Any]):
    """A tool's JSON Schema, used verbatim in prompts, that can be called with the tool's arguments."""

    def __init__(self, schema: Mapping[str, Any], call: Callable[[str, dict[str, Any]], str]) -> None:
        super().__init__(schema)
        self.call = call
        self.__name__ = schema["function"]["name"]

    def __call__(self, /, **arguments: Any) -> str:
        return self.call(self.__name__, arguments)

    def __eq__(self, other: object) -> bool:
        # TRL looks for each tool among all earlier ones; comparing schemas would make that quadratic and slow.
        return isinstance(other, SchemaTool)

    def __hash__(self) -> int:  # type: ignore[override]
        return 1

    def __repr__(self) -> str:
        return f"<tool {self.__name__}>"  # Python puts this into argument errors, which the policy reads

    __str__ = __repr__


class _ToolAttribute:
    """On the class a plain function, so TRL finds it; on an instance the `SchemaTool` bound to it."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema

        def unbound(**arguments: Any) -> str:
            raise TypeError("a tool is called on an environment")

        self.unbound = unbound

    def __get__(self, owner: "RolloutEnvironment | None", kind: type | None = None) -> Any:
        return self.unbound if owner is None else SchemaTool(self.schema, owner._call)


@dataclass(slots=True)
class Rollouts:
    """What the environments of a training run share."""

    runtime: SyncRuntime
    bundles: Mapping[str, Bundle]
    tasks: Mapping[str, Task]
    seed: int = 0
    failures: int = field(default=0, init=False)
    """Rollouts that our machinery broke; they are unscored."""


class RolloutEnvironment:
    """One rollout at a time: `reset` opens a private instance for a row, scoring closes it."""

    _rollouts: Rollouts

    def __init__(self) -> None:
        self._instance: SyncInstance | None = None
        self._task: Task | None = None
        self._broken = False

    def reset(self, *, task_id: str, **row: Any) -> None:
        """The prompt already holds the question, so nothing is added to it."""
        self._close()
        self._task = self._rollouts.tasks[task_id]
        self._broken = False
        self._guard(self._open)

    def _open(self) -> None:
        assert self._task is not None
        bundle = self._rollouts.bundles[self._task.environment]
        self._instance = self._rollouts.runtime.open(bundle.root, seed=self._rollouts.seed)

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        """What the policy reads: JSON of the value, or of the error."""
        found = self._guard(lambda: self._instance.call(name, arguments).text if self._instance else None)
        return found if found is not None else json.dumps({"error": "infra"})

    def _guard(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except SandboxError:
            self._broken = True
            self._rollouts.failures += 1
            return None

    def _close(self) -> None:
        if self._instance is not None:
            self._guard(self._instance.close)
            self._instance = None


def environment_factories(rollouts: Rollouts) -> dict[str, type[RolloutEnvironment]]:
    """TRL's `environment_factory`: a class for each bundle, with that bundle's tools."""
    found: dict[str, type[RolloutEnvironment]] = {}
    for name, bundle in rollouts.bundles.items():
        tools = {f"tool_{i:03d}": _ToolAttribute(spec.public()) for i, spec in enumerate(bundle.tools())}
        found[name] = type("Environment", (RolloutEnvironment,), {"_rollouts": rollouts, **tools})
    return found


def rows(tasks: Sequence[Task], bundles: Mapping[str, Bundle]) -> list[dict[str, Any]]:
    """Dataset rows `prompt`, `environment`, `task_id`. Raises `UsageError` that lists tasks without environment."""
    bad = [task.id for task in tasks if task.environment not in bundles]
    if bad:
        shown = ", ".join(bad[:5]) + (" …" if len(bad) > 5 else "")
        raise UsageError(f"{len(bad)} tasks name an environment that is not there ({shown}); synthesize them again.")
    return [{"prompt": opening(t, ()), "environment": t.environment, "task_id": t.id} for t in tasks]


def reward(
    prompts: Sequence[Any], completions: Sequence[Any], environments: Sequence[RolloutEnvironment], **row: Any
) -> list[float | None]:
    """Binary reward of each rollout (section 3.2.1); None where it could not be scored, which TRL leaves out of the
    group's mean."""
    rollouts = environments[0]._rollouts

    async def score_all() -> list[Score]:
        return await asyncio.gather(*(_score(e, c) for e, c in zip(environments, completions, strict=True)))

    scores = rollouts.runtime.run(score_all())
    return [score.reward for score in scores]


async def _score(environment: RolloutEnvironment, completion: Sequence[Mapping[str, Any]]) -> Score:
    """Read the state, close the instance (a verifier needs one of its own), grade."""
    task, held = environment._task, environment._instance
    if task is None or held is None or environment._broken:
        return Score(reward=None)
    rollouts = environment._rollouts
    try:
        diff = await held.instance.diff()
        await held.instance.close()
        environment._instance = None
        return await grade(
            task,
            final_answer(completion),
            diff,
            runtime=rollouts.runtime.runtime,
            environment=rollouts.bundles[task.environment].root,
        )
    except SandboxError:
        rollouts.failures += 1
        return Score(reward=None)


def final_answer(completion: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The answer of a finished rollout; one that ended in the middle of a call has none (TRL ends it silently)."""
    last = completion[-1] if completion else {}
    if last.get("role") != "assistant" or last.get("tool_calls"):
        return None
    return parse_answer(last.get("content") or "")
