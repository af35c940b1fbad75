"""Runs unit tests inside the sandbox. Its text is sent there; it is never imported on the trusted side.

Standard library only. Each test gets the files as they were at the start and a freshly loaded module `tools`.
"""

import contextlib
import copy
import json
import os
import re
import sys
import types
from typing import Any

_MOST_OUTPUTS = 12
_MOST_CHARACTERS = 8000
_MOST_REPLAYS = 2
_NETWORK = (
    "socket.",
    "urllib.",
    "http.client.",
    "ftplib.",
    "smtplib.",
    "imaplib.",
    "poplib.",
    "nntplib.",
    "telnetlib.",
)
_HARMLESS = ("socket.gethostname", "socket.sethostname")


def compile_tools(head: str, sources: dict[str, str]) -> dict[str, str | None]:
    """Load each tool's source by itself after the head; give by tool what went wrong, None where nothing did."""
    found: dict[str, str | None] = {}
    tried = _notice_network()
    for name, source in sources.items():
        try:
            tried.clear()
            module = _load("tools", compile(head + "\n\n\n" + source, "tools.py", "exec"))
            found[name] = None if callable(getattr(module, name, None)) else f"there is no function {name}"
            if tried:
                found[name] = "it needs the network while it loads, which no tool has"
        except BaseException as error:  # whatever foreign code raises while it loads
            found[name] = _say(error)
    return found


def run_tests(tools_source: str, head: str, tests: dict[str, str], watched: dict[str, bool]) -> dict[str, Any]:
    """Run the tests (name -> source, after the head). `watched`: tool -> whether it only reads.

    Gives `errors` (test -> None or what went wrong), `outputs` (tool -> some of its results), and by tool what no tool
    may do: `wrote` (it only reads and yet changed a file), `strays` (files that it made or removed), `networked` (it
    tried to connect), `hidden` (what it says when a file of the database is gone, but that it is broken).
    """
    clean = _files()
    tools_code = compile(tools_source, "tools.py", "exec")
    head_code = compile(head, "tool_tests.py", "exec")
    watch = _Watch(watched)
    errors: dict[str, str | None] = {}
    for name, source in tests.items():
        try:
            module = _load("tools", tools_code)
            for tool in watched:
                setattr(module, tool, watch.over(tool, getattr(module, tool)))
            sys.modules["tools"] = module
            sys.modules["pytest"] = _pytest()
            space = _load("tool_tests", head_code)
            exec(compile(source, "test", "exec"), space.__dict__)
            getattr(space, name)()
            errors[name] = None
        except BaseException as error:  # a test's failure is its result, whatever it is
            errors[name] = _say(error)
        _restore(clean)
    hidden = {tool: said for tool in watched if (said := _without_files(tools_code, tool, watch.calls[tool], clean))}
    return {"errors": errors, "hidden": hidden, **watch.report()}


def _load(name: str, code: types.CodeType) -> types.ModuleType:
    module = types.ModuleType(name)
    exec(code, module.__dict__)
    return module


def _notice_network() -> list[str]:
    """A list that grows with every attempt to use the network, whether or not the tool says so; hooks cannot be undone,
    but this process ends with its program."""
    tried: list[str] = []

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(_NETWORK) and event not in _HARMLESS:
            tried.append(event)

    sys.addaudithook(hook)
    return tried


class _Watch:
    """What tools do while the tests call them."""

    def __init__(self, watched: dict[str, bool]) -> None:
        self.reads = watched
        self.outputs: dict[str, list[Any]] = {tool: [] for tool in watched}
        self.calls: dict[str, list[tuple[Any, Any]]] = {tool: [] for tool in watched}
        """Some arguments with which each one gave a result."""
        self.wrote: set[str] = set()
        self.networked: set[str] = set()
        self.strays: dict[str, str] = {}
        self._tried = _notice_network()

    def report(self) -> dict[str, Any]:
        found = {"outputs": self.outputs, "strays": self.strays}
        return {**found, "wrote": sorted(self.wrote), "networked": sorted(self.networked)}

    def over(self, name: str, tool: Any) -> Any:
        def watched(*args: Any, **kwargs: Any) -> Any:
            before, tried = _files() if self.reads[name] else dict.fromkeys(_paths()), len(self._tried)
            given = copy.deepcopy((args, kwargs))
            try:
                result = tool(*args, **kwargs)
            finally:
                self._look(name, before, tried)
            text = json.dumps(result, allow_nan=False)
            if len(self.calls[name]) < _MOST_REPLAYS and given not in self.calls[name]:
                self.calls[name].append(given)
            if len(self.outputs[name]) < _MOST_OUTPUTS and len(text) <= _MOST_CHARACTERS:
                self.outputs[name].append(json.loads(text))
            return result

        return watched

    def _look(self, name: str, before: dict[str, Any], tried: int) -> None:
        if self.reads[name] and _files() != before:
            self.wrote.add(name)
        if len(self._tried) > tried:
            self.networked.add(name)
        odd = sorted(set(before) ^ set(_paths()))
        if odd:
            self.strays.setdefault(name, odd[0])


def _without_files(
    code: types.CodeType, tool: str, calls: list[tuple[Any, Any]], clean: dict[str, bytes]
) -> str | None:
    """What the tool makes of a missing file, if it is neither the same as ever nor a failure."""
    for arguments in calls:
        usual = _outcome(code, tool, arguments)
        _restore(clean)
        for path in clean if usual.startswith("=") else ():
            os.remove(path)
            now = _outcome(code, tool, arguments)
            _restore(clean)
            if now not in (usual, "broken_table", "failed"):
                what = "gives another answer" if now.startswith("=") else f"refuses with {now}"
                return f"without {path.removeprefix('./')} it {what}"
    return None


def _outcome(code: types.CodeType, tool: str, arguments: tuple[Any, Any]) -> str:
    """`=` and the result as JSON, the code of a refusal, or `failed`."""
    args, kwargs = copy.deepcopy(arguments)
    try:
        return "=" + json.dumps(getattr(_load("tools", code), tool)(*args, **kwargs), sort_keys=True)
    except BaseException as error:  # whatever foreign code raises
        refused = type(error).__name__ == "ToolError"
        return str(getattr(error, "code", "tool_error"))[:40] if refused else "failed"


def _paths() -> list[str]:
    return [os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names]


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
