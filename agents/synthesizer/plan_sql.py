"""A plan computed by SQL over the raw tables: no tool, no generated program, no code in common with either.

Every phrase that points at one thing is asked for by a query and has to find exactly one: a subject one row, an
extreme one row, the best of several groups one group.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_world.agents.synthesizer import plan as p
from agent_world.agents.synthesizer.meaning import Subject, Where
from agent_world.agents.synthesizer.plan_database import Tables, Undetermined, quoted
from agent_world.agents.synthesizer.plan_rule import rule_statements
from agent_world.agents.synthesizer.world import Action
from agent_world.schema import StateDiff
from agent_world.tools.sql import sql_name

_FUNCTIONS = {"sum": "sum", "mean": "avg", "min": "min", "max": "max", "count": "count"}
_PLACES = {"contains": "> 0", "starts with": "= 1"}
"""Where in a value its part stands."""


@dataclass(slots=True)
class Reading:
    """One plan on the way: what it answers, and the statements that change the tables (not yet run)."""

    tables: Tables
    actions: Mapping[str, Action] = field(default_factory=dict)
    """Business operations, by their tool."""
    answer: dict[str, Any] = field(default_factory=dict)
    statements: list[str] = field(default_factory=list)
    written: tuple[str, str, Any] | None = None
    """Table, key column and key of the row that the last change wrote."""
    later: dict[str, tuple[str, str, str, Any]] = field(default_factory=dict)
    """Answers that are read after the changes: key -> column, table, key column, key."""

    def run(self, nodes: Sequence[p.Node]) -> None:
        for node in nodes:
            match node:
                case p.Tell(value=p.Written(column=column)):
                    if self.written is None:
                        raise Undetermined("nothing was written that could be told")
                    self.later[node.key] = (column, *self.written)
                case p.Tell():
                    value = self.value(node.value)
                    self.answer[node.key] = bool(value) if node.type == "boolean" else value
                case p.Branch():
                    left, right = self.value(node.left), self.value(node.right)
                    self.run(node.yes if compare(left, node.comparison, right) else node.no)
                case p.Put():
                    self._put(node)
                case p.Remove():
                    self._remove(node.target)
                case p.Add():
                    self._add(node)
                case p.Act():
                    self._act(node)

    # --- Expressions ---

    def value(self, found: p.Expression) -> Any:
        match found:
            case p.Constant():
                return found.value
            case p.Measure():
                return self._round(self._exact(found))
            case p.Share():
                held = f"CASE WHEN {self.test(found.of.table, found.test)} THEN 100.0 ELSE 0.0 END"
                return self._round(self._figure(found.of, f"avg({held})"))
            case p.Versus():
                left, right = self._exact(found.left), self._exact(found.right)
                return round(abs(left - right) if found.how == "difference" else left / right, 2)
            case p.Cell():
                table = table_of(found.row)
                attr = self.attr(table, found.attr)
                return self.tables.one(f"SELECT {attr} FROM {sql_name(table)} r WHERE {self.one(found.row)}")
            case p.Best():
                return self._best(found)
            case p.Listing():
                return self._listing(found)
        raise Undetermined(f"{found.kind} has no value by itself")

    def _listing(self, found: p.Listing) -> list[Any]:
        """In order only where no two rows share a place."""
        attr, table = self.attr(found.of.table, found.attr), found.of.table
        if found.by is None:
            return [value for (value,) in self.tables.all(f"SELECT {attr} {self.rows(found.of)}")]
        order = "DESC" if found.highest else "ASC"
        rows = self.tables.all(
            f"SELECT {attr}, {self.attr(table, found.by)} b {self.rows(found.of)} ORDER BY b {order}"
        )
        most = found.first or len(rows)
        places = [place for _, place in rows[: most + 1]]
        if None in places or len(set(places)) < len(places) or len(rows) < most:
            raise Undetermined(f"two rows of {table} share a place")
        return [value for value, _ in rows[:most]]

    def _exact(self, found: p.Measure) -> Any:
        """Before it is rounded."""
        if found.attr is None:
            return self._figure(found.of, "count(*)")
        return self._figure(found.of, f"{_FUNCTIONS[found.function]}({self.attr(found.of.table, found.attr)})")

    def _figure(self, of: p.Selection, function: str) -> Any:
        value = self.tables.one(f"SELECT {function} {self.rows(of)}")
        if value is None:
            raise Undetermined(f"no row of {of.table} has the value that is asked for")
        return value

    def _best(self, found: p.Best) -> Any:
        by = self.attr(found.of.table, found.by)
        inner = self.attr(found.of.table, found.attr) if found.attr else "*"
        order = "DESC" if found.highest else "ASC"
        figure = f"{_FUNCTIONS[found.function]}({inner})"
        groups = self.tables.all(f"SELECT {by}, {figure} f {self.rows(found.of)} GROUP BY 1 ORDER BY f {order}")
        if len(groups) > 1 and self._round(groups[0][1]) == self._round(groups[1][1]):
            raise Undetermined(f"two groups of {found.of.table} share the first place")
        return self._round(groups[0][1]) if found.figure else groups[0][0]

    def _round(self, value: Any) -> Any:
        return round(value, 2) if isinstance(value, float) else value

    # --- Rows ---

    def rows(self, of: p.Selection) -> str:
        conditions = [*(self.where(of.table, w) for w in of.group.where), *(self.test(of.table, t) for t in of.tests)]
        return f"FROM {sql_name(of.table)} r WHERE {' AND '.join(conditions) or '1'}"

    def one(self, row: p.Row) -> str:
        """A condition that exactly one row meets."""
        if isinstance(row, p.One):
            condition = self.subject(row.subject)
        else:
            by, edge = self.attr(row.of.table, row.by), "max" if row.highest else "min"
            rows = self.rows(row.of)
            condition = f"{rows.partition(' WHERE ')[2]} AND {by} = (SELECT {edge}({by}) {rows})"
        count = self.tables.one(f"SELECT count(*) FROM {sql_name(table_of(row))} r WHERE {condition}")
        if count != 1:
            raise Undetermined(f"{count} rows of {table_of(row)} are pointed at where one is meant")
        return condition

    def subject(self, subject: Subject) -> str:
        if subject.of is None:
            return f"r.{sql_name(subject.column)} = {quoted(subject.value)}"
        raise Undetermined(f"a {subject.kind} of a plan is pointed at in a way that no query knows")

    def where(self, table: str, where: Where) -> str:
        column = f"r.{sql_name(where.column)}"
        if where.subject is not None:
            return f"{column} = ({self._owner(table, where.column, where.subject)})"
        if where.subjects:
            return f"({' OR '.join(f'{column} = ({self._owner(table, where.column, s)})' for s in where.subjects)})"
        if where.among:
            return f"{column} IN ({', '.join(map(quoted, where.among))})"
        if where.contains:
            return f"instr(fold({column}), fold({quoted(where.value)})) > 0"
        return f"{column} {where.comparison} {quoted(where.value)}"

    def _owner(self, table: str, column: str, subject: Subject) -> str:
        """The key of the one row that is pointed at and that foreign key `column` leads to."""
        link = next(k for k in self.tables.schema[table].foreign_keys if k.column == column)
        self.one(p.One(subject=subject))
        return f"SELECT r.{sql_name(link.target)} FROM {sql_name(link.table)} r WHERE {self.subject(subject)}"

    def test(self, table: str, test: p.Test) -> str:
        if test.comparison in _PLACES:
            return f"instr(fold({self.attr(table, test.attr)}), fold({quoted(test.value)})) {_PLACES[test.comparison]}"
        return f"{self.attr(table, test.attr)} {test.comparison} {quoted(test.value)}"

    def attr(self, table: str, attr: p.Attr) -> str:
        """SQL for a value of row `r`."""
        if attr.own:
            return f"r.{sql_name(attr.column)}"
        if not attr.children:
            link = next(k for k in self.tables.schema[table].foreign_keys if k.column == attr.via)
            parent = f"SELECT x.{sql_name(attr.column)} FROM {sql_name(link.table)} x"
            return f"({parent} WHERE x.{sql_name(link.target)} = r.{sql_name(attr.via)})"
        link = next(k for k in self.tables.schema[attr.children].foreign_keys if k.column == attr.via)
        figure = f"{_FUNCTIONS[attr.function]}({f'x.{sql_name(attr.column)}' if attr.column else '*'})"
        children = f"{sql_name(attr.children)} x WHERE x.{sql_name(attr.via)} = r.{sql_name(link.target)}"
        return f"(SELECT {figure} FROM {children})"

    # --- Changes ---

    def _targets(self, target: p.Row | p.Selection) -> tuple[str, str, list[Any]]:
        """Table, key column and keys of the rows to be changed."""
        table = target.table if isinstance(target, p.Selection) else table_of(target)
        key = self.tables.schema[table].primary_key
        rows = (
            self.rows(target)
            if isinstance(target, p.Selection)
            else f"FROM {sql_name(table)} r WHERE {self.one(target)}"
        )
        return table, key, [value for (value,) in self.tables.all(f"SELECT r.{sql_name(key)} {rows}")]

    def _put(self, node: p.Put) -> None:
        table, key, keys = self._targets(node.target)
        value = quoted(self.value(node.value))
        for found in keys:
            where = f"{sql_name(key)} = {quoted(found)}"
            self.statements.append(f"UPDATE {sql_name(table)} SET {sql_name(node.column)} = {value} WHERE {where}")
            self.written = (table, key, found)

    def _remove(self, target: p.Row | p.Selection) -> None:
        table, key, keys = self._targets(target)
        self.statements += [f"DELETE FROM {sql_name(table)} WHERE {sql_name(key)} = {quoted(found)}" for found in keys]

    def _act(self, node: p.Act) -> None:
        table, key, keys = self._targets(node.target)
        action = self.actions.get(node.tool)
        if action is None or action.key is None:
            raise Undetermined(f"nothing is known of what {node.tool} does")
        values: dict[str, Any] = {}
        for argument, value in node.values:
            found = self.value(value)
            values[argument] = [found] if action.listed(argument) and not isinstance(value, p.Listing) else found
        for found in keys:
            self.statements += rule_statements(self.tables, action, {**values, action.key: found})
            self.written = (table, key, found)

    def _add(self, node: p.Add) -> None:
        values = {column: self.value(value) for column, value in node.values}
        columns = ", ".join(map(sql_name, values))
        self.statements.append(
            f"INSERT INTO {sql_name(node.table)} ({columns}) VALUES ({', '.join(map(quoted, values.values()))})"
        )
        key = self.tables.schema[node.table].primary_key
        if key in values:
            self.written = (node.table, key, values[key])


def table_of(row: p.Row) -> str:
    return row.subject.table if isinstance(row, p.One) else row.of.table


def compare(left: Any, comparison: str, right: Any) -> bool:
    """Nothing compares to what is missing."""
    if left is None or right is None:
        return False
    if comparison in _PLACES:
        at = str(left).casefold().find(str(right).casefold())
        return at >= 0 if comparison == "contains" else at == 0
    outcome: Mapping[str, bool] = {
        "=": left == right, ">": left > right, "<": left < right, ">=": left >= right, "<=": left <= right,
    }  # fmt: skip
    return outcome[comparison]


def solve_plan(tables: Tables, plan: p.Plan, operations: Sequence[Action] = ()) -> tuple[dict[str, Any], StateDiff]:
    """Answer and state change, by SQL alone; `operations` are those that the plan may use. Raises `Undetermined`."""
    reading = Reading(tables, {action.name: action for action in operations})
    reading.run(plan.nodes)
    diff, later = tables.after(reading.statements, reading.later)
    return {**reading.answer, **later}, diff
