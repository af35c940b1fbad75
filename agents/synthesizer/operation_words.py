"""Orders to do a business operation, in plain words: `return items 1 and 2 of order 7, with payment method 3`."""

from collections.abc import Callable, Mapping
from typing import Final

from agent_world.agents.synthesizer.words import column_words, joined, plural, singular
from agent_world.agents.synthesizer.world import Action, World

Pick = Callable[..., str]
PLAIN: Final = ("{verb} {who}",)
PARTS: Final = ("{verb} {parts} of {who}", "{verb}, of {who}, {parts}", "{verb} {parts} in {who}")
SWAP: Final = (
    "{verb} {parts} of {who} for {new}",
    "{verb}, in {who}, {parts} for {new}",
    "{verb} {parts} in {who} for {new}",
)
CHANGE: Final = (
    "change {parts} of {who} to {new}",
    "replace {parts} of {who} by {new}",
    "put {new} in place of {parts} in {who}",
)
BARE: Final = {
    PARTS: ("{verb} {parts}",),
    SWAP: ("{verb} {parts} for {new}",),
    CHANGE: ("change {parts} to {new}", "replace {parts} by {new}", "put {new} in place of {parts}"),
}
"""Where the words for the parts say already whose they are."""
SETS: Final = (
    "update {who}: set {pairs}",
    "set {pairs} for {who}",
    "change {who} to have {pairs}",
    "put {pairs} on record for {who}",
)
SPREAD: Final = (
    "change the {words} of {who} to {value}",
    "put {value} as the {words} of {who}",
    "set the {words} of {who} to {value}",
    "make {value} the {words} of {who}",
)
ALSO: Final = (", with {pairs}", ", giving {pairs}", ", using {pairs}", " (use {pairs})", "; take {pairs}")
PAIR: Final = ("{words} {value}", "{value} as {words}", "the {words} {value}")
LEADS: Final = (
    "{order}.",
    "please {order}.",
    "I need you to {order}.",
    "could you {order}?",
    "can you {order}, please?",
    "kindly {order}.",
    "I would like you to {order}.",
    "your job is to {order}.",
)
PUTTING: Final = {"modify", "update", "change", "set", "edit", "replace", "swap"}
"""Verbs that put a new value in place."""


def verb_of(action: Action) -> str:
    """`cancel` of `cancel_pending_order`, `cancel` of `cancelOrder`."""
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in action.name.replace("-", "_"))
    return name.strip("_").partition("_")[0]


def order(world: World, action: Action, who: str, said: Mapping[str, str], pick: Pick) -> str:
    """Without a full stop. `said`: the words for each argument but the key; `who` is empty where those for the parts
    say it."""
    rule, verb = action.rule, verb_of(action)
    assert rule is not None
    used: set[str] = set()
    if rule.parts is not None:
        parts = said[rule.parts.argument]
        used |= {rule.parts.argument}
        if rule.swap is not None:
            used |= {rule.swap.argument}
            forms = CHANGE if verb in PUTTING else SWAP
            text = pick(forms if who else BARE[forms], verb=verb, parts=parts, new=said[rule.swap.argument], who=who)
        else:
            text = pick(PARTS if who else BARE[PARTS], verb=verb, parts=parts, who=who)
    elif rule.spread is not None:
        used |= {rule.spread.argument}
        text = pick(SPREAD, words=named(world, rule.spread.argument), value=said[rule.spread.argument], who=who)
    elif rule.dates or rule.differ:
        used |= {*rule.dates, *rule.differ}
        text = pick(PLAIN, verb=verb, who=who)
        text += "".join(
            f" {'on' if a in rule.dates and a not in rule.later else 'to'} {said[a]}" for a in said if a in used
        )
    elif rule.sets and rule.after is None:
        used |= set(rule.sets)
        text = pick(SETS, pairs=joined([f"{column_words(a)} {said[a]}" for a in rule.sets]), who=who)
    else:
        text = pick(PLAIN, verb=verb, who=who)
    rest = [pick(PAIR, words=named(world, a), value=value) for a, value in said.items() if a not in used]
    return text + (pick(ALSO, pairs=joined(rest)) if rest else "")


def named(world: World, argument: str) -> str:
    """What a person calls an argument: `payment method` for its ID."""
    return column_words(argument).removesuffix(" ID")


def called(action: Action, argument: str, values: list[str]) -> str:
    """Parts by what they are called: `item 12`, `the items 12 and 13`."""
    rule = action.rule
    assert rule is not None
    table = rule.parts.table if rule.parts and rule.parts.argument == argument else rule.swap.table if rule.swap else ""
    own = singular(action.table.name)
    short = table.removeprefix(f"{own.replace(' ', '_')}_")
    return f"the {singular(short)} {values[0]}" if len(values) == 1 else f"the {plural(short)} {joined(values)}"
