"""The unit tests of a designed tool: normal use, edges, refusals, effects on the files (section 3.1), broken tables."""

import random

from agent_world.agents.coder import reading_tests, writing_tests
from agent_world.agents.coder.broken_tests import broken_case
from agent_world.agents.coder.data import Data
from agent_world.agents.coder.design import Design
from agent_world.agents.coder.draft import UnitTest

MAKERS = {
    "get": reading_tests.get_cases,
    "joined": reading_tests.get_cases,
    "search": reading_tests.search_cases,
    "list": reading_tests.list_cases,
    "related": reading_tests.list_cases,
    "count": reading_tests.count_cases,
    "aggregate": reading_tests.aggregate_cases,
    "top": reading_tests.top_cases,
    "create": writing_tests.create_cases,
    "update": writing_tests.update_cases,
    "delete": writing_tests.delete_cases,
    "reassign": writing_tests.reassign_cases,
}


def tests_of(data: Data, design: Design, seed: int) -> tuple[UnitTest, ...]:
    """Deterministic under the seed."""
    rng = random.Random(f"{seed}:{design.name}:tests")
    cases = MAKERS[design.kind](data, design, rng)
    return tuple(case.unit_test(design.name) for case in [*cases, broken_case(data, design, rng)])
