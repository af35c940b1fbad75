"""Long walks put into words: a few sentences that say what is wanted, not which calls to make.

The picks come first, each in a sentence of its own or (with hidden cues) folded into what is asked; then what is
asked of the last row or group; then a change.
"""

import re

from agent_world.agents.synthesizer import deep_frames as frames
from agent_world.agents.synthesizer import frames as short_frames
from agent_world.agents.synthesizer import program_frames
from agent_world.agents.synthesizer.meaning import (
    Ask,
    Command,
    CountAsk,
    FieldAsk,
    FoldAsk,
    Group,
    Meaning,
    Measure,
    Pick,
    RankAsk,
    ReduceAsk,
    ShareAsk,
    Subject,
    Where,
)
from agent_world.agents.synthesizer.naming import REDUCED, Naming, listed
from agent_world.agents.synthesizer.wording import capital
from agent_world.agents.synthesizer.words import (
    article,
    degree,
    field_words,
    joined,
    many_of,
    plural,
    said_of,
    singular,
    timed,
    value_text,
)

EACH_OF_ALL = re.compile(r"\b(each|all|every one|how many|which|those) of all (?:the )?", re.IGNORECASE)
INTRODUCED = 0.6
"""Share of long lists that get a sentence of their own."""


def _of(link: str, subject: Subject) -> Where:
    """Of a row that is called by its key, the key is said."""
    return Where(link, subject.value) if subject.kind == "key" else Where(link, subject=subject)


def _alike(one: ShareAsk, other: ShareAsk) -> bool:
    """Whether both are about the same rows of the same group."""
    return (one.group, one.where) == (other.group, other.where)


