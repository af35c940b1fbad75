"""Parts of plans as parts of sentences: what rows have, which rows are meant, figures over them, conditions, orders.

Every phrase is built of the same plan that is computed, so a question says neither more nor less than its plan. A
group that the sentence has named already is `them` from then on.
"""

from dataclasses import dataclass

from agent_world.agents.synthesizer import operation_words
from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer import program_frames as frames
from agent_world.agents.synthesizer import program_orders as orders
from agent_world.agents.synthesizer.access import parent_link
from agent_world.agents.synthesizer.plan_values import Values
from agent_world.agents.synthesizer.words import (
    article,
    joined,
    plural,
    said_of,
    singular,
    value_text,
)


@dataclass(slots=True)
class Phrases(Values):
    """Of one question: it knows which groups were named."""

    # --- Sets of rows, and single ones ---

    def many(self, of: p.Selection) -> str:
        """Without an article: `flights of carrier AA that have a distance above 900`."""
        if of.group in self.named and len(self.named) == 1:
            return f"of them {self.that(of.table, of.tests)}" if of.tests else "of them"
        if not of.tests and of.group not in self.named:
            self.named.append(of.group)
        rest = self.wording.conditions(of.group)
        text = " ".join(part for part in (plural(of.table), rest) if part)
        if not of.tests:
            return text
        link = "and " if " that " in text or " whose " in text else ""
        return f"{text} {link}{self.that(of.table, of.tests)}"

    def the(self, of: p.Selection) -> str:
        if of.group in self.named and len(self.named) == 1:
            return f"those of them {self.that(of.table, of.tests)}" if of.tests else "them"
        return f"the {self.many(of)}"

    def who(self, row: p.Row) -> str:
        if isinstance(row, p.One):
            return self.wording.subject(row.subject)
        return self.pick(
            frames.WHO, noun=singular(row.of.table), most=self.most(row.of.table, row.by, row.highest),
            group=self.the(row.of),
        )  # fmt: skip

    # --- Figures ---

    def figure(self, found: p.Expression, rounded: bool = True) -> str:
        """As a noun phrase; `rounded` says so where there is a fraction."""
        match found:
            case p.Constant():
                return value_text(found.value)
            case p.Measure():
                return self._measure(found) + (self._rounding(found) if rounded else "")
            case p.Share():
                text = self.pick(frames.SHARE, group=self.the(found.of), does=self.does(found.of.table, found.test))
                return text + (self.pick(frames.ROUNDED) if rounded else "")
            case p.Versus():
                left, right = self.figure(found.left, rounded=False), self.figure(found.right, rounded=False)
                forms = frames.DIFFERENCE if found.how == "difference" else frames.RATIO
                text = self.pick(forms, one=left, other=right)
                return text + (self.pick(frames.ROUNDED) if self.fraction(found) and rounded else "")
            case p.Cell():
                return self._cell(found)
            case p.Listing():
                return f"the {self.words(found.of.table, found.attr)} of each of {self.the(found.of)}"
        raise AssertionError(f"{found.kind} is no noun phrase")

    def _cell(self, found: p.Cell) -> str:
        table = _table(found.row)
        if found.attr.own:
            return f"the {self.words(table, found.attr)} of {self.who(found.row)}"
        link = parent_link(self.wording.world, table, found.attr)
        words = self.field(link.table, found.attr.column)
        return f"the {words} of the {self.parent(link)} of {self.who(found.row)}"

    def _measure(self, found: p.Measure) -> str:
        if found.attr is None:
            return f"the number of {self.many(found.of)}".replace("number of of", "number of")
        word, table, attr = self.pick(frames.REDUCTIONS[found.function]), found.of.table, found.attr
        if attr.own or attr.children:
            over = "over" if attr.children else self.pick(frames.OVER)
            what = self.words_of_all(table, attr)
            word = "overall" if what.startswith(f"{word} ") else word
            return f"the {word} {what} {over} {self.the(found.of)}"
        link = parent_link(self.wording.world, table, attr)
        words = self.field(link.table, attr.column)
        each = self.pick(frames.EACH, noun=singular(table)) if found.function in ("sum", "mean") else ""
        return f"the {word} {words} of the {self.parent(link)} over {self.the(found.of)}{each}"

    def _rounding(self, found: p.Measure) -> str:
        return self.pick(frames.ROUNDED) if self.fraction(found) else ""

    def fraction(self, found: p.Measure | p.Versus | p.Share) -> bool:
        """Whether the figure has to be rounded."""
        if isinstance(found, p.Share):
            return True
        if isinstance(found, p.Versus):
            return found.how == "ratio" or self.fraction(found.left) or self.fraction(found.right)
        return found.function == "mean" or (found.function == "sum" and self.kind(found) == "number")

    def kind(self, found: p.Measure) -> str:
        """JSON type of a figure."""
        if found.attr is None or (found.attr.children and found.attr.function == "count" and found.function != "mean"):
            return "integer"
        if found.function == "mean":
            return "number"
        world, attr = self.wording.world, found.attr
        link = parent_link(world, found.of.table, attr) if attr.via else None
        table = attr.children or (link.table if link else found.of.table)
        return world.tables[table].column(attr.column).type

    # --- Conditions on figures ---

    def condition(self, node: p.Branch, who: str | None = None) -> str:
        """A clause: `more than half of the flights of carrier AA have a departure delay above 5`. With `who`, a value
        of one row is said to be theirs (empty: `its`)."""
        left, right = node.left, node.right
        if isinstance(left, p.Share) and isinstance(right, p.Constant):
            part = frames.PARTS.get(right.value, f"{value_text(right.value)} percent")
            more = self.pick(frames.MORE[node.comparison])
            return f"{more} {part} of {self.the(left.of)} {self.does(left.of.table, left.test)}"
        if isinstance(left, p.Measure) and left.attr is None:
            return self._counted_condition(left, node)
        said = self.figure(left, rounded=False)
        if who is not None and isinstance(left, p.Cell):
            words = self.words(_table(left.row), left.attr)
            said = f"the {words} of {who}" if who else f"its {words}"
        return f"{said} {self.pick(frames.IS[node.comparison], value=self.figure(right, rounded=False))}"

    def _counted_condition(self, left: p.Measure, node: p.Branch) -> str:
        if isinstance(node.right, p.Measure):
            one, other = self.many(left.of), self.many(node.right.of)
            return self.pick(frames.MORE_THAN, one=one, other=other, more=self.pick(frames.RATHER[node.comparison]))
        assert isinstance(node.right, p.Constant)
        more, value = self.pick(frames.MORE[node.comparison]), value_text(node.right.value)
        if left.of.tests:
            whole = p.Selection(group=left.of.group, tests=left.of.tests[:-1])
            return f"{more} {value} of {self.the(whole)} {self.does(left.of.table, left.of.tests[-1])}"
        return f"there are {more} {value} {self.many(left.of)}"

    # --- Orders ---

    def order(self, node: p.Put | p.Remove | p.Add | p.Act) -> str:
        """An order without its full stop: `delete them`."""
        if isinstance(node, p.Add):
            return self._add(node)
        target = node.target
        who = self.the(target) if isinstance(target, p.Selection) else self.who(target)
        if isinstance(node, p.Act):
            return self._act(node, who)
        if isinstance(node, p.Remove):
            return self.pick(orders.DO_REMOVE, group=who)
        table = target.table if isinstance(target, p.Selection) else _table(target)
        words, value = self.field(table, node.column), self.figure(node.value)
        if isinstance(target, p.Selection):
            return self.pick(orders.DO_PUT_ALL, words=words, group=who, value=value)
        return self.pick(orders.DO_PUT, words=words, who=who, value=value)

    def _act(self, node: p.Act, who: str) -> str:
        action = self.wording.world.action(node.tool)
        assert action is not None
        said = {argument: self._given(value) for argument, value in node.values}
        parts = next((dict(node.values)[r.argument] for r in [action.rule and action.rule.parts] if r), None)
        if isinstance(node.target, p.One) and _said_by(parts, node.target):
            who = ""
        return operation_words.order(self.wording.world, action, who, said, self.pick)

    def _given(self, value: p.Scalar | p.Listing) -> str:
        """Parts by which they are, not by how they are named; other values as they are."""
        if isinstance(value, p.Listing):
            return self.the(value.of)
        if isinstance(value, p.Cell) and isinstance(value.row, p.Pick):
            return self.who(value.row)
        return self.figure(value)

    def _add(self, node: p.Add) -> str:
        """Plain values first, the one that has to be found last."""
        plain = [(c, v.value) for c, v in node.values if isinstance(v, p.Constant)]
        found = next((c, v) for c, v in node.values if not isinstance(v, p.Constant))
        pairs = [self._pair(self.field(node.table, c), value_text(value)) for c, value in plain]
        noun = singular(node.table)
        return self.pick(
            orders.DO_ADD, article=article(noun), new=f"a new {noun}", pairs=joined(pairs),
            words=self.field(node.table, found[0]), figure=self.figure(found[1]),
        )  # fmt: skip

    def _pair(self, words: str, value: str) -> str:
        said = said_of(words, value)
        return self.pick(orders.PAIR, words=words, value=value) if said == f"{words} {value}" else said


def _said_by(parts: p.Scalar | p.Listing | None, owner: p.One) -> bool:
    """Whether the words for parts of a row name that row."""
    of = parts.of if isinstance(parts, p.Listing) else None
    of = parts.row.of if isinstance(parts, p.Cell) and isinstance(parts.row, p.Pick) else of
    return of is not None and any(where.value == owner.subject.value for where in of.group.where)


def _table(row: p.Row) -> str:
    return row.subject.table if isinstance(row, p.One) else row.of.table
