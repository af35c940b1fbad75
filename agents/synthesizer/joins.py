"""From a row to its parent by a get tool: the join of programs."""

from dataclasses import dataclass

from agent_world.agents.synthesizer.sources import Rows, call
from agent_world.agents.synthesizer.world import Action, Row, World
from agent_world.schema import ForeignKey


@dataclass(frozen=True, slots=True)
class Join:
    """A get tool that leads from a row's foreign key to its parent."""

    link: ForeignKey
    action: Action

    def fetch(self, value: str) -> str:
        assert self.action.key is not None
        return call(self.action, {self.action.key: value})


def parents(world: World, rows: Rows, row: Row) -> list[Join]:
    """Joins that the group's items allow and the row has."""
    return [
        Join(link, action)
        for link in rows.table.foreign_keys
        for action in world.of("get", table=link.table)
        if link.column in rows.columns and row.get(link.column) is not None and link.target == action.table.primary_key
    ]
