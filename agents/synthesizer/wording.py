"""Meanings put into plain English: many surface forms, no tool names, no table or column ids.

Everything is drawn from a seeded generator, so the same task is worded the same way every time. With `hidden` cues
the sentence drops the helpful nouns: a row is pointed at by what it is, not by which list it is in.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from agent_world.agents.synthesizer import frames, operation_words, write_frames
from agent_world.agents.synthesizer.meaning import (
    Command,
    CountAsk,
    FieldAsk,
    FoldAsk,
    Group,
    Meaning,
    RankAsk,
    ReduceAsk,
    ShareAsk,
    ShortAsk,
    Subject,
    Where,
    WinnerAsk,
)
from agent_world.agents.synthesizer.words import (
    article,
    column_words,
    degree,
    field_words,
    joined,
    many_of,
    plural,
    role_words,
    said_of,
    singular,
    value_text,
)
from agent_world.agents.synthesizer.world import World


@dataclass(frozen=True, slots=True)
class Wording:
    world: World
    rng: random.Random
    hidden: bool = False

    def question(self, meaning: Meaning) -> str:
        """Asks first, then commands: the order in which a walk goes."""
        parts: list[str] = []
        for ask in meaning.asks:
            assert not isinstance(ask, FoldAsk | ShareAsk | RankAsk)  # of long walks, which `telling` words
            parts.append(self.ask(ask, first=not parts))
        for command in meaning.commands:
            parts.append(self.command(command, first=not parts))
        return " ".join(parts)

    def pick(self, forms: Sequence[str], **slots: str) -> str:
        return self.rng.choice(forms).format(**slots)

    def ask(self, ask: ShortAsk, first: bool = True) -> str:
        """One or two sentences, with an opening or a link to what came before."""
        return self._lead(self.sentence(ask), first)

    def sentence(self, ask: ShortAsk) -> str:
        if isinstance(ask, WinnerAsk):
            return self._winner(ask)
        if isinstance(ask, CountAsk) and ask.group.where and self.rng.random() < 0.6:
            many, rest = plural(ask.group.table), self.conditions(ask.group)
            return self.pick(frames.HOW_MANY, many=many, rest=rest)
        if isinstance(ask, FieldAsk) and self.rng.random() < 0.35:
            names = joined([field_words(self.world, ask.subject.table, c) for c in ask.columns])
            plural_form = frames.ABOUT_MANY if len(ask.columns) > 1 else frames.ABOUT_ONE
            return self.pick(plural_form, who=self.subject(ask.subject), what=names)
        many_fields = isinstance(ask, FieldAsk) and len(ask.columns) > 1
        frame = frames.TELL + (frames.WHAT_ARE if many_fields else frames.WHAT_IS)
        return self.pick(frame, what=self.phrase(ask))

    def phrase(self, ask: FieldAsk | CountAsk | ReduceAsk) -> str:
        """The thing asked for as a noun phrase."""
        if isinstance(ask, FieldAsk):
            names = [f"the {field_words(self.world, ask.subject.table, c)}" for c in ask.columns]
            return f"{joined(names)} of {self.subject(ask.subject)}"
        if isinstance(ask, CountAsk):
            return f"the number of {self.group(ask.group)}"
        return self.reduced(ask)

    def reduced(self, ask: ReduceAsk) -> str:
        word = self.rng.choice(frames.REDUCTIONS[ask.function])
        rounding = self.rng.choice(frames.ROUNDED) if ask.rounded else ""
        over = self.rng.choice(("of", "over", "among"))
        what = field_words(self.world, ask.group.table, ask.column)
        return f"the {word} {what} {over} {self.group(ask.group)}{rounding}"

    def _winner(self, ask: WinnerAsk) -> str:
        table = ask.subjects[0].table
        few = len(ask.subjects) == 2
        what = field_words(self.world, table, ask.column)
        names = self._several(ask.subjects, "or" if few and self.rng.random() < 0.4 else "and")
        forms = frames.WINNER_OR if " or " in names and few else frames.WINNER
        told = [c for c in (ask.named, ask.column, *ask.beside)]
        who = self.pick(forms, names=names, degree=degree(what, ask.highest, few), what=what)
        return f"{who} {self.pick(frames.REPORT_ITS, what=self._fields(table, told))}"

    def _several(self, subjects: Sequence[Subject], word: str) -> str:
        """Rows that are called by the same column are called alike: `the regions China and Indonesia`."""
        first = subjects[0]
        if any(s.kind not in ("key", "label") or s.column != first.column for s in subjects):
            return joined([self.subject(s) for s in subjects], word)
        values, many = [value_text(s.value) for s in subjects], plural(first.table)
        if first.kind == "key" and frames.BY_KEY_IN_FULL is self._key_forms(first):
            return f"the {many} with {many_of(column_words(first.column))} {joined(values, word)}"
        return (
            joined([f"{singular(first.table)} {v}" for v in values], word)
            if word == "or"
            else (f"the {many} {joined(values)}")
        )

    def _fields(self, table: str, columns: Sequence[str]) -> str:
        return joined([field_words(self.world, table, c) for c in columns])

    def _lead(self, sentence: str, first: bool) -> str:
        if first:
            opening = self.rng.choice(frames.OPENINGS) if self.rng.random() < 0.2 else ""
            return opening + capital(sentence)
        link = self.rng.choice(frames.LINKS)
        return link + (lower_first(sentence) if link.endswith(", ") or link == "And " else capital(sentence))

    # --- Rows and groups ---

    def subject(self, subject: Subject) -> str:
        noun = singular(subject.table)
        value = value_text(subject.value)
        words = column_words(subject.column)
        match subject.kind:
            case "that":
                return f"that {noun}"
            case "key":
                return self.pick(self._key_forms(subject), noun=noun, words=words, value=value)
            case "label":
                titled = frames.TITLED if words in ("title", "book title") else ()
                bare = frames.BARE if self._known_by(subject) else ()
                return self.pick((*bare, *frames.BY_LABEL, *titled), noun=noun, words=words, value=value)
            case "value":
                return self.pick(frames.BY_VALUE, noun=noun, words=words, value=value)
        assert subject.of is not None
        if subject.kind == "parent":
            return self._parent(subject, subject.of, noun)
        role = self.role(subject.table, subject.column)
        forms = frames.ONLY_CHILD_AS if role else frames.ONLY_CHILD
        return self.pick(forms, noun=noun, role=role, of=self.subject(subject.of))

    def _key_forms(self, subject: Subject) -> Sequence[str]:
        """`flight 353` is not clear where flights have a flight number besides their key; `S011` says itself that it is
        a shortlist entry's ID, and `Tatooine` that it is a planet's name."""
        noun, words = singular(subject.table), column_words(subject.column)
        if words in (noun, "name", "title"):
            return frames.BY_OWN_NAME
        if words.startswith(f"{noun} "):
            return frames.BY_OWN_CODE
        others = [column_words(c.name) for c in self.world.tables[subject.table].columns if c.name != subject.column]
        return frames.BY_KEY_IN_FULL if noun in others else frames.BY_KEY

    def _known_by(self, subject: Subject) -> bool:
        """Whether the name alone says which row of which table is meant."""
        named = [t for t in self.world.tables.values() if t.label and self.world.where(t.name, t.label, subject.value)]
        return len(named) == 1

    def _parent(self, subject: Subject, of: Subject, noun: str) -> str:
        role = self.role(of.table, subject.column)
        if of.kind == "that":
            return f"the {role or noun} of that {singular(of.table)}"
        if self.hidden and role:
            return f"the {role} of {self.subject(of)}"
        if role:
            return self.pick(frames.PARENT_AS, noun=noun, role=role, of=self.subject(of), many=singular(of.table))
        return self.pick(frames.PARENT, noun=noun, of=self.subject(of), many=singular(of.table))

    def role(self, table: str, link: str) -> str:
        """The part that a foreign key's row plays; empty where it is just what the parent's own key is called."""
        key = self.world.foreign_key(table, link)
        return role_words(link, key.table) if key and key.target != link else ""

    def the_group(self, group: Group) -> str:
        """As `group`, for a set of rows that is looked at one by one."""
        return f"the {self.group(group)}" if group.where else f"the {plural(group.table)}"

    def group(self, group: Group) -> str:
        many = plural(group.table)
        rest = self.conditions(group)
        if not rest:
            return self.pick(("all {many}", "all the {many} on record", "all {many} there are"), many=many)
        return f"{many} {rest}"

    def conditions(self, group: Group) -> str:
        """What follows the noun: `whose genre is horror and that belong to ...`; empty for all rows."""
        return joined([self.condition(group.table, w) for w in group.where]) if group.where else ""

    def condition(self, table: str, where: Where) -> str:
        words = field_words(self.world, table, where.column)
        if where.subject is not None and where.same:
            return self.pick(frames.SAME_AS, words=words, who=self.subject(where.subject))
        if where.subject is not None:
            role = self.role(table, where.column)
            forms = frames.OF_PARENT_AS if role else frames.OF_PARENT
            return self.pick(forms, role=role, who=self.subject(where.subject))
        if where.among or where.subjects:
            return self._one_of(table, where)
        value = value_text(where.value)
        if where.contains:
            return self.pick(frames.CONTAINS, words=words, value=value)
        key = self.world.foreign_key(table, where.column)
        if key is not None and where.comparison == "=":
            noun = singular(key.table)
            return self.pick(frames.OF_KEY, noun=self.role(table, where.column) or noun, value=value)
        flag = self.world.tables[table].column(where.column).type == "boolean"
        compared: Sequence[str] = frames.FLAG if flag else frames.COMPARED[where.comparison]
        return self.pick(compared, words=words, a_words=article(words), value=value)

    def _one_of(self, table: str, where: Where) -> str:
        """`of the storms Ivan and Karl`, `whose size is S or M`."""
        values = [value_text(v) for v in (*where.among, *(s.value for s in where.subjects))]
        key, role = self.world.foreign_key(table, where.column), self.role(table, where.column)
        if key and not role:
            return self.pick(frames.OF_SEVERAL, many=plural(key.table), values=joined(values))
        words = role or field_words(self.world, table, where.column)
        return self.pick(frames.ONE_OF, words=words, values=joined(values, "or"))

    # --- Writes ---

    def command(self, command: Command, first: bool = True) -> str:
        noun = singular(command.table)
        operation = command.kind == "do"
        pairs = [(field_words(self.world, command.table, c), value_text(v)) for c, v in command.values if not operation]
        if command.kind == "add":
            what = joined([said_of(w, v) for w, v in pairs])
            text = self.pick(write_frames.ADD, article=article(noun), noun=noun, values=what)
        elif operation:
            text = self.pick(operation_words.LEADS, order=self._operation(command))
        else:
            assert command.subject is not None
            who = self.subject(command.subject)
            text = (
                self.pick(write_frames.REMOVE, who=who)
                if command.kind == "remove"
                else self.pick(write_frames.SET, who=who, what=pairs[0][0], value=pairs[0][1])
            )
        text = capital(text) if first else self.rng.choice(("Then ", "After that, ", "Next, ")) + lower_first(text)
        if command.counted is not None:
            return f"{text} {self.counted(command.counted)}"
        if not command.tells:
            return text
        forms = write_frames.TELL_REMOVED if command.kind == "remove" else write_frames.TELL_WRITTEN
        return f"{text} {self.pick(forms, noun=noun, what=self._fields(command.table, command.tells))}"

    def counted(self, group: Group, who: str = "") -> str:
        """Asks how many there are when a row was added; `who` says whose they are, where the sentence before did."""
        rest = who or self.conditions(group)
        return self.pick(write_frames.TELL_COUNTED, group=f"{plural(group.table)} {rest}".strip())

    def _operation(self, command: Command) -> str:
        action = self.world.action(command.link)
        assert action is not None
        assert command.subject is not None
        said = {
            a: operation_words.called(action, a, [value_text(v) for v in value]) if isinstance(value, list)
            else value_text(value)
            for a, value in command.values
        }  # fmt: skip
        return operation_words.order(self.world, action, self.subject(command.subject), said, self.pick)


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    """The sentence for use after a link; `I` and names stay as they are."""
    return text if text.startswith(("I ", "I'")) else text[:1].lower() + text[1:]
