"""The card of an environment: is it good, at a glance (one JSON record, from which the page is made).

    WORKSPACE/cards/<id>/card.json, card.html     one environment
    WORKSPACE/cards/index.html                    all of them

What lies in the bundle is read; what has to be seen (floor, oracle, determinism, isolation) is run by `card_runs`.
A card is kept until the bundle changes.
"""

import hashlib
import json
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from agent_world.agents.validator.duplicates import DIFFERS
from agent_world.agents.validator.gate import CHECKS
from agent_world.agents.validator.second import SECOND
from agent_world.evals.card_runs import Measured, measure
from agent_world.evals.records import count_tasks, reasons_of
from agent_world.evals.stats import PassAt, pass_at, percent, show_rate
from agent_world.graphs.deps import Deps
from agent_world.graphs.synthesize import rejections_of
from agent_world.memory.store import Bundle, read_record, read_records, write_record
from agent_world.memory.workspace import Workspace
from agent_world.schema import Dropped, Rate, Record, Source, Task, ToolSpec

VERSION = 1
LUCK = 0.05
"""Share of tasks that may be passed without solving them."""


class TableRow(Record):
    name: str
    file: str
    rows: int
    columns: int
    mined: bool


class ToolRow(Record):
    name: str
    description: str
    reads: bool


class Receipt(Record):
    """One check of the gate, over all kept tasks."""

    name: str
    passed: int
    of: int


class Sample(Record):
    level: int
    question: str
    answer: str


class Signal(Record):
    """One thing that makes an environment good, and whether it does; `good` None where nobody has looked."""

    name: str
    good: bool | None
    detail: str


class Card(Record):
    fingerprint: str
    """Of bundle, tasks, rejections and runtime; a card with another one is out of date."""
    environment: str
    name: str
    description: str
    type: str
    engine: str
    hash: str
    tables: tuple[TableRow, ...]
    sources: tuple[Source, ...]
    rounds: int
    """Of complexification."""
    tools: tuple[ToolRow, ...]
    tools_dropped: int
    tokens: int
    """Of the tool list, as function specs in JSON."""
    tokens_by: str
    tasks: dict[str, dict[str, int]]
    """Level -> strategy -> number."""
    writing: int
    """Tasks that change the state."""
    calls_mean: float
    calls_most: int
    statuses: dict[str, int]
    receipts: tuple[Receipt, ...]
    rejections: dict[str, int]
    """Candidates that were not kept, by reason."""
    pass_at: tuple[PassAt, ...]
    samples: tuple[Sample, ...]
    measured: Measured

    @property
    def task_count(self) -> int:
        return sum(sum(by.values()) for by in self.tasks.values())

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)

    @property
    def signals(self) -> tuple[Signal, ...]:
        return signals_of(self)

    @property
    def verdict(self) -> str:
        found = [signal.good for signal in self.signals]
        bad = found.count(False)
        return f"{found.count(True)} of {len(found) - found.count(None)} signs good" + (f", {bad} bad" if bad else "")


async def card_of(bundle: Bundle, deps: Deps, *, fresh: bool = False) -> Card:
    """The bundle's card: read back while it is up to date, else made anew and written."""
    path = folder_of(deps.settings.workspace, bundle.id) / "card.json"
    mark = _fingerprint(bundle, deps)
    kept = None if fresh else _kept(path, mark)
    if kept is not None:
        return kept
    card = _assemble(bundle, deps, mark, await measure(bundle, deps))
    write_record(path, card)
    return card


