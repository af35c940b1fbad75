"""How much the unit tests notice: seeded faults put into the tools, and the share of them that some test catches.

A fault is one small change of the kind that people make: an off-by-one page, a wrong column, an inverted filter, a
precondition left out. The tests are run in the sandbox against each faulty tools.py.
"""

import ast
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from agent_world.agents.coder.check import RUNNER
from agent_world.errors import SandboxError
from agent_world.memory.store import Bundle
from agent_world.schema import DatabaseSchema
from agent_world.tools.runtime import Instance, RunResult

TESTS = re.compile(r"^def (test_\w+)\(", re.MULTILINE)
WRITERS = ("_insert", "_set", "_remove")


@dataclass(frozen=True, slots=True)
class Mutant:
    kind: str
    function: str
    """Where the fault is: a tool or a helper of all tools."""
    line: int
    source: str


@dataclass(frozen=True, slots=True)
class MutationScore:
    caught: int
    total: int
    survivors: tuple[str, ...]
    """`kind in function, line n` of each fault that no test noticed."""


async def mutation_score(bundle: Bundle, instance: Instance, *, seed: int = 0, faults: int = 10) -> MutationScore:
    """Put `faults` seeded faults, as different as can be, into the bundle's tools, one at a time."""
    source, tests = (bundle.root / "tools.py").read_text(), (bundle.root / "tool_tests.py").read_text()
    names = TESTS.findall(tests)
    sound = await _run(instance, source, tests, names)
    passing = [name for name in names if sound.ok and sound.value["errors"].get(name, "") is None]
    if not passing:
        raise SandboxError(f"No unit test of {bundle.id} passes ({sound.error or 'all fail'}); write its tools again.")
    survivors = []
    chosen = mutants(source, bundle.environment().database, seed, faults)
    for mutant in chosen:
        result = await _run(instance, mutant.source, tests, _concerned(mutant, passing))
        if result.ok and not any(result.value["errors"].values()):
            survivors.append(f"{mutant.kind} in {mutant.function}, line {mutant.line}")
        if not result.ok:
            await instance.reset()
    return MutationScore(len(chosen) - len(survivors), len(chosen), tuple(survivors))


async def _run(instance: Instance, source: str, tests: str, names: list[str]) -> RunResult:
    arguments = {"tools_source": source, "head": tests, "tests": dict.fromkeys(names, ""), "watched": {}}
    return await instance.run(RUNNER, "run_tests", arguments)


def _concerned(mutant: Mutant, names: list[str]) -> list[str]:
    own = [name for name in names if name.startswith(f"test_{mutant.function}_")]
    return own or names


def mutants(source: str, schema: DatabaseSchema, seed: int, faults: int) -> list[Mutant]:
    """At most `faults` faulty versions of a tools.py, kinds taken in turn, sites drawn under the seed."""
    rng = random.Random(f"{seed}:mutants")
    sites = {kind: list(range(_count(source, schema, kind))) for kind in OPERATORS}
    for places in sites.values():
        rng.shuffle(places)
    chosen: list[Mutant] = []
    while len(chosen) < faults and any(sites.values()):
        for kind, places in sites.items():
            if places and len(chosen) < faults:
                chosen.append(_mutant(source, schema, kind, places.pop()))
    return chosen


def _count(source: str, schema: DatabaseSchema, kind: str) -> int:
    """In how many places this kind of fault fits."""
    changer = _Changer(OPERATORS[kind], schema, -1)
    changer.visit(ast.parse(source))
    return -1 - changer.left


def _mutant(source: str, schema: DatabaseSchema, kind: str, place: int) -> Mutant:
    changer = _Changer(OPERATORS[kind], schema, place)
    changed = ast.fix_missing_locations(changer.visit(ast.parse(source)))
    assert changer.done is not None
    return Mutant(kind, *changer.done, ast.unparse(changed))


