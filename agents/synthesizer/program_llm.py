"""The `llm` engine of programmatic tasks: a model looks around in the environment, writes, runs and repairs (ReAct).

    think -> call tools of the environment | run_program | submit -> on trial -> task
      ^                    |                       |          |
      +---- what they gave +------ its answer -----+-- fault -+

At most MOST_TURNS answers of the model, and SUBMISSIONS submissions.

Nothing that a model says, or does not say, breaks the run: the draft is given up with a reason. Each program runs on
a clean instance; what the model changed while it looked around is undone.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import ValidationError

from agent_world.agents.model import Asked, Reply, strip_fence
from agent_world.agents.synthesizer.program_trial import TYPES, Composed, tried
from agent_world.agents.synthesizer.realise import Realised
from agent_world.agents.synthesizer.world import World
from agent_world.agents.validator.replay import replay
from agent_world.errors import ModelError
from agent_world.schema import Origin, Program, ToolSpec
from agent_world.tools.runtime import Instance

MOST_TURNS = 24
"""Answers of the model to one task, whatever is in them."""
LIKELY_TURNS = 6
"""What one takes where all goes well."""
SUBMISSIONS = 4
"""Times that one task may be submitted, the first included."""
IDLE = 3
"""Answers in a row without a call that could be made or a task."""
MOST_CALLS = 8
"""Calls in one answer that are made."""
SEEN_CHARS = 2000
"""Of what a call gave."""
SAMPLES = 2
"""Rows of each table that the model is shown, so that it writes of what is there."""
RUN, SUBMIT = "run_program", "submit"


class ToolModel(Protocol):
    """A model that can be given tools."""

    @property
    def name(self) -> str: ...

    async def turn(self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> Reply: ...


@dataclass(slots=True)
class Work:
    """One task in the making: the dialogue so far, and what became of it."""

    world: World
    origin: Origin
    round: int
    instance: Instance
    model: ToolModel
    dialogue: list[dict[str, Any]] = field(default_factory=list)
    made: Realised | None = None
    submissions: int = 0
    idle: int = 0
    problem: str = ""

    @property
    def given_up(self) -> str:
        """Why no more is asked of the model; empty while there is room."""
        if self.submissions >= SUBMISSIONS:
            return f"the model's program was not repaired in {SUBMISSIONS} tries: {self.problem}"
        if self.idle >= IDLE:
            return f"the model wrote no program: {self.problem or 'it called nothing'}"
        return ""

    # --- One answer ---

    async def take(self, reply: Reply) -> None:
        """Make the calls of an answer in order; a text that is a task counts as submitted."""
        if not reply.calls:
            await self._read(reply.text)
            return
        calls = [(call, call.id or f"call_{len(self.dialogue)}_{place}") for place, call in enumerate(reply.calls)]
        self.dialogue.append(_assistant(reply.text, calls))
        done = 0
        for place, (call, name) in enumerate(calls):
            skipped = place >= MOST_CALLS or self.made is not None or bool(self.given_up)
            text, counts = ("Not made: too many calls in one answer.", False) if skipped else await self._call(call)
            done += counts
            self.dialogue.append({"role": "tool", "tool_call_id": name, "content": text[:SEEN_CHARS]})
        self.idle = 0 if done else self.idle + 1

    async def _read(self, text: str) -> None:
        self.dialogue.append({"role": "assistant", "content": text})
        try:
            found = Composed.model_validate_json(strip_fence(text))
        except ValidationError:
            self.idle += 1
            said = f"Go on: call tools, {RUN} or {SUBMIT}."
        else:
            said, self.idle = await self._submit(found), 0
        self.dialogue.append({"role": "user", "content": said})

    async def _call(self, call: Asked) -> tuple[str, bool]:
        """What the model is told, and whether the call could be made."""
        if call.problem:
            self.problem = f"{call.tool}: {call.problem[:200]}"
            return f"Not made: {call.problem[:200]}.", False
        if call.tool == RUN:
            return await self._run(str(call.arguments.get("program", ""))), True
        if call.tool == SUBMIT:
            try:
                found = Composed.model_validate(call.arguments)
            except ValidationError as error:
                self.problem = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5])
                return f"Not submitted: {self.problem}.", False
            return await self._submit(found), True
        return (await self.instance.call(call.tool, call.arguments)).text, True

    async def _run(self, source: str) -> str:
        """On a clean instance, left clean."""
        await self.instance.reset()
        run = await replay(self.instance, Program(source=source or "pass"))
        changes = (await self.instance.diff()).changes
        await self.instance.reset()
        if run.error or run.answer is None:
            return f"The program fails: {run.error}"
        return json.dumps(
            {"answer": run.answer, "calls": len(run.calls), "changed rows": len(changes)}, ensure_ascii=False
        )

    async def _submit(self, found: Composed) -> str:
        self.submissions += 1
        made = await tried(found, self.world, self.origin, self.round, self.instance, self.model.name)
        await self.instance.reset()
        if isinstance(made, Realised):
            self.made = made
            return "Accepted."
        self.problem = made
        return f"That does not hold: {made}. Repair it and submit the whole task again."


async def compose(
    world: World, level: int, origin: Origin, round: int, instance: Instance, model: ToolModel
) -> Realised | str:
    """A task in a model's words and code, or the reason why there is none. The instance is left clean."""
    work = Work(world, origin, round, instance, model)
    work.dialogue = [{"role": "system", "content": _RULES}, {"role": "user", "content": brief(world, level)}]
    specs = [*(tool.public() for tool in world.tools if tool.name not in (RUN, SUBMIT)), *_SPECS]
    try:
        for _ in range(MOST_TURNS):
            await work.take(await model.turn(work.dialogue, specs))
            if work.made is not None:
                return work.made
            if work.given_up:
                return work.given_up
    except ModelError as error:
        return f"the model wrote no program: {error}"
    finally:
        await instance.reset()
    return f"the model submitted nothing that holds in {MOST_TURNS} turns: {work.problem or 'it only looked around'}"


