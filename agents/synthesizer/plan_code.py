"""A plan made into a program over the environment's tools: loops over pages and rows, branches, then writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer.access import (
    Source,
    adder,
    children_action,
    key_of,
    parent_action,
    parent_call,
    parent_link,
    remover,
    updater,
)
from agent_world.agents.synthesizer.meaning import Group, Subject
from agent_world.agents.synthesizer.plan_scope import Scope
from agent_world.agents.synthesizer.sources import EVERY, Found, call, cell, whole
from agent_world.agents.synthesizer.world import Action, World

PARTS = {25: (4, 1), 50: (2, 1), 75: (4, 3)}
"""Percentages that people say as parts: `more than half` is `2 * some > 1 * all`."""


def program(
    world: World, nodes: Sequence[p.Node], sources: Mapping[Group, Source], singles: Mapping[Subject, Found]
) -> str:
    """Source of `solve(tools)`. Rows are fetched one by one only where the list does not show what is needed."""
    trial = Script(world, sources, singles)
    trial.block(nodes, Scope())
    lean = {g: s if trial.asked.get(g, set()) - set(s.listed) else replace(s, detail=None) for g, s in sources.items()}
    script, scope = Script(world, lean, singles), Scope()
    script.block(nodes, scope)
    body = "".join(f"    {line}\n" for line in ("answer = {}", *scope.lines, "return answer"))
    return f"{EVERY if 'every(' in body else ''}def solve(tools):\n{body}"


@dataclass(slots=True)
class Script:
    world: World
    sources: Mapping[Group, Source]
    singles: Mapping[Subject, Found]
    asked: dict[Group, set[str]] = field(default_factory=dict)
    """Own columns used of each group's rows."""

    # --- Statements ---

    def block(self, nodes: Sequence[p.Node], scope: Scope) -> None:
        """What is read comes before what is written, and what a write tells after it."""
        after = [n for n in nodes if isinstance(n, p.Tell) and isinstance(n.value, p.Written)]
        told = [n for n in nodes if isinstance(n, p.Tell) and n not in after]
        for tell in told:
            scope.lines.append(f"answer[{tell.key!r}] = {self.value(tell.value, scope)}")
        written: Action | None = None
        for node in nodes:
            if isinstance(node, p.Branch):
                self._branch(node, scope)
            elif not isinstance(node, p.Tell):
                written = self._change(node, scope)
        for tell in after:
            assert written is not None
            assert isinstance(tell.value, p.Written)
            scope.lines.append(f"answer[{tell.key!r}] = {cell(written, tell.value.column, 'after')}")

    def _branch(self, node: p.Branch, scope: Scope) -> None:
        test = self._condition(node, scope)
        for head, nodes in ((f"if {test}:", node.yes), ("else:", node.no)):
            if nodes:
                inner = scope.inner()
                self.block(nodes, inner)
                scope.nest(head, inner)

    def _condition(self, node: p.Branch, scope: Scope) -> str:
        sign = "==" if node.comparison == "=" else node.comparison
        left, right = node.left, node.right
        if isinstance(left, p.Share) and isinstance(right, p.Constant) and right.value in PARTS:
            times, part = PARTS[right.value]
            held = self.selection(_narrowed(left), scope)
            whole = f"len({self.selection(left.of, scope)})"
            return f"{times} * len({held}) {sign} {whole if part == 1 else f'{part} * {whole}'}"
        return f"{self.value(left, scope)} {sign} {self.value(right, scope)}"

    def _change(self, node: p.Put | p.Remove | p.Add | p.Act, scope: Scope) -> Action:
        if isinstance(node, p.Add):
            add = adder(self.world, node.table)
            values = dict(node.values)
            arguments = {a: self.value(values[c], scope) for a, c in add.values.items() if c in values}
            scope.lines.append(f"after = {call(add, arguments)}")
            return add
        action, rest = self._call_of(node, scope)
        assert action.key is not None
        if isinstance(node.target, p.Selection):
            rows = self.selection(node.target, scope)
            key = self._own(node.target.group, key_of(self.world, node.target.table), "row")
            scope.lines += [f"for row in {rows}:", f"    {call(action, {action.key: key, **rest})}"]
        else:
            scope.lines.append(f"after = {call(action, {action.key: self._key(node.target, scope), **rest})}")
        return action

    def _call_of(self, node: p.Put | p.Remove | p.Act, scope: Scope) -> tuple[Action, dict[str, str]]:
        """The tool that makes the change, and its arguments but the key."""
        if isinstance(node, p.Remove):
            return remover(self.world, _table(node.target)), {}
        if isinstance(node, p.Put):
            action = updater(self.world, _table(node.target), node.column)
            assert action is not None
            argument = next(a for a, c in action.values.items() if c == node.column)
            return action, {argument: self.value(node.value, scope)}
        action = self.world.action(node.tool)
        assert action is not None
        values = {}
        for argument, value in node.values:
            code = self.value(value, scope)
            values[argument] = f"[{code}]" if action.listed(argument) and not isinstance(value, p.Listing) else code
        return action, values

    def _key(self, row: p.Row, scope: Scope) -> str:
        key = key_of(self.world, row.subject.table if isinstance(row, p.One) else row.of.table)
        if isinstance(row, p.One) and row.subject.column == key:
            return repr(row.subject.value)
        return self.value(p.Cell(row=row, attr=p.Attr(column=key)), scope)

    # --- Expressions ---

    def value(self, found: p.Expression, scope: Scope) -> str:
        match found:
            case p.Constant():
                return repr(found.value)
            case p.Measure():
                return self._measure(found, scope)
            case p.Share():
                held, whole = self.selection(_narrowed(found), scope), self.selection(found.of, scope)
                return f"round(100 * len({held}) / len({whole}), 2)"
            case p.Versus():
                left = scope.hold((found, "left"), "left", self._measure(found.left, scope, exact=True))
                right = scope.hold((found, "right"), "right", self._measure(found.right, scope, exact=True))
                return (
                    f"round(abs({left} - {right}), 2)" if found.how == "difference" else f"round({left} / {right}, 2)"
                )
            case p.Cell():
                return self._cell(found, scope)
            case p.Best():
                return self._best(found, scope)
            case p.Listing():
                value = self.attr(found.of.group, found.attr, scope)
                return f"[{value} for row in {self._in_order(found, scope)}]"
        raise AssertionError(f"{found.kind} is no value by itself")

    def _in_order(self, found: p.Listing, scope: Scope) -> str:
        rows = self.selection(found.of, scope)
        if found.by is None:
            return rows
        by = self.attr(found.of.group, found.by, scope)
        most = f"[:{found.first}]" if found.first else ""
        return scope.hold(found, "ranked", f"sorted({rows}, key=lambda row: {by}, reverse={found.highest}){most}")

    def _measure(self, found: p.Measure, scope: Scope, exact: bool = False) -> str:
        rows = self.selection(found.of, scope)
        if found.attr is None:
            return f"len({rows})"
        values = scope.hold(
            (found.of, found.attr), "values", f"[{self.attr(found.of.group, found.attr, scope)} for row in {rows}]"
        )
        return (
            f"sum({values}) / len({values})" if exact and found.function == "mean" else _reduced(found.function, values)
        )

    def _cell(self, found: p.Cell, scope: Scope) -> str:
        if isinstance(found.row, p.One):
            single = self.singles[found.row.subject]
            if found.row not in scope.known:
                scope.lines += single.lines
                scope.known[found.row] = single.variable
            return cell(single.action, found.attr.column, single.variable)
        pick = found.row
        by = self.attr(pick.of.group, pick.by, scope)
        rows = self.selection(pick.of, scope)
        edge = "max" if pick.highest else "min"
        best = scope.hold(pick, "best", f"{edge}({rows}, key=lambda row: {by})")
        if found.attr.own or (pick.of.group, _link(found.attr)) in scope.known:
            return self.attr(pick.of.group, found.attr, scope, best)
        link = parent_link(self.world, pick.of.table, found.attr)
        action = parent_action(self.world, link)
        fetch = parent_call(self.world, link, self._own(pick.of.group, found.attr.via, best))
        return cell(action, found.attr.column, scope.hold((pick, found.attr.via), "parent", fetch))

    def _best(self, found: p.Best, scope: Scope) -> str:
        """Figures of all groups first, then the best of them."""
        key = found.model_copy(update={"figure": False})
        if (key, "figures") not in scope.known:
            by = self.attr(found.of.group, found.by, scope)
            value = self.attr(found.of.group, found.attr, scope) if found.attr else "1"
            rows = self.selection(found.of, scope)
            groups = scope.hold((found.of, found.by, found.attr), "groups", "{}")
            scope.lines += [f"for row in {rows}:", f"    {groups}.setdefault({by}, []).append({value})"]
            figure = _reduced(found.function, "values") if found.attr else "len(values)"
            scope.hold((key, "figures"), "figures", f"{{name: {figure} for name, values in {groups}.items()}}")
        figures, edge = scope.known[key, "figures"], "max" if found.highest else "min"
        best = scope.hold(key, "best", f"{edge}({figures}, key={figures}.get)")
        return f"{figures}[{best}]" if found.figure else best

    # --- Rows and their values ---

    def selection(self, of: p.Selection, scope: Scope) -> str:
        rows = self._rows(of.group, scope)
        if not of.tests:
            return rows
        tests = " and ".join(self._test(of.group, t, scope) for t in of.tests)
        return scope.hold(of, "chosen", f"[row for row in {rows} if {tests}]")

    def _rows(self, group: Group, scope: Scope) -> str:
        if group not in scope.known:
            source = self.sources[group]
            scope.lines += source.rows.lines
            scope.known[group] = source.rows.variable
            scope.names.add(source.rows.variable)
            if source.detail is not None and source.detail.key is not None:
                key = source.rows.cell(source.rows.table.primary_key)
                fetch = call(source.detail, {source.detail.key: key})
                scope.lines.append(f"{source.rows.variable} = [{fetch} for row in {source.rows.variable}]")
        return scope.known[group]

    def _test(self, group: Group, test: p.Test, scope: Scope) -> str:
        value = self.attr(group, test.attr, scope)
        text, part = f"({value} or '').casefold()", str(test.value).casefold()
        if test.comparison == "contains":
            return f"{part!r} in {text}"
        if test.comparison == "starts with":
            return f"{text}.startswith({part!r})"
        sign = "==" if test.comparison == "=" else test.comparison
        found = f"{value} {sign} {test.value!r}"
        return found if sign == "==" or test.attr.children else f"{value} is not None and {found}"

    def attr(self, group: Group, attr: p.Attr, scope: Scope, row: str = "row") -> str:
        if attr.own:
            return self._own(group, attr.column, row)
        link = parent_link(self.world, group.table, attr)
        column = link.target if attr.children else attr.via
        keys = f"dict.fromkeys({self._own(group, column, 'row')} for row in {self._rows(group, scope)})"
        if not attr.children:
            action = parent_action(self.world, link)
            code = f"{{key: {parent_call(self.world, link, 'key')} for key in {keys}}}"
            found = scope.hold((group, _link(attr)), link.table, code)
            return cell(action, attr.column, f"{found}[{self._own(group, column, row)}]")
        action = children_action(self.world, attr)
        argument = next(a for a, c in action.filters.items() if c == attr.via)
        if action.kind == "count":
            code = f"{call(action, {argument: 'key'})}['count']"
        elif action.inside:
            items = whole(action, {argument: "key"}, 0)
            code = f"len({items})" if attr.function == "count" else items
        elif attr.function == "count":
            code = f"{call(action, {argument: 'key'})}['total']"
        else:
            code = f"every(tools.{action.name}, {argument}=key)"
        found = scope.hold((group, _link(attr)), attr.children, f"{{key: {code} for key in {keys}}}")
        value = f"{found}[{self._own(group, column, row)}]"
        if attr.function == "count":
            return value
        items = f"[{cell(action, attr.column, 'item')} for item in {value}]"
        return _reduced(attr.function, items)

    def _own(self, group: Group, column: str, row: str) -> str:
        self.asked.setdefault(group, set()).add(column)
        source = self.sources[group]
        return cell(source.detail or source.rows.action, column, row)


def _reduced(function: str, values: str) -> str:
    if function == "mean":
        return f"round(sum({values}) / len({values}), 2)"
    return f"round(sum({values}), 2)" if function == "sum" else f"{function}({values})"


def _narrowed(share: p.Share) -> p.Selection:
    return p.Selection(group=share.of.group, tests=(*share.of.tests, share.test))


def _link(attr: p.Attr) -> tuple[str, str, bool]:
    """What a dictionary of fetched parents or children is good for."""
    return (attr.via, attr.children, attr.children != "" and attr.function == "count")


def _table(target: p.Row | p.Selection) -> str:
    if isinstance(target, p.Selection):
        return target.table
    return target.subject.table if isinstance(target, p.One) else target.of.table
