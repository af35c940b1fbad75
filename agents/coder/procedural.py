"""The coder without a model: tools follow from the database's own structure. Deterministic under a seed."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from agent_world.agents.coder.candidates import candidates
from agent_world.agents.coder.code import source_of
from agent_world.agents.coder.data import read_data
from agent_world.agents.coder.design import Design, choose
from agent_world.agents.coder.draft import Draft, WrittenTool
from agent_world.agents.coder.head import tests_head, tools_head
from agent_world.agents.coder.mirror import mirror
from agent_world.agents.coder.notes import note_tools, notes_helper
from agent_world.agents.coder.service import Served, serve
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
        served = serve(data, environment.theme, self.seed, self.most)
        names = {tool.spec.name for tool in served.tools}
        theme = environment.theme.model_copy(
            update={"tools": tuple(spec for spec in environment.theme.tools if spec.name not in names)}
        )
        found = [d for d in candidates(data) if d.name not in names and not _shown(d, served)]
        notes = note_tools(data, self.seed, {*names, *(design.name for design in found)})
        free = [design for design in mirror(found, theme) if design.mirrors or not _governed(design, served)]
        held = Counter(tool.spec.operation.table for tool in served.tools if tool.spec.operation)
        designs = choose(free, self.most - len(served.tools) - len(notes), held)
        tools = [
            WrittenTool(
                spec=spec_of(data, design),
                source=source_of(data, design),
                tests=tests_of(data, design, self.seed),
                origin=origin,
            )
            for design in designs
        ]
        helpers = [*served.helpers, *([notes_helper(data)] if notes else [])]
        head = "\n\n\n".join([tools_head(environment.name, data, days=served.days).rstrip(), *helpers])
        return Draft(head=head, test_head=tests_head(data), tools=(*served.tools, *tools, *notes))

    async def repair(self, bundle: Bundle, draft: Draft, failures: Mapping[str, tuple[str, ...]]) -> Draft:
        return draft


def _governed(design: Design, served: Served) -> bool:
    """Whether it would go round the conditions of an operation."""
    column = design.column if design.kind == "update" else "" if design.kind == "create" else None
    return (design.table.name, column) in served.governed


def _shown(design: Design, served: Served) -> bool:
    """Whether a tool of the service shows the same row and more."""
    return design.kind == "get" and design.table.name in served.shown
