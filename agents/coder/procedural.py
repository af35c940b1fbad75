"""The coder without a model: tools follow from the database's own structure. Deterministic under a seed."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent_world.agents.coder.candidates import candidates
from agent_world.agents.coder.code import source_of
from agent_world.agents.coder.data import read_data
from agent_world.agents.coder.design import choose
from agent_world.agents.coder.draft import Draft, WrittenTool
from agent_world.agents.coder.head import tests_head, tools_head
from agent_world.agents.coder.mirror import mirror
from agent_world.agents.coder.spec import spec_of
from agent_world.agents.coder.unit_tests import tests_of
from agent_world.memory.store import Bundle
from agent_world.schema import Origin


@dataclass(frozen=True, slots=True)
class ProceduralCoder:
    seed: int
    most: int
    """Most tools of an environment."""
    repairs: int = 0
    """Nothing would come out differently: a tool whose tests fail is dropped."""

    async def draft(self, bundle: Bundle) -> Draft:
        """Raises `StoreError` when the database cannot be read."""
        environment, data = bundle.environment(), read_data(bundle)
        origin = Origin(engine="procedural", seed=self.seed)
        designs = choose(mirror(candidates(data), environment.theme), self.most)
        tools = [
            WrittenTool(
                spec=spec_of(data, design),
                source=source_of(data, design),
                tests=tests_of(data, design, self.seed),
                origin=origin,
            )
            for design in designs
        ]
        return Draft(head=tools_head(environment.name, data), test_head=tests_head(data), tools=tuple(tools))

    async def repair(self, bundle: Bundle, draft: Draft, failures: Mapping[str, tuple[str, ...]]) -> Draft:
        return draft
