"""What shapes of programs are drawn from: the room that they have, and the groups of rows that they draw."""

import random
from dataclasses import dataclass, field

from agent_world.agents.synthesizer import deep_frames
from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer.access import Quality, Source, detail_of, qualities
from agent_world.agents.synthesizer.meaning import Group, Subject
from agent_world.agents.synthesizer.naming import listed, variants
from agent_world.agents.synthesizer.plan_words import Phrases
from agent_world.agents.synthesizer.sources import Found, Rows, find_rows
from agent_world.agents.synthesizer.telling import INTRODUCED
from agent_world.agents.synthesizer.wider import Wish, wider
from agent_world.agents.synthesizer.wording import capital
from agent_world.agents.synthesizer.world import Row, World

DRAWS = 4
"""Of a group that each row of which takes a call."""
WIDER = 0.4
"""Share of groups that no single list gives, where a program loops."""


@dataclass(slots=True)
class Room:
    """What a shape may use: the world, its words, chance, how many rows a loop runs over; and the groups it drew."""

    world: World
    phrases: Phrases
    rng: random.Random
    most: int
    least: int = 2
    loops: bool = False
    """Whether the values looked at are to take a call a row."""
    calls: int = 1
    """How many calls the values of such a loop take at least."""
    kinds: frozenset[str] = field(default_factory=frozenset)
    intro: str = ""
    """A sentence that says which rows it is about, before the question."""
    sources: dict[Group, Source] = field(default_factory=dict)
    singles: dict[Subject, Found] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sketch:
    """A plan and its question."""

    nodes: tuple[p.Node, ...]
    question: str


@dataclass(frozen=True, slots=True)
class Crowd:
    """A group that a program can get, with all that its rows can be asked for."""

    source: Source
    qualities: tuple[Quality, ...]

    @classmethod
    def of_source(cls, world: World, source: Source) -> "Crowd":
        return cls(source, tuple(qualities(world, source)))

    @property
    def group(self) -> Group:
        return self.source.rows.group

    @property
    def whole(self) -> p.Selection:
        return p.Selection(group=self.group)

    @property
    def table(self) -> str:
        return self.source.rows.table.name

    @property
    def rows(self) -> list[Row]:
        return self.source.rows.rows

    def of(self, room: Room, loops: bool | None) -> list[Quality]:
        """What the rows can be asked for at a call a row (as the room wants it, unless `loops` says), or at none."""
        wanted = room.loops if loops is None else loops
        return [q for q in self.qualities if (q.calls >= room.calls if wanted else not q.loops)]

    @property
    def label(self) -> str | None:
        """The column by which an answer can name a row."""
        table = self.source.rows.table
        for column in (table.label, table.primary_key):
            if column and column in self.source.columns and all(r.get(column) is not None for r in self.rows):
                return column
        return None


def draw_crowd(room: Room, table: str | None = None, name: str = "rows", most: int = 0, least: int = 0) -> Crowd | None:
    """A group of a size; where the room wants loops, rather one that there is something to loop for."""
    found: Crowd | None = None
    for _ in range(DRAWS if room.loops else 1):
        rows = _rows(room, table, name, (least or room.least, most or room.most))
        if rows is None:
            break
        source = Source(rows, detail_of(room.world, rows) if room.loops else None)
        found = Crowd.of_source(room.world, source)
        if any(q.calls >= room.calls for q in found.qualities):
            break
    if found is not None:
        room.sources[found.group] = found.source
        if room.loops and not room.phrases.named and listed(found.group) and room.rng.random() < INTRODUCED:
            forms = (f for form in deep_frames.IT_IS_ABOUT for f in variants(form))
            room.intro = capital(room.phrases.pick(tuple(forms), group=room.phrases.the(found.whole))) + " "
    return found


def _rows(room: Room, table: str | None, name: str, sizes: tuple[int, int]) -> Rows | None:
    """As one list gives them; programs that loop also put lists together, or take a part of one."""
    least, most = sizes
    wish = Wish(room.world, room.rng, least, most, name)
    first = wider(wish, table) if room.loops and room.rng.random() < WIDER else None
    found = first or find_rows(room.world, room.rng, most, least, table=table, name=name)
    return found or (wider(wish, table) if room.loops else None)


def sibling(room: Room, crowd: Crowd) -> Crowd | None:
    """Another group of the same kind: the same tool and column, another value."""
    where = crowd.group.where
    if len(where) != 1 or where[0].subject is not None:
        return None
    for _ in range(8):
        other = draw_crowd(room, crowd.table, "others")
        if other is None or other.group == crowd.group or other.source.rows.action is not crowd.source.rows.action:
            continue
        if [w.column for w in other.group.where] == [where[0].column] and other.group.where[0].subject is None:
            return other
    return None
