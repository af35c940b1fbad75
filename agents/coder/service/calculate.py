"""Arithmetic as a tool: `calculate(expression)` with +, -, *, / and parentheses, by hand, never by `eval`."""

from agent_world.agents.coder.cases import Case
from agent_world.agents.coder.draft import WrittenTool
from agent_world.agents.coder.service.details import closed, function, tool_spec, written
from agent_world.agents.coder.service.real import Real
from agent_world.schema import Column

TEXT = (
    "Work out an arithmetic expression of numbers, +, -, *, / and parentheses, rounded to 2 decimals. Fails with "
    "invalid_value for anything else, and for a division by zero."
)
BODY = """import ast
import operator

signs = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def value(node):
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return -value(node.operand) if isinstance(node.op, ast.USub) else value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in signs:
        return signs[type(node.op)](value(node.left), value(node.right))
    raise ValueError("it holds something else than numbers and + - * / ( )")


given = _checked("expression", ARGUMENT, str)
try:
    if len(given) > 300:
        raise ValueError("it is longer than 300 characters")
    result = round(float(value(ast.parse(given.strip(), mode="eval").body)), 2)
    if not math.isfinite(result):
        raise ValueError("its value is not finite")
except (ValueError, SyntaxError, ArithmeticError, RecursionError, MemoryError) as error:
    raise ToolError("invalid_value", f"The expression cannot be worked out: {error}.") from error
return {"value": result}"""


def is_calculator(real: Real) -> bool:
    one = len(real.required) == 1 and real.parameters[real.required[0]].get("type") == "string"
    return one and real.words[0] in ("calculate", "compute", "evaluate") and "expression" in real.required[0]


def write_calculator(real: Real, seed: int) -> WrittenTool:
    argument = real.required[0]
    shown = {argument: {"type": "string", "minLength": 1, "description": "For example (12.5 + 7) * 2."}}
    spec = tool_spec(real, TEXT, closed(shown), closed({"value": {"type": "number"}}), None, reads=True)
    body = BODY.replace("ARGUMENT", argument).splitlines()
    source = function(real, TEXT, body, {argument: Column(name=argument, type="string")})
    return written(real, spec, source, _cases(real, argument), seed)


def _cases(real: Real, argument: str) -> list[Case]:
    sums = {"2 + 2": 4.0, "(12.5 + 7) * 2": 39.0, "-3 * (4 - 6) / 4": 1.5, "200 - 50.07 - 3": 146.93, "10 / 3": 3.33}
    right = tuple(
        f"check(tools.{real.name}({argument}={text!r}), {{'value': {value}}})" for text, value in sums.items()
    )
    bad = ("1 / 0", "2 **", "2 ** 9", "open('x')", "a + 1", "1e999 * 10", "(" * 400, " ", "True + 1")
    wrong = tuple(f'refused("invalid_value", tools.{real.name}, {argument}={text!r})' for text in bad)
    typed = (f'refused("invalid_value", tools.{real.name}, {argument}=7)',)
    return [Case("works out sums", right), Case("refuses what is no arithmetic", wrong), Case("refuses no text", typed)]
