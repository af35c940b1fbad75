"""What a question asks to be changed: its requests, read by their verbs and by where these stand.

A verb of change counts where an order stands: at the start of a sentence, after `please`, `and`, `you`, `to`. A word
that is a noun as well (`record`, `change`) needs an object behind it, so that `to record 12` and `Change request C004`
ask for nothing. Beside orders there are wishes (`I want it deleted`, `a new loan is needed`) and rules (`its status
must be open`, `from now on`).
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from agent_world.agents.validator import request_words as words
from agent_world.agents.validator.request_words import Kinds

_WISHES = (words.WISH, words.NEW, words.RULE, words.AWAY, words.NEEDED, words.STATE, words.GERUND, words.PASSIVE)
_KINDS = {words.NEW: words.ADD, words.NEEDED: words.ADD, words.AWAY: words.REMOVE | words.SET}


@dataclass(frozen=True, slots=True)
class Request:
    """Something that is asked to be done. `said` are its first words, `text` is all up to the next request or the end
    of the sentence; `kinds` is what it may do to rows; `conditional` whether it may come to nothing; `order` whether
    it is a verb with its object behind it, and neither wish nor rule."""

    kinds: Kinds
    said: str
    text: str
    conditional: bool
    order: bool


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a request begins in a sentence, and where its first words end."""

    start: int
    stop: int
    kinds: Kinds
    order: bool
    unsure: bool = False


def requests_of(
    question: str, nouns: Collection[str] = (), deeds: Collection[str] = (), states: Collection[str] = ()
) -> list[Request]:
    """All requests of a question, quoted texts left out. `nouns` are what the environment calls its tables (no verbs,
    whatever they look like); `deeds` are verbs of its business operations; `states` are words that its data have too:
    `I want the loans with status closed` may ask for nothing."""
    own = frozenset(noun for noun in nouns if " " not in noun)
    found: list[Request] = []
    before = ""
    for written in words.SENTENCE.split(_masked(question, [noun for noun in nouns if " " in noun])):
        sentence = _uncapitalised(written)
        doubts = (words.CONDITION, words.NEEDED, words.STATE)
        unsure = "whether" in before or any(pattern.search(sentence) for pattern in doubts)
        found += _of_sentence(sentence, unsure, own, deeds, states)
        before = sentence
    return found


def _masked(question: str, nouns: list[str]) -> str:
    """The question with quoted texts and compound nouns blanked out, of the same length."""
    text = re.sub(r'"[^"]+"|“[^”]+”', lambda m: "§" * len(m[0]), question)
    for noun in sorted(nouns, key=len, reverse=True):
        text = re.sub(rf"\b{re.escape(noun)}\b", lambda m: "x" * len(m[0]), text, flags=re.IGNORECASE)
    return text


def _uncapitalised(sentence: str) -> str:
    return sentence if re.match(r"I\b", sentence) else sentence[:1].lower() + sentence[1:]


def _of_sentence(
    sentence: str, unsure: bool, own: frozenset[str], deeds: Collection[str], states: Collection[str]
) -> list[Request]:
    asking = words.ASKING.match(sentence) is not None and sentence.rstrip(" \"'”)").endswith("?")
    starts = [] if asking else [*_orders(sentence, own, deeds), *_wishes(sentence, words.MUST, states)]
    starts += [start for pattern in _WISHES for start in _wishes(sentence, pattern, states)]
    starts.sort(key=lambda s: (s.start, s.stop, sorted(s.kinds), s.order))
    ends = [s.start for s in starts[1:]] + [len(sentence)] * bool(starts)
    return [
        Request(s.kinds, sentence[s.start : s.stop].strip(), sentence[s.start : max(s.stop, end)], doubt, s.order)
        for s, end, doubt in zip(starts, ends, (unsure or s.unsure for s in starts), strict=True)
    ]


def _wishes(sentence: str, pattern: re.Pattern[str], states: Collection[str]) -> Iterator[_Start]:
    for match in pattern.finditer(sentence):
        kinds = _KINDS.get(pattern, words.ANY)
        done = match[1] if pattern is words.WISH else None
        yield _Start(match.start(), match.end(), words.DONE[done] if done else kinds, False, done in states)


def _orders(sentence: str, own: frozenset[str], deeds: Collection[str]) -> Iterator[_Start]:
    for place in re.finditer(rf"{words.PLACE.pattern} (?= ([A-Za-z]+)\b )", sentence, re.VERBOSE):
        word, start = place[1], place.end()
        if word != word.lower() and not sentence[:start].endswith(": "):
            continue  # in the midst of a sentence, a capital letter makes a name
        strong = words.STRONG.search(sentence[:start]) is not None
        kinds = _kinds(word.lower(), sentence[start + len(word) :], strong, own, deeds)
        if kinds:
            yield _Start(start, start + len(word), kinds, True)


def _kinds(verb: str, rest: str, strong: bool, own: frozenset[str], deeds: Collection[str]) -> Kinds:
    """What an order by this verb may do; nothing where it is none."""
    nouns = "|".join(map(re.escape, sorted(own))) or "§"
    if verb in own or rest[:1] != " ":
        return frozenset()
    if verb in words.PLAIN:
        return frozenset() if verb == "add" and words.SUM.match(rest) else words.PLAIN[verb]
    named = re.match(rf" (?:(?:{nouns}) [\w#]|[#\w-]*\d)", rest) is not None
    if verb in deeds and (named or re.match(rf" (?:the |my |our |all |these )?(?:{nouns})\b", rest)):
        return words.ANY
    return _doubtful(verb, rest, strong, named) if verb in words.DOUBLE else frozenset()


def _doubtful(verb: str, rest: str, strong: bool, named: bool) -> Kinds:
    if words.TELLING.match(verb + rest) or _tells(rest):
        return frozenset()
    if re.match(r" up (?:a|an|another|one|new)\b", rest):
        return words.ADD
    companion = words.COMPANIONS.get(verb)
    if companion:
        fits = re.search(companion, rest) is not None
    else:
        behind = words.PARTICLE.sub("", rest, count=1) if words.PARTICLE.match(rest) else rest
        stands = re.match(rf" {words.OBJECT}", behind) or words.AS.match(behind)
        fits = bool(stands or (strong and (named or words.TARGET.search(rest))))
    return words.DOUBLE[verb] if fits else frozenset()


def _tells(rest: str) -> bool:
    """Whether the object is something told and nothing stored: `return the number of ...`."""
    return words.TOLD.match(rest) is not None and not re.search(r" (?:to|by|as|at) ", rest)
