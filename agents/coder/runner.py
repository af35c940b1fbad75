"""Runs unit tests inside the sandbox. Its text is sent there; it is never imported on the trusted side.

Standard library only. Each test gets the files as they were at the start and a freshly loaded module `tools`.
"""

import contextlib
import json
import os
import re
import sys
import types
from typing import Any

_MOST_OUTPUTS = 12
_MOST_CHARACTERS = 8000


def compile_tools(head: str, sources: dict[str, str]) -> dict[str, str | None]:
    """Load each tool's source by itself after the head; give by tool what went wrong, None where nothing did."""
    found: dict[str, str | None] = {}
    for name, source in sources.items():
        try:
            module = _load("tools", compile(head + "\n\n\n" + source, "tools.py", "exec"))
            found[name] = None if callable(getattr(module, name, None)) else f"there is no function {name}"
        except BaseException as error:  # whatever foreign code raises while it loads
            found[name] = _say(error)
    return found


def run_tests(tools_source: str, head: str, tests: dict[str, str], watched: dict[str, bool]) -> dict[str, Any]:
    """Run the tests (name -> source, after the head). `watched`: tool -> whether it only reads.

    Gives `errors` (test -> None or what went wrong), `outputs` (tool -> some of its results), and `wrote` (tools
    that only read and yet changed a file).
    """
    clean = _files()
    tools_code = compile(tools_source, "tools.py", "exec")
    head_code = compile(head, "tool_tests.py", "exec")
    outputs: dict[str, list[Any]] = {tool: [] for tool in watched}
    wrote: set[str] = set()
    errors: dict[str, str | None] = {}
    for name, source in tests.items():
        try:
            module = _load("tools", tools_code)
            for tool, reads in watched.items():
                setattr(module, tool, _watch(getattr(module, tool), outputs[tool], tool if reads else None, wrote))
            sys.modules["tools"] = module
            sys.modules["pytest"] = _pytest()
            space = _load("tool_tests", head_code)
            exec(compile(source, "test", "exec"), space.__dict__)
            getattr(space, name)()
            errors[name] = None
        except BaseException as error:  # a test's failure is its result, whatever it is
            errors[name] = _say(error)
        _restore(clean)
    return {"errors": errors, "outputs": outputs, "wrote": sorted(wrote)}


def _load(name: str, code: types.CodeType) -> types.ModuleType:
    module = types.ModuleType(name)
    exec(code, module.__dict__)
    return module


def _watch(tool: Any, outputs: list[Any], reader: str | None, wrote: set[str]) -> Any:
    def watched(*args: Any, **kwargs: Any) -> Any:
        before = _files() if reader else None
        result = tool(*args, **kwargs)
        if reader and _files() != before:
            wrote.add(reader)
        text = json.dumps(result, allow_nan=False)
        if len(outputs) < _MOST_OUTPUTS and len(text) <= _MOST_CHARACTERS:
            outputs.append(json.loads(text))
        return result

    return watched


def _files() -> dict[str, bytes]:
    found = {}
    for folder, _, names in os.walk("."):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[path] = file.read()
    return found


def _restore(clean: dict[str, bytes]) -> None:
    now = _files()
    for path in now:
        if path not in clean:
            os.remove(path)
    for path, content in clean.items():
        if now.get(path) != content:
            with open(path, "wb") as file:
                file.write(content)


def _say(error: BaseException) -> str:
    trace = error.__traceback__
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in ("test", "tools.py"):
            line = f"{trace.tb_frame.f_code.co_filename} line {trace.tb_lineno}"
        trace = trace.tb_next
    text = " ".join(f"{type(error).__name__}: {error}".split())[:300].rstrip(": ")
    return f"{text} ({line})" if line else text


def _pytest() -> types.ModuleType:
    """The little of pytest that written tests tend to use."""
    module = types.ModuleType("pytest")
    module.__dict__.update(raises=_Raises, approx=_Approx)
    return module


class _Raises(contextlib.AbstractContextManager["_Raises"]):
    def __init__(self, kind: type[BaseException], match: str | None = None) -> None:
        self.kind, self.match = kind, match
        self.value: BaseException | None = None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        assert error is not None, f"{self.kind} was not raised"
        if not isinstance(error, self.kind):
            return False
        assert self.match is None or re.search(self.match, str(error)), f"{error} does not match {self.match!r}"
        self.value = error
        return True


class _Approx:
    def __init__(self, expected: float, rel: float = 1e-6, abs: float = 1e-12) -> None:
        self.expected, self.rel, self.abs = expected, rel, abs

    def __eq__(self, other: Any) -> bool:
        return bool(abs(other - self.expected) <= max(self.abs, self.rel * abs(self.expected)))

    def __repr__(self) -> str:
        return f"about {self.expected}"
