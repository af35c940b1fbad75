"""Names that models and Python can write, and the way back to the real ones."""

import hashlib
import keyword
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence

LONGEST = 64
"""Of `[A-Za-z0-9_-]`: what the function interfaces of model vendors take."""

Identity = tuple[str, str]
"""Server and the tool's own name there."""


def exposed_names(tools: Sequence[Identity]) -> dict[Identity, str]:
    """A distinct name of at most 64 of `[A-Za-z0-9_-]` for every (distinct) tool; inverted, it leads back.

    A tool's name depends on the tools it would clash with alone, not on the order: one whose own name fits keeps it;
    where servers share a name, all of them get their server's name in front; what still clashes gets a short digest
    of server and name.
    """
    chosen = {tool: _fit(tool[1]) for tool in tools}
    for tool in [tool for group in _groups(chosen) if len({server for server, _ in group}) > 1 for tool in group]:
        chosen[tool] = _fit(f"{tool[0]}_{tool[1]}")
    salt = 0
    while groups := _groups(chosen):
        for tool in [tool for group in groups for tool in _losers(group, chosen)]:
            chosen[tool] = _digested(tool, salt)
        salt += 1  # a digest may meet a name that is someone's own
    return chosen


def _groups(chosen: dict[Identity, str]) -> list[list[Identity]]:
    """Tools that share a name."""
    groups: dict[str, list[Identity]] = defaultdict(list)
    for tool, name in chosen.items():
        groups[name].append(tool)
    return [group for group in groups.values() if len(group) > 1]


def _losers(group: list[Identity], chosen: dict[Identity, str]) -> list[Identity]:
    """All but the one whose own name it is."""
    owners = sorted(tool for tool in group if tool[1] == chosen[tool])
    return [tool for tool in group if tool not in owners[:1]]


def _digested(tool: Identity, salt: int) -> str:
    text = "\0".join((*tool, *([str(salt)] if salt else []))).encode("utf-8", "surrogatepass")
    return f"{_fit(tool[1])[: LONGEST - 7]}_{hashlib.sha256(text).hexdigest()[:6]}"


def _fit(name: str) -> str:
    if re.fullmatch(rf"[A-Za-z0-9_-]{{1,{LONGEST}}}", name):
        return name
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_-]+", "_", plain).strip("_")[:LONGEST].rstrip("_") or "tool"


def python_names(names: Iterable[str]) -> dict[str, str]:
    """Argument name -> a distinct Python identifier that is no keyword; inverted, it leads back.

    Identifiers stay as they are: `from` becomes `from_`, `filter.ts.lte` becomes `filter_ts_lte`. The order of the
    names does not matter.
    """
    wanted = sorted(set(names), key=lambda name: (not is_plain(name), name))
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in wanted:
        alias = name if is_plain(name) else _alias(name)
        number = 2
        base = alias
        while alias in taken:
            alias, number = f"{base}_{number}", number + 1
        taken.add(alias)
        found[name] = alias
    return found


def is_plain(name: str) -> bool:
    """Whether Python code can use the name for an argument just so (Python folds some letters: those it cannot)."""
    folded = unicodedata.normalize("NFKC", name) if name.isidentifier() else ""
    return folded == name != "" and not keyword.iskeyword(name) and name != "__debug__"


def _alias(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    alias = re.sub(r"\W+", "_", plain).strip("_") or "argument"
    alias = f"_{alias}" if alias[0].isdigit() else alias
    return alias if is_plain(alias) else f"{alias}_"
