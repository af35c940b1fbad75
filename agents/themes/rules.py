"""Which themes are kept: junk has a reason, and themes about the same thing are one."""

import re
from collections.abc import Sequence

import numpy as np

from agent_world.agents.themes.words import count_words, essence
from agent_world.memory.embedder import TextEmbedder, Vectors
from agent_world.schema import Dropped, Theme
from agent_world.settings import ThemeSettings

_TRIAL = re.compile(
    r"\b(hello[ _-]?world|test(ing)?|tests|demo|dummy|sample|example|boilerplate|template|playground|placeholder|"
    r"untitled|asdf+|foo(bar)?|my[ _-]?(first[ _-]?)?(mcp|server)|everything)\b",
    re.IGNORECASE,
)
_TRIAL_TOOLS = frozenset(("echo", "ping", "hello", "hello_world", "add", "greet", "test", "say_hello", "get_greeting"))
_LEAST_COMMON = 2
"""Tools that two themes must share for their overlap to count."""


def junk(theme: Theme, rules: ThemeSettings) -> str | None:
    """Why it is no theme for an environment, if so."""
    told = count_words(theme.description)
    names = {tool.name.lower() for tool in theme.tools}
    if names and names <= _TRIAL_TOOLS:
        return f"a trial: its tools are only {', '.join(sorted(names))}"
    if _TRIAL.search(theme.name.replace("_", " ")) and (told < 3 * rules.least_words or not theme.tools):
        return f"a trial, by its name {theme.name!r}"
    if not theme.tools and told < rules.least_words:
        return f"too little is known: no tools, and a description of {told} words"
    return None


def deduplicate(
    themes: Sequence[Theme], rules: ThemeSettings, embedder: TextEmbedder
) -> tuple[list[Theme], list[Dropped]]:
    """One of each group of themes about the same thing, the richest; the rest with the reason. Ids are distinct.

    Same: the cosine of name and description is `same_meaning`, or `similar_meaning` with most of the tools in common.
    """
    order = sorted(range(len(themes)), key=lambda n: (-len(themes[n].tools), -len(themes[n].description), n))
    vectors = embedder.embed([essence(f"{theme.name}. {theme.description}") for theme in themes])
    kept: list[int] = []
    dropped: dict[int, Dropped] = {}
    for n in order:
        same = _same(n, kept, themes, vectors, rules)
        if same is None:
            kept.append(n)
        else:
            first, why = same
            reason = f"same theme as {themes[first].source}: {why}"
            dropped[n] = Dropped(kind="theme", id=f"{themes[n].id} ({themes[n].source})", reason=reason)
    return distinct([themes[n] for n in sorted(kept)]), [dropped[n] for n in sorted(dropped)]


def _same(
    n: int, kept: Sequence[int], themes: Sequence[Theme], vectors: Vectors, rules: ThemeSettings
) -> tuple[int, str] | None:
    """The kept theme that this one repeats, and by what."""
    if not kept:
        return None
    closeness = vectors[list(kept)] @ vectors[n]
    for place in np.argsort(-closeness, kind="stable"):
        cosine, first = float(closeness[place]), kept[int(place)]
        if cosine >= rules.same_meaning:
            return first, f"meaning {cosine:.2f}"
        if cosine < rules.similar_meaning:
            return None
        shared = _overlap(themes[n], themes[first])
        if shared >= rules.same_tools:
            return first, f"meaning {cosine:.2f} and {shared:.0%} of the tools"
    return None


def _overlap(one: Theme, other: Theme) -> float:
    """Jaccard index of the tools' names; 0 where too few are shared to say anything."""
    mine, theirs = ({re.sub(r"[^a-z0-9]", "", tool.name.lower()) for tool in theme.tools} for theme in (one, other))
    common = len(mine & theirs)
    return common / len(mine | theirs) if common >= _LEAST_COMMON else 0.0


def distinct(themes: Sequence[Theme]) -> list[Theme]:
    """Themes with ids of their own: the second of a name is `<id>_2`."""
    taken: set[str] = set()
    found: list[Theme] = []
    for theme in themes:
        name, number = theme.id, 2
        while name in taken:
            name, number = f"{theme.id}_{number}", number + 1
        taken.add(name)
        found.append(theme if name == theme.id else theme.model_copy(update={"id": name}))
    return found