def _assistant(text: str, calls: Sequence[tuple[Asked, str]]) -> dict[str, Any]:
    written = [
        {"id": name, "type": "function", "function": {"name": call.tool, "arguments": json.dumps(call.arguments)}}
        for call, name in calls
    ]
    return {"role": "assistant", "content": text, "tool_calls": written}


# --- What the model is told ----------------------------------------------------------------------------------


def brief(world: World, level: int) -> str:
    """Tools with types, listed values and outputs, some rows, and how long the task is to be."""
    tools = "\n".join(map(described, world.tools))
    rows = "\n".join(
        f"- {name}: {json.dumps(found[:SAMPLES], ensure_ascii=False, default=str)}"
        for name, found in sorted(world.rows.items())
    )
    calls = {1: "1 or 2", 2: "3 or 4", 3: "5 to 9", 4: "10 to 19", 5: "20 or more"}[level]
    return (
        f"Environment: {world.environment.name}. {world.environment.description}\nTools:\n{tools}\n"
        f"Some rows:\n{rows}\nWrite one task whose program makes {calls} tool calls."
    )


def described(tool: ToolSpec) -> str:
    """`- list_books(genre: string of horror|romance, limit: integer = 10) -> items[].title, total: ...`."""
    required = set(tool.input_schema.get("required", ()))
    given = [_argument(name, form, name in required) for name, form in tool.input_schema.get("properties", {}).items()]
    operation = tool.operation
    outputs = list(operation.outputs) if operation else list((tool.output_schema or {}).get("properties", {}))
    return f"- {tool.name}({', '.join(given)}) -> {', '.join(outputs) or 'see by calling it'}: {tool.description}"


def _argument(name: str, form: dict[str, Any], required: bool) -> str:
    kind = str(form.get("type", "any")) + (f" of {'|'.join(map(str, form['enum']))}" if form.get("enum") else "")
    return f"{name}: {kind}" + ("" if required else f" = {json.dumps(form.get('default'))}")


def _spec(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


_SPECS = (
    _spec(RUN, "Run a program on a clean copy of the environment: its answer, its calls, how many rows it changed.",
          {"type": "object", "properties": {"program": {"type": "string"}}, "required": ["program"]}),
    _spec(SUBMIT, "Hand in the task. What does not hold when it is tried comes back.", Composed.model_json_schema()),
)  # fmt: skip
_RULES = (
    "You write tasks for an assistant with tools. A task is a question that a person would ask, a program that solves "
    "it by the tools alone (loops, branches, aggregation), and a verifier. Every name and number that the program "
    "uses stands in the question; the question names no tool, no table and no column; it has one right answer. "
    "Look around by calling the tools, try your program with run_program until it does what the question says, then "
    f"hand in question, program, answer (types of {', '.join(TYPES)}) and verifier with submit."
)