class Telling(Naming):
    """One question; the generator decides the words."""

    def question(self, meaning: Meaning) -> str:
        picks, asks = list(meaning.picks), list(meaning.asks)
        said = self._introduced(picks, asks)
        merged = picks and asks and not meaning.commands and self._merges(asks[0])
        for place, pick in enumerate(picks[:-1] if merged else picks):
            said.append(self.pick(pick, first=place == 0))
        if merged:
            said.append(self._pick_and_tell(picks[-1], asks.pop(0)))
        if asks:
            said.append(self.asks(asks, first=not said))
        said += [text for command in meaning.commands for text in self.command(command, first=not said)]
        said = [EACH_OF_ALL.sub(r"\1 of the ", text) for text in said]
        opening = self.rng.choice(short_frames.OPENINGS) if self.rng.random() < 0.1 else ""
        return opening + " ".join(capital(text) for text in said)

    def _introduced(self, picks: list[Pick], asks: list[Ask]) -> list[str]:
        """A long list is said in a sentence of its own, so that those that follow can speak of `these`."""
        group = picks[0].group if picks else getattr(asks[0], "group", None) if asks else None
        if not isinstance(group, Group) or group.first or not listed(group) or self.rng.random() >= INTRODUCED:
            return []
        if group.named:
            values = joined([value_text(s.value) for s in group.named])
            text = self.form(frames.HERE_ARE, many=plural(group.table), values=values)
        else:
            text = self.form(frames.IT_IS_ABOUT, group=self.rows(group))
        self.said = group
        return [text]

    # --- Picks ---

    def _merges(self, ask: Ask) -> bool:
        if not isinstance(ask, FieldAsk) or ask.subject.kind != "that":
            return False
        return self.rng.random() < (0.9 if self.hidden else 0.45)

    def pick(self, pick: Pick, first: bool) -> str:
        slots = self._pick_slots(pick)
        cued = {"parent": frames.PICK_PARENT, "children": frames.PICK_CHILDREN, "fold": frames.PICK_FOLD}
        forms = cued.get(pick.measure.kind)
        if forms and not self.hidden and not pick.group.named and self.rng.random() < 0.5:
            return self.form(forms, **slots)
        return self.form(frames.PICK if first else frames.PICK_NEXT, **slots)

    def _pick_slots(self, pick: Pick) -> dict[str, str]:
        measure, table = pick.measure, pick.group.table
        return {
            "group": self.rows(pick.group),
            "noun": singular(table),
            "best": self.best(table, measure, pick.highest),
            "role": self.role(table, measure.link) if measure.kind == "parent" else "",
            "children": plural(measure.table) if measure.table else "",
            "word": REDUCED.get(measure.function, ""),
            "what": self.what(table, measure),
        }

    def _pick_and_tell(self, pick: Pick, ask: Ask) -> str:
        assert isinstance(ask, FieldAsk)
        names = [field_words(self.world, pick.group.table, c) for c in ask.columns]
        slots = self._pick_slots(pick) | {"fields": f"the {joined(names)}", "bare": joined(names)}
        return self.form(frames.PICK_AND_TELL, **slots)

    # --- Asks ---

    def asks(self, asks: list[Ask], first: bool) -> str:
        """One sentence, or one for each."""
        if len(asks) == 1:
            return self._ask(asks[0], first)
        one, other = asks[0], asks[1]
        if (
            isinstance(one, ShareAsk)
            and isinstance(other, ShareAsk)
            and (one.group, one.where) == (other.group, other.where)
        ):
            named = one if one.named else other
            slots = {"group": self.rows(one.group), "have": self.have(one.group.table, one.where)}
            return self.form(frames.WHICH_AND_COUNT, **slots, names=self._names(named))
        if self.rng.random() < 0.6 and all(isinstance(ask, FoldAsk | ShareAsk) for ask in asks):
            text = self._ask(one, first)
            self.said = getattr(one, "group", None)
            return " ".join([text, *(capital(self._ask(ask, first=False)) for ask in asks[1:])])
        phrases = []
        for ask in asks:
            phrases.append(self.phrase(ask))
            self.said = ask.group if isinstance(ask, FoldAsk | ShareAsk) else None
        return self.form(frames.TELL, what=joined(phrases))

    def _ask(self, ask: Ask, first: bool) -> str:
        if isinstance(ask, ShareAsk):
            slots = {"group": self.rows(ask.group), "have": self.have(ask.group.table, ask.where)}
            if ask.named:
                return self.form(frames.NAMES_ASK, **slots, names=self._names(ask))
            return self.form(frames.SHARE_ASK, **slots)
        if isinstance(ask, RankAsk):
            return self._ranking(ask)
        if isinstance(ask, FoldAsk) and ask.measure.kind == "parent" and not self.hidden and ask.function != "range":
            return self.form(frames.FOLD_PARENT_CUED, **self._fold_slots(ask))
        if first and isinstance(ask, FieldAsk | CountAsk | ReduceAsk):
            return self.words.sentence(ask)
        if isinstance(ask, CountAsk):
            many, rest = plural(ask.group.table), self.conditions(ask.group)
            return self.words.pick(short_frames.HOW_MANY, many=many, rest=rest)
        phrase = self.phrase(ask)
        return self.form(frames.WHAT if phrase.startswith(("its ", "the ")) else frames.TELL, what=phrase)

    def _ranking(self, ask: RankAsk) -> str:
        table, what = ask.group.table, self.what(ask.group.table, ask.measure)
        owner = f" of their {self.role(table, ask.measure.link)}" if ask.measure.kind == "parent" else ""
        names = many_of(field_words(self.world, table, ask.named))
        best = degree(what, ask.highest, few=False)
        return self.words.pick(
            program_frames.RANK, whats=names, group=self.rows(ask.group), by=f"{what}{owner}", best=best
        )

    def _names(self, ask: ShareAsk) -> str:
        return many_of(field_words(self.world, ask.group.table, ask.named))

    def phrase(self, ask: Ask) -> str:
        """The thing asked for as part of a sentence."""
        match ask:
            case FieldAsk():
                return self._fields(ask)
            case CountAsk():
                many, rest = plural(ask.group.table), self.conditions(ask.group)
                return self.form(frames.NUMBER, many=many, rest=rest)
            case FoldAsk():
                return self._fold(ask)
            case ShareAsk():
                slots = {"group": self.rows(ask.group), "have": self.have(ask.group.table, ask.where)}
                return self.form(
                    frames.NAMES if ask.named else frames.SHARE, **slots, names=self._names(ask) if ask.named else ""
                )
            case ReduceAsk():
                return self.words.reduced(ask)
        raise AssertionError(f"no phrase for {ask}")  # winners are asked in short walks only

    def _fields(self, ask: FieldAsk) -> str:
        subject = ask.subject
        what = joined([field_words(self.world, subject.table, c) for c in ask.columns])
        if subject.kind == "that":
            return self.form(frames.ITS, what=what, noun=singular(subject.table))
        if subject.kind == "parent" and subject.of and subject.of.kind == "that":
            role = self.role(subject.of.table, subject.column)
            return self.form(frames.OF_ITS, what=what, role=role, noun=singular(subject.of.table))
        return f"the {what} of {self.words.subject(subject)}"

    def _fold_slots(self, ask: FoldAsk) -> dict[str, str]:
        table, measure = ask.group.table, ask.measure
        return {
            "group": self.rows(ask.group),
            "what": self.what(table, measure),
            "word": self._word(table, measure, ask.function),
            "role": self.role(table, measure.link) if measure.kind == "parent" else "",
            "children": plural(measure.table) if measure.table else "",
            "noun": singular(table),
            "rounding": self.rng.choice(short_frames.ROUNDED) if ask.rounded else "",
        }

    def _word(self, table: str, measure: Measure, function: str) -> str:
        if timed(self.what(table, measure)) and function in ("max", "min"):
            return "latest" if function == "max" else "earliest"
        return REDUCED.get(function, "")

    def _fold(self, ask: FoldAsk) -> str:
        kind, slots = ask.measure.kind, self._fold_slots(ask)
        if ask.function == "range":
            return self.form(frames.RANGE_PARENT if kind == "parent" else frames.RANGE_OWN, **slots)
        if kind == "children":
            return self.form(frames.SUM_CHILDREN if ask.function == "sum" else frames.FOLD_CHILDREN, **slots)
        return self.form(frames.FOLD_PARENT if kind == "parent" else frames.FOLD_OWN, **slots)

    # --- Changes ---

    def command(self, command: Command, first: bool) -> list[str]:
        subject = command.subject
        if command.kind == "do":
            return [self.words.command(command)]
        if command.kind in ("set", "remove") and subject is not None and subject.kind != "that":
            return [self.words.command(command)]
        text, told = self._command(command)
        return [f"{text}.", *([told] if told else [])]

    def _command(self, command: Command) -> tuple[str, str]:
        noun, table = singular(command.table), command.table
        tells = joined([field_words(self.world, table, c) for c in command.tells]) if command.tells else ""
        pairs = [(field_words(self.world, table, c), value_text(v)) for c, v in command.values]
        match command.kind:
            case "set":
                slots = {"what": pairs[0][0], "value": pairs[0][1], "noun": noun}
                return self.form(frames.SET_IT, **slots), self.form(frames.TELL_IT, what=tells)
            case "remove":
                return self.form(frames.REMOVE_IT, noun=noun), self.form(frames.TELL_GONE, what=tells)
            case "set each":
                assert command.group is not None
                slots = {"what": pairs[0][0], "value": pairs[0][1], "group": self.rows(command.group)}
                return self.form(frames.SET_EACH, **slots), self.form(frames.EACH_TELL)
            case "move":
                assert command.subject is not None
                assert command.target is not None
                rest = self.words.condition(table, _of(command.link, command.subject))
                target = self.words.subject(command.target)
                return self.form(frames.MOVE, many=plural(table), rest=rest, target=target), self.form(frames.MOVE_TELL)
        if command.counted is not None:
            assert command.subject is not None
            who = self.words.condition(table, _of(command.link, command.subject))
            return self._addition(command, pairs), self.words.counted(command.counted, who)
        return self._addition(command, pairs), self.form(frames.TELL_NEW, what=tells, noun=noun)

    def _addition(self, command: Command, pairs: list[tuple[str, str]]) -> str:
        assert command.subject is not None
        noun, who = singular(command.table), self.words.subject(command.subject)
        values = joined([said_of(words, value) for words, value in pairs])
        role = self.words.role(command.table, command.link)
        slots = {"a_child": article(noun), "child": noun, "who": who, "values": values, "role": role}
        return self.form(frames.ADD_AS if role else frames.ADD_TO, **slots)
