"""Values of rows, and conditions on them, as parts of a program's sentences."""

from dataclasses import dataclass, field

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer import program_frames as frames
from agent_world.agents.synthesizer.access import parent_link
from agent_world.agents.synthesizer.meaning import Group
from agent_world.agents.synthesizer.wording import Wording
from agent_world.agents.synthesizer.words import (
    NOT_COUNTED,
    article,
    column_words,
    degree,
    field_words,
    joined,
    plural,
    role_words,
    singular,
    value_text,
)
from agent_world.schema import ForeignKey


@dataclass(slots=True)
class Values:
    """What rows have, and what is said of several of them."""

    wording: Wording
    named: list[Group] = field(default_factory=list)
    """Groups that were named so far."""
    hid: bool = False
    """Whether some value's owner was left for the reader to find."""

    def pick(self, forms: tuple[str, ...], **slots: str) -> str:
        return self.wording.pick(forms, **slots)

    def _hides(self, table: str, attr: p.Attr) -> bool:
        """Whether a parent's value can be said without the parent: nothing else that is near has one of that name."""
        world = self.wording.world
        if not self.wording.hidden or attr.own or attr.children:
            return False
        words = column_words(attr.column)
        having = [t.name for t in world.tables.values() if any(column_words(c.name) == words for c in t.columns)]
        links = [k for k in world.tables[table].foreign_keys if k.table in having]
        found = having == [parent_link(world, table, attr).table] and len(links) == 1
        self.hid |= found
        return found

    # --- Values of a row ---

    def field(self, table: str, column: str) -> str:
        """What a person calls a column: `due_on` is a due date, `alerts_sent` a number of alerts sent."""
        words = field_words(self.wording.world, table, column)
        if words == f"{singular(table)} number" and self.wording.world.tables[table].column(column).type == "number":
            return singular(table)
        if words.endswith(" on"):
            return f"{words.removesuffix(' on')} date"
        return f"number of {words}" if self.counted(table, column) == words else words

    def words(self, table: str, attr: p.Attr) -> str:
        """The value as a noun, with its owner where that is another row: `number of seats of its plane`."""
        if attr.own:
            return self.field(table, attr.column)
        if not attr.children:
            link = parent_link(self.wording.world, table, attr)
            if self._hides(table, attr):
                return self.field(link.table, attr.column)
            return f"{self.field(link.table, attr.column)} of its {self.parent(link)}"
        if attr.function == "count":
            return f"number of {self.children(table, attr)}"
        return f"{self._over(attr)} of its {self.children(table, attr)}"

    def words_of_all(self, table: str, attr: p.Attr) -> str:
        """The same, said of many rows."""
        return self.words(table, attr).replace(" of its ", " of their ")

    def parent(self, link: ForeignKey) -> str:
        """`destination` of a flight; a column that is named as the key it holds says nothing of a role."""
        if link.column == link.target:
            return singular(link.table)
        return role_words(link.column, link.table) or singular(link.table)

    def children(self, table: str, attr: p.Attr) -> str:
        role = role_words(attr.via, table)
        many = plural(attr.children)
        return f"{many} that have it as {role}" if role and not self._same_name(attr) else many

    def _same_name(self, attr: p.Attr) -> bool:
        link = parent_link(self.wording.world, attr.children, attr)
        return link.column == link.target

    def _over(self, attr: p.Attr) -> str:
        words = self.field(attr.children, attr.column)
        return f"{'total' if attr.function == 'sum' else 'maximum'} {words}"

    def most(self, table: str, attr: p.Attr, highest: bool) -> str:
        """What the extreme row has: `the highest total`, `the fewest seats`, `the plane with the most seats`."""
        if attr.children:
            if attr.function == "count":
                return f"the {'most' if highest else 'fewest'} {self.children(table, attr)}"
            return f"the {'highest' if highest else 'lowest'} {self.words(table, attr)}"
        if attr.own:
            return self._most(table, attr.column, highest)
        link = parent_link(self.wording.world, table, attr)
        if self._hides(table, attr):
            return self._most(link.table, attr.column, highest)
        return f"the {self.parent(link)} with {self._most(link.table, attr.column, highest)}"

    def _most(self, table: str, column: str, highest: bool) -> str:
        words = self.field(table, column)
        counted = self.counted(table, column)
        if counted:
            return f"the {'most' if highest else 'fewest'} {counted}"
        return f"the {degree(words, highest, few=False)} {words}"

    def counted(self, table: str, column: str) -> str:
        """The things that a number counts: `seats`, `alerts sent`; empty for other quantities."""
        said = field_words(self.wording.world, table, column)
        words = said.removeprefix("number of ")
        if words != said:
            return words
        first = words.split()[0]
        number = self.wording.world.tables[table].column(column).type in ("integer", "number")
        many = first.endswith("s") and not first.endswith((*NOT_COUNTED, "ss", "us", "is"))
        return words if number and many else ""

    # --- Conditions on rows ---

    def does(self, table: str, test: p.Test) -> str:
        """Said of several rows: `have a departure delay above 5`."""
        attr = test.attr
        if attr.children:
            return self._does_children(table, test)
        if attr.own:
            return f"have {self._compared(table, attr.column, test)}"
        link = parent_link(self.wording.world, table, attr)
        if self._hides(table, attr):
            return f"have {self._compared(link.table, attr.column, test)}"
        parent = article(self.parent(link))
        return f"have {parent} with {self._compared(link.table, attr.column, test)}"

    def _does_children(self, table: str, test: p.Test) -> str:
        attr, value = test.attr, value_text(test.value)
        if attr.function == "count":
            text = self._number_of(test, self.children(table, attr))
            return f"have {text}".replace(" have it as ", " have them as ")
        text = self.pick(frames.AMOUNTS[test.comparison], a_words=article(self._over(attr)), value=value)
        return f"have {text} over their {self.children(table, attr)}"

    def _number_of(self, test: p.Test, many: str) -> str:
        """`more than 3 seats`, `at most 1 seat`."""
        words = many.split()
        at = next((i for i, word in enumerate(words) if word.endswith("s")), None)
        if test.value == 1 and at is not None:
            many = " ".join([*words[:at], singular(words[at]), *words[at + 1 :]])
        return self.pick(frames.COUNTED[test.comparison], value=value_text(test.value), noun=many)

    def _compared(self, table: str, column: str, test: p.Test) -> str:
        words, value = self.field(table, column), value_text(test.value)
        if test.comparison in frames.TEXTS:
            many = words.endswith("s") and not words.endswith((*NOT_COUNTED, "ss", "us", "is"))
            texts = (frames.PLURAL_TEXTS if many else frames.TEXTS)[test.comparison]
            return self.pick(texts, words=words, a_words=article(words), value=value)
        if isinstance(test.value, bool):
            return self.pick(frames.FLAG, words=words, value=value)
        if test.comparison == "=":
            return self.pick(frames.KIND, words=words, value=value)
        counted = self.counted(table, column)
        if counted:
            return self._number_of(test, counted)
        timed = degree(words, True, few=False) == "latest"
        forms = (frames.TIMES if timed else frames.AMOUNTS)[test.comparison]
        return self.pick(forms, a_words=article(words), value=value)

    def that(self, table: str, tests: tuple[p.Test, ...]) -> str:
        return "that " + joined([self.does(table, t) for t in tests])
