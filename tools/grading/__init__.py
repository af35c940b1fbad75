"""Grading: from a final response and a state change to a reward of 0 or 1."""

from agent_world.tools.grading.answers import parse_answer
from agent_world.tools.grading.grade import Judge, grade
from agent_world.tools.grading.rubric import rubric_for
from agent_world.tools.grading.states import StateVariant, state_misses
from agent_world.tools.grading.variants import (
    Variant,
    harmless_variants,
    near_misses,
    text_variants,
)

__all__ = [
    "Judge",
    "StateVariant",
    "Variant",
    "grade",
    "harmless_variants",
    "near_misses",
    "parse_answer",
    "rubric_for",
    "state_misses",
    "text_variants",
]
