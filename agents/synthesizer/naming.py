"""What long walks speak of, as parts of sentences: groups of rows, what sets one of them apart, what they have."""

import itertools
import random
import re
from collections.abc import Iterator, Sequence

from agent_world.agents.synthesizer import deep_frames as frames
from agent_world.agents.synthesizer import frames as short_frames
from agent_world.agents.synthesizer.meaning import (
    Group,
    Measure,
    Where,
)
from agent_world.agents.synthesizer.measures import dated
from agent_world.agents.synthesizer.wording import Wording
from agent_world.agents.synthesizer.words import (
    article,
    degree,
    field_words,
    joined,
    plural,
    singular,
    value_text,
)
from agent_world.agents.synthesizer.world import World

CHOICE = re.compile(r"\[([^\[\]]*)\]")
QUESTIONS = ("what", "how", "which", "can ", "could ", "do you")
REDUCED = {"sum": "total", "mean": "average", "min": "lowest", "max": "highest"}


LONG = 3
"""Values that make a list long."""


def listed(group: Group) -> bool:
    """Whether the words for the group hold a long list."""
    return len(group.named) > LONG or any(len(w.among) + len(w.subjects) >= LONG for w in group.where)


def variants(form: str) -> Iterator[str]:
    """All that a form with choices stands for."""
    parts = CHOICE.split(form)
    options = [part.split("|") if place % 2 else [part] for place, part in enumerate(parts)]
    return ("".join(chosen) for chosen in itertools.product(*options))


def _marked(form: str) -> tuple[str, bool]:
    """Without the mark that says `end it like a question or a statement, whichever it became`."""
    plain = form.removesuffix("[?]").removesuffix("[.]")
    return plain, plain != form


class Naming:
    """The words of one question; the generator decides them."""

    def __init__(self, world: World, rng: random.Random, hidden: bool) -> None:
        self.world, self.rng, self.hidden = world, rng, hidden
        self.words = Wording(world, rng, hidden=hidden)
        self.said: Group | None = None
        """The group that the sentence has named already."""

    def form(self, forms: Sequence[str], **slots: str) -> str:
        """One form, its choices made, its slots filled; a form that begins like a question ends like one."""
        form, marked = _marked(self.rng.choice(forms))
        form = CHOICE.sub(lambda found: self.rng.choice(found[1].split("|")), form)
        asking = re.split(r"[.;:] ", form)[-1].casefold().startswith(QUESTIONS)
        return form.format(**slots) + (("?" if asking else ".") if marked else "")

    def best(self, table: str, measure: Measure, highest: bool) -> str:
        """What sets the row apart: `with the highest wind`."""
        what = self.what(table, measure)
        timed = measure.kind == "own" and dated(self.world, self.world.tables[table], measure.column)
        leading = ("latest" if highest else "earliest") if timed else degree(what, highest, few=False)
        slots = {"what": what, "degree": leading, "most": "most" if highest else "fewest"}
        if measure.kind == "own":
            few = what.startswith("number of ") and self.rng.random() < 0.6
            if few:
                return f"with the {slots['most']} {what.removeprefix('number of ')}"
            return self.form(frames.BEST_OWN, **slots)
        if measure.kind == "parent":
            return self.form(frames.BEST_PARENT, **slots, role=self.role(table, measure.link))
        slots["children"] = plural(measure.table)
        if measure.function in ("max", "min"):
            return self.form(frames.BEST_REACH if measure.function == "max" else frames.BEST_DOWN, **slots)
        if measure.kind == "fold":
            return self.form(frames.BEST_FOLD, **slots, word=REDUCED[measure.function])
        role = self.words.role(measure.table, measure.link)
        return self.form(frames.BEST_CHILDREN_AS if role else frames.BEST_CHILDREN, **slots, role=role)

    def what(self, table: str, measure: Measure) -> str:
        if measure.kind == "children":
            return f"number of {plural(measure.table)}"
        return field_words(self.world, table if measure.kind == "own" else measure.table, measure.column)

    def role(self, table: str, link: str) -> str:
        """What a row calls its parent: `plane`, `home airport`."""
        key = self.world.foreign_key(table, link)
        return self.words.role(table, link) or singular(key.table if key else table)

    # --- Groups ---

    def rows(self, group: Group) -> str:
        """`the storms of season 2018`, `Volvo, Ford and Audi`, `the top 5 airports by elevation`."""
        many = plural(group.table)
        if group == self.said:
            return f"these {many}"
        if group.named:
            met = joined([self.have(group.table, w) for w in group.where if w.measure]) if group.where else ""
            return f"those of {self._named(group)} that {met}" if met else self._named(group)
        rest = self.conditions(group)
        if group.first and group.measure:
            what = self.what(group.table, group.measure)
            return self.form(
                frames.FIRST, count=str(group.first), many=many, rest=f" {rest}" if rest else "", what=what
            )
        return f"the {many} {rest}" if rest else self.form(frames.ALL, many=many)

    def _named(self, group: Group) -> str:
        return f"the {plural(group.table)} {joined([value_text(s.value) for s in group.named])}"

    def conditions(self, group: Group) -> str:
        plain = tuple(w for w in group.where if not (w.measure or w.among or w.subjects))
        parts = [self.words.conditions(Group(group.table, plain))] if plain else []
        parts += [self.several(group.table, w) for w in group.where if w.among or w.subjects]
        return " ".join([*parts, *(f"that {self.have(group.table, w)}" for w in group.where if w.measure)])

    def several(self, table: str, where: Where) -> str:
        """`of the storms Ivan and Karl`, `whose size is S or M`."""
        values = [value_text(s.value) for s in where.subjects] or [value_text(v) for v in where.among]
        key = self.world.foreign_key(table, where.column)
        role = self.words.role(table, where.column)
        if key and not role:
            return self.form(frames.OF_SEVERAL, many=plural(key.table), values=joined(values))
        words = role or field_words(self.world, table, where.column)
        return self.form(frames.IS_ONE_OF, words=words, values=joined(values, "or"))

    def have(self, table: str, where: Where) -> str:
        """A condition as the rest of a sentence: `have a wind above 50`."""
        measure, value = where.measure, value_text(where.value)
        assert measure is not None
        words = self.what(table, measure)
        slots = {"words": words, "a_words": article(words), "value": value}
        if measure.kind == "children":
            role = self.words.role(measure.table, measure.link)
            by_sign = frames.HAVE_CHILDREN_AS if role else frames.HAVE_CHILDREN
            children = singular(measure.table) if where.value == 1 else plural(measure.table)
            return self.form(by_sign[where.comparison], **slots, children=children, role=role)
        if measure.kind == "parent":
            role = self.role(table, measure.link)
            test = self.form(frames.TEST[where.comparison], value=value)
            return self.form(frames.HAVE_PARENT, **slots, a_role=article(role), test=test)
        if where.comparison != "=" and dated(self.world, self.world.tables[table], measure.column):
            return self.form(frames.HAVE_DATE[where.comparison], **slots)
        if isinstance(where.value, bool):
            return self.form(short_frames.HAVE_FLAG, **slots)
        return self.form(frames.HAVE[where.comparison], **slots)
