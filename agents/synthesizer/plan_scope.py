"""Lines of a program in the making, and the variables that hold what was computed so far."""

from collections.abc import Hashable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Scope:
    """Lines at one depth, and the variables that hold what was computed so far."""

    lines: list[str] = field(default_factory=list)
    known: dict[Hashable, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def hold(self, key: Hashable, word: str, code: str) -> str:
        """The variable for this key, assigned at the first need."""
        if key not in self.known:
            self.known[key] = self.fresh(word)
            self.lines.append(f"{self.known[key]} = {code}")
        return self.known[key]

    def fresh(self, word: str) -> str:
        name = next(n for n in (word, *(f"{word}_{i}" for i in range(2, 100))) if n not in self.names)
        self.names.add(name)
        return name

    def inner(self) -> "Scope":
        return Scope([], dict(self.known), self.names)

    def nest(self, head: str, inner: "Scope") -> None:
        self.lines += [head, *(f"    {line}" for line in inner.lines or ["pass"])]
