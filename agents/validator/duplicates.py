"""Tasks of one environment must differ: in what they ask, how they say it, and what they do."""

import json
from dataclasses import dataclass, field

from agent_world.schema import GateCheck, Task, Validation

GRAMS = 4
MOST_SHARED = 0.8
"""Share of 4-grams that two questions may have in common."""


DIFFERS = "differs from the others"
"""Name of the receipt."""


def with_difference(validation: Validation, clash: str) -> Validation:
    """The record with one more receipt; rejected where the task repeats another."""
    check = GateCheck(name=DIFFERS, passed=not clash, detail=clash)
    status = "rejected" if clash else validation.status
    return validation.model_copy(update={"status": status, "checks": (*validation.checks, check)})


@dataclass(slots=True)
class Seen:
    """Tasks so far."""

    questions: dict[str, str] = field(default_factory=dict)
    solutions: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    grams: list[tuple[str, frozenset[tuple[str, ...]]]] = field(default_factory=list)

    def clash(self, task: Task) -> str:
        """Which earlier task this one repeats, and how; empty when it is new."""
        other = self.questions.get(question_key(task))
        if other:
            return f"same question as {other}"
        other = self.solutions.get(solution_key(task))
        if other:
            return f"same solution as {other}"
        other = self.answers.get(answer_key(task))
        if other:
            return f"same answer as {other}"
        name = self.worded_as(task.question)
        return f"worded almost as {name}" if name else ""

    def worded_as(self, question: str) -> str:
        """The earlier task whose question shares more than `MOST_SHARED` of the 4-grams; empty when there is none."""
        mine = four_grams(question)
        for name, theirs in self.grams:
            if shared(mine, theirs) > MOST_SHARED:
                return name
        return ""

    def add(self, task: Task) -> None:
        self.questions[question_key(task)] = task.id
        self.solutions[solution_key(task)] = task.id
        self.answers[answer_key(task)] = task.id
        self.grams.append((task.id, four_grams(task.question)))


def shared(mine: frozenset[tuple[str, ...]], theirs: frozenset[tuple[str, ...]]) -> float:
    """Share of 4-grams that two questions have in common, of the one with fewer."""
    return len(mine & theirs) / min(len(mine), len(theirs))


def question_key(task: Task) -> str:
    return " ".join(task.question.casefold().split())


def solution_key(task: Task) -> str:
    """What is done and answered, however it is asked."""
    return json.dumps([task.solution.model_dump(mode="json"), task.reference_answer], sort_keys=True)


def answer_key(task: Task) -> str:
    """What is right at the end: who knows it for one task must not know it for another."""
    return json.dumps([task.reference_answer, task.state_change.model_dump(mode="json")], sort_keys=True)


def four_grams(question: str) -> frozenset[tuple[str, ...]]:
    words = question.casefold().split()
    if len(words) < GRAMS:
        return frozenset({tuple(words)})
    return frozenset(tuple(words[i : i + GRAMS]) for i in range(len(words) - GRAMS + 1))