def _kept(path: Path, mark: str) -> Card | None:
    """The card that is there, if it is of this fingerprint and not damaged."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return read_record(path, Card) if isinstance(found, dict) and found.get("fingerprint") == mark else None


def folder_of(workspace: Path, environment: str) -> Path:
    return workspace / "cards" / environment


def signals_of(card: Card) -> tuple[Signal, ...]:
    """What is looked at, in order of weight. The thresholds are ours and stand in the details."""
    run, tasks = card.measured, card.task_count
    idle, chance = run.idle, run.chance
    held = {receipt.name for receipt in card.receipts if receipt.passed == receipt.of}
    missing = [name for name in (*CHECKS, DIFFERS, *(r.name for r in card.receipts)) if name not in held]
    unsourced = sorted({t.file for t in card.tables if t.mined} - {source.file for source in card.sources})
    both = {strategy for by in card.tasks.values() for strategy in by}
    solved = card.pass_at[0] if card.pass_at else None
    return (
        Signal(
            name="every task passed the gate",
            good=bool(tasks) and not missing,
            detail=f"{len(card.receipts)} checks of {tasks} tasks"
            if not missing
            else f"not every task has a receipt for {missing[0]!r}",
        ),
        Signal(name="the reference solutions earn the reward", good=_all(run.oracle), detail=show_rate(run.oracle)),
        Signal(
            name="nothing is given away",
            good=max(idle.value, chance.value) <= LUCK if idle.scored and chance.scored else None,
            detail=f"doing nothing: {show_rate(idle)}; random calls: {show_rate(chance)}; at most {percent(LUCK)}",
        ),
        Signal(
            name="runs repeat, in other processes and at other times",
            good=run.replayed == tasks if tasks else None,
            detail=f"{run.replayed} of {tasks} reference solutions gave the same answer and state twice",
        ),
        Signal(name="instances do not touch each other", good=run.untouched, detail=run.isolation[0]),
        Signal(
            name="the data are real",
            good=bool(card.sources) and not unsourced,
            detail=f"{len(card.sources)} sources with address and checksum" if not unsourced
            else f"{unsourced[0]} has no source",
        ),
        Signal(
            name="the tasks are varied",
            good=len(card.tasks) >= 3 and len(both) == 2,
            detail=f"levels {', '.join(card.tasks) or 'none'}; {' and '.join(sorted(both)) or 'no strategy'}",
        ),
        Signal(
            name="a model solves them",
            good=solved.value > 0 if solved else None,
            detail=f"pass@1 {percent(solved.value)}" if solved else "gate only: no model has tried",
        ),
    )  # fmt: skip


def _all(rate: Rate) -> bool | None:
    return rate.passed == rate.scored + rate.unscored if rate.scored + rate.unscored else None


def _assemble(bundle: Bundle, deps: Deps, mark: str, measured: Measured) -> Card:
    head, tasks, tools = bundle.environment(), bundle.tasks(), bundle.tools()
    tokens, tokens_by = tool_tokens(tools, deps.settings.workspace)
    calls = [task.difficulty.calls for task in tasks]
    verdicts = [verdict.kept for verdict in head.tools]
    attempted = [(t.validation.attempts, t.validation.passes) for t in tasks if t.validation.attempts]
    return Card(
        fingerprint=mark,
        environment=bundle.id,
        name=head.name,
        description=head.description,
        type=" / ".join(head.taxonomy),
        engine=head.origin.engine,
        hash=head.content_hash[:12],
        tables=tuple(
            TableRow(name=t.name, file=t.file, rows=t.rows, columns=len(t.columns), mined=not t.synthetic)
            for t in head.database.tables
        ),
        sources=head.sources,
        rounds=len(head.rounds),
        tools=tuple(ToolRow(name=t.name, description=t.description, reads=t.annotations.read_only) for t in tools),
        tools_dropped=verdicts.count(False),
        tokens=tokens,
        tokens_by=tokens_by,
        tasks=count_tasks(tasks),
        writing=sum(bool(task.state_change.changes) for task in tasks),
        calls_mean=round(statistics.fmean(calls), 2) if calls else 0.0,
        calls_most=max(calls, default=0),
        statuses=dict(sorted(Counter(str(task.validation.status) for task in tasks).items())),
        receipts=receipts_of(tasks),
        rejections=reasons_of(_rejections(bundle, deps)),
        pass_at=pass_at(attempted),
        samples=samples_of(tasks),
        measured=measured,
    )


def receipts_of(tasks: Sequence[Task]) -> tuple[Receipt, ...]:
    """Every check that any task has a receipt for, over all tasks: a task without it counts as not passed. Only what
    there is no second way to is left out of the count of those that agree."""
    checks = [check for task in tasks for check in task.validation.checks]
    tried, passed = Counter(c.name for c in checks), Counter(c.name for c in checks if c.passed)
    names = dict.fromkeys(check.name for check in checks if check.name != "solved by the validator")
    sizes = {name: tried[name] if name == SECOND else len(tasks) for name in names}
    return tuple(Receipt(name=name, passed=passed[name], of=sizes[name]) for name in names)


def samples_of(tasks: Sequence[Task]) -> tuple[Sample, ...]:
    """The first task of each level and strategy."""
    first: dict[tuple[int, str], Task] = {}
    for task in tasks:
        first.setdefault((task.difficulty.level, task.strategy), task)
    return tuple(
        Sample(level=level, question=task.question, answer=json.dumps(task.reference_answer, ensure_ascii=False))
        for (level, _), task in sorted(first.items())
    )


def tool_tokens(tools: Sequence[ToolSpec], workspace: Path) -> tuple[int, str]:
    """Tokens of the tool list that a policy is shown, and who counted: the tokenizer of a policy of this workspace,
    or, where there is none, four characters a token."""
    text = json.dumps([tool.public() for tool in tools], ensure_ascii=False)
    for path in sorted((workspace / "policies").glob("*/tokenizer.json")):
        from tokenizers import Tokenizer

        return len(Tokenizer.from_file(str(path)).encode(text).ids), f"tokenizer of policies/{path.parent.name}"
    return len(text) // 4, "approximation: four characters a token"


def _rejections(bundle: Bundle, deps: Deps) -> list[Dropped]:
    """Of the last synthesis; of the workspace's own record where it was made by the whole factory."""
    path = rejections_of(deps.settings.workspace, bundle)
    if path.exists():
        return read_records(path, Dropped)
    outcome = Workspace(deps.settings.workspace).outcome("tasks", bundle.id)
    return [item for item in outcome.dropped if item.kind == "task"] if outcome else []


def _fingerprint(bundle: Bundle, deps: Deps) -> str:
    digest = hashlib.sha256(f"{VERSION}:{deps.settings.runtime.model_dump_json()}".encode())
    digest.update(bundle.content_hash().encode())
    heads = (bundle.root / "environment.json", bundle.root / "tasks.jsonl")
    for path in (*heads, rejections_of(deps.settings.workspace, bundle)):
        digest.update(hashlib.sha256(path.read_bytes()).digest() if path.exists() else b"-")
    return digest.hexdigest()[:16]