class _Changer(ast.NodeTransformer):
    """Applies an operator at the `place`-th place where it fits; at none where that is -1."""

    def __init__(self, operator: "Operator", schema: DatabaseSchema, place: int) -> None:
        self.operator, self.schema, self.left = operator, schema, place
        self.function = ""
        self.done: tuple[str, int] | None = None

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.FunctionDef):
            self.function = node.name
        inside = self.function == "_page" or not self.function.startswith("_")
        if self.function and inside and self.done is None:
            other = self.operator(node, self.schema)
            if other is not None:
                if self.left == 0:
                    self.done = self.function, getattr(node, "lineno", 0)
                    return other
                self.left -= 1
        return self.generic_visit(node)


# --- Kinds of fault ------------------------------------------------------------------------------------

Operator = Callable[[ast.AST, DatabaseSchema], ast.AST | None]
"""The faulty node in place of a node; None where the fault does not fit."""


def _short_page(node: ast.AST, schema: DatabaseSchema) -> ast.AST | None:
    if not (isinstance(node, ast.Slice) and node.upper):
        return None
    return ast.Slice(node.lower, ast.BinOp(node.upper, ast.Sub(), ast.Constant(1)), node.step)


def _wrong_column(node: ast.AST, schema: DatabaseSchema) -> ast.AST | None:
    if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in ("row", "found")):
        return None
    name = node.slice.value if isinstance(node.slice, ast.Constant) else None
    for table in schema.tables:
        kinds = {column.name: column.type for column in table.columns}
        alike = [other for other, kind in kinds.items() if other != name and kind == kinds.get(str(name))]
        if alike:
            return ast.Subscript(node.value, ast.Constant(alike[0]), node.ctx)
    return None


def _inverted(node: ast.AST, schema: DatabaseSchema) -> ast.AST | None:
    opposite = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In}
    if isinstance(node, ast.Compare) and type(node.ops[0]) in opposite:
        return ast.Compare(node.left, [opposite[type(node.ops[0])]()], node.comparators)
    return None


def _no_precondition(node: ast.AST, schema: DatabaseSchema) -> ast.AST | None:
    raises = isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Raise)
    return ast.Pass() if raises or _calls(node, ("_find",)) else None


def _unchecked(node: ast.AST, schema: DatabaseSchema) -> ast.AST | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_checked":
        return node.args[1]
    return None


def _lost_write(node: ast.AST, schema: DatabaseSchema) -> ast.AST | None:
    return ast.Pass() if _calls(node, WRITERS) else None


def _calls(node: ast.AST, names: tuple[str, ...]) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names


def _wrong_function(node: ast.AST, schema: DatabaseSchema) -> ast.AST | None:
    others = {"max": "min", "min": "max", "sum": "len"}
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in others):
        return None
    if len(node.args) != 1 or isinstance(node.args[0], ast.GeneratorExp):
        return None
    return ast.Call(ast.Name(others[node.func.id], ast.Load()), node.args, node.keywords)


def _wrong_order(node: ast.AST, schema: DatabaseSchema) -> ast.AST | None:
    if isinstance(node, ast.keyword) and node.arg == "reverse":
        return ast.keyword("reverse", ast.Constant(False))
    return None


def _case_kept(node: ast.AST, schema: DatabaseSchema) -> ast.AST | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "casefold":
        return node.func.value
    return None


def _stale_result(node: ast.AST, schema: DatabaseSchema) -> ast.AST | None:
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Dict) and None in node.value.keys:
        return ast.Return(node.value.values[0])
    return None


OPERATORS: dict[str, Operator] = {
    "page one short": _short_page,
    "wrong column": _wrong_column,
    "inverted filter": _inverted,
    "missing precondition": _no_precondition,
    "unchecked value": _unchecked,
    "lost write": _lost_write,
    "wrong function": _wrong_function,
    "wrong order": _wrong_order,
    "case kept": _case_kept,
    "stale result": _stale_result,
}
