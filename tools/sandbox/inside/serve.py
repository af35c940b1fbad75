"""Serving calls and programs inside an instance. From here on, nothing that arrives or runs is trusted.

Frames on the channel are a length (4 bytes, big-endian) and a JSON object; each answer repeats the id of its request.
`begin` sets clock and seed. `compile` gives the code of tools, `judge` whether it may be executed at any time, and
`load` brings it: then, or else at first use, it is executed. A verdict that comes with it asks for an answer. `call`
runs a tool in this process. `run` forks, so that a program leaves no trace in it but in the database, and a second
answer says that all which the program started has ended; or, where forking is refused, it comes to a process that is
there for it alone.
"""

import array
import base64
import binascii
import contextlib
import io
import json
import marshal
import os
import re
import signal
import socket
import struct
import sys
import traceback
import types
from collections.abc import Callable, Mapping
from typing import Any

MAX_FRAME = 4 * 1024 * 1024
"""Largest frame either side accepts."""
_MAX_VALUES, _MAX_HOLDERS = 600_000, 150_000
"""Most values, and most lists and objects, of one result: to read it holds the trusted interpreter, for up to 60 ms."""
_MAX_QUOTES = 200_000
_STRING = re.compile(rb'(?s)"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)')
"""To the end where it is not closed: whatever it holds, each byte is looked at once."""
_NEVER_CROWDED = 100_000
_MAX_OUTPUT = 64_000
_MAX_MESSAGE = 500
_ANSWERED = 77
"""Exit status of a forked program that has sent its result."""


class ToolError(Exception):
    """What a tool raises to refuse, and what a program gets when a tool has failed."""

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(message)
        self.code = code


class Output(io.TextIOBase):
    """Keeps the first part of what is printed."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.room = _MAX_OUTPUT

    def write(self, text: str) -> int:
        if self.room > 0:
            self.parts.append(text[: self.room])
            self.room -= len(text)
        return len(text)

    def text(self) -> str:
        return "".join(self.parts)


Outcome = tuple[str, str]
"""A key (`value` or `error`) and the JSON text that belongs to it."""


class World:
    """The tools of the instance, executed at first use, within the deadline of that use; or before (see `plain`)."""

    def __init__(self) -> None:
        self.code: types.CodeType | str = ""
        self.module: types.ModuleType | None = None

    def load(self, request: Mapping[str, Any]) -> None:
        """`code` where it could be compiled; else `source`, whose faults then show at first use."""
        self.module = None
        self.code = _code(request["code"]) if "code" in request else request["source"]
        if request.get("plain"):
            # What goes wrong here goes wrong again at first use, and is told there.
            with contextlib.suppress(BaseException):
                self._execute()

    def tool(self, name: str) -> Callable[..., Any] | None:
        """Raises whatever the module raises."""
        return getattr(self.module or self._execute(), name, None)

    def _execute(self) -> types.ModuleType:
        module = _empty_module()
        code = compile(self.code, "tools.py", "exec") if isinstance(self.code, str) else self.code
        exec(code, module.__dict__)
        self.module = module
        return module

    def invoke(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        try:
            function = self.tool(name)
            if not callable(function):
                return _error("unknown_tool", f"tools.py has no function {name}.")
            value = function(**arguments)
        # The edge of what is not ours: whatever a tool raises, exits included, is its result.
        except BaseException as error:
            return _failure(error)
        return encode(value)


def _empty_module() -> types.ModuleType:
    """In which tools are executed, and judged."""
    module = types.ModuleType("tools")
    module.__dict__["ToolError"] = ToolError
    return module


def _code(text: str) -> types.CodeType:
    code: types.CodeType = marshal.loads(binascii.a2b_base64(text))
    return code


OnlyDefines = Callable[[types.CodeType, dict[str, Any], list[str]], bool]
"""Judges a module's code, to be executed in a namespace, and what it has printed."""


def compiled(source: str) -> Outcome:
    """The code of a module of tools, marshalled, in base64."""
    try:
        code = compile(source, "tools.py", "exec")
    # The edge of what is not ours: whatever a source does to the compiler is its result.
    except BaseException as error:
        return _failure(error)
    return encode(base64.b64encode(marshal.dumps(code)).decode())


def encode(value: Any) -> Outcome:
    """JSON of a tool's result. Dates become ISO text and sets sorted lists; NaN, bytes and all else is refused. Keys
    become text as JSON has it, and of two that become the same (1 and "1") the last holds."""
    try:
        text = _ENCODER.encode(value)
        data = text.encode()
    except BaseException as error:
        return _error("invalid_output", f"The tool's result is not JSON: {_say(error)}")
    if len(data) > MAX_FRAME // 2:
        return _error("invalid_output", f"The tool's result is too large: {len(data)} bytes.")
    if crowded(data):
        return _error("invalid_output", "The tool's result is too large: it holds too many values.")
    return "value", text


def crowded(data: bytes, most: tuple[int, int] = (_MAX_VALUES, _MAX_HOLDERS)) -> bool:
    """Whether JSON holds more values, or more lists and objects, than are read at once.

    What stands in its strings does not count, unless there are very many.
    """
    if len(data) <= _NEVER_CROWDED or not _exceeds(data, most):
        return False
    return data.count(b'"') > _MAX_QUOTES or _exceeds(_STRING.sub(b"", data), most)


def _exceeds(data: bytes, most: tuple[int, int]) -> bool:
    holders = data.count(b"[") + data.count(b"{")
    return holders > most[1] or holders + data.count(b",") > most[0]


def _plain(value: Any) -> Any:
    """What JSON has no form for, and we have."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=lambda item: json.dumps(item, allow_nan=False, sort_keys=True, default=_plain))
    if any(kind.__module__ == "datetime" and kind.__name__ in ("date", "time") for kind in type(value).__mro__):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")


_ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=_plain)


def _failure(error: BaseException) -> Outcome:
    if any(kind.__name__ == "ToolError" for kind in type(error).__mro__):
        code = getattr(error, "code", None)
        sound = isinstance(code, str) and code.isidentifier() and len(code) <= 40
        return _error(code if sound else "tool_error", _say(error, bare=True))  # type: ignore[arg-type]
    return _error("exception", _say(error))


def _error(code: str, message: str) -> Outcome:
    return "error", json.dumps({"code": code, "message": message[:_MAX_MESSAGE]})


def _say(error: BaseException, bare: bool = False) -> str:
    try:
        message = " ".join(str(error).split())[:_MAX_MESSAGE].encode(errors="replace").decode()
    except BaseException:
        message = "(no message: its text cannot be made)"
    return message if bare else f"{type(error).__name__}: {message}".rstrip(": ")


# --- Programs ----------------------------------------------------------------------------------------


class Tools:
    """What a program sees as `tools`. Each call is announced, checked on the trusted side, and reported."""

    def __init__(self, world: World, channel: socket.socket, reader: "Reader", request: int) -> None:
        self._world, self._channel, self._reader, self._request = world, channel, reader, request

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def tool(**arguments: Any) -> Any:
            return self._use(name, arguments)

        tool.__name__ = name
        return tool

    def _use(self, name: str, arguments: dict[str, Any]) -> Any:
        key, text = encode(arguments)
        if key == "error":
            raise ToolError("invalid_arguments", json.loads(text)["message"])
        _send(self._channel, self._request, ask=json.dumps(name), arguments=text)
        answer = self._reader.receive()
        if "error" in answer:
            raise ToolError(answer["error"]["code"], answer["error"]["message"])
        if "value" in answer:  # the tool is not here: the trusted side has used it
            return answer["value"]
        key, text = self._world.invoke(name, answer["arguments"])
        _reply(self._channel, self._request, (key, text), did="true")
        found = json.loads(text)
        if key == "error":
            raise ToolError(found["code"], found["message"])
        return found


def _execute(world: World, channel: socket.socket, reader: "Reader", request: dict[str, Any], output: Output) -> None:
    program = types.ModuleType("program")
    program.__dict__["ToolError"] = ToolError
    try:
        exec(compile(request["source"], "program.py", "exec"), program.__dict__)
        function = program.__dict__[request["function"]]
        arguments = dict(request["arguments"])
        code = getattr(function, "__code__", None)
        if code and "tools" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            arguments["tools"] = Tools(world, channel, reader, request["id"])
        outcome = encode(function(**arguments))
    # The edge of what is not ours: a program's failure is its result.
    except BaseException as error:
        outcome = _error("exception", _say(error) + _line(error))
    _reply(channel, request["id"], outcome, output=json.dumps(output.text()))


def _line(error: BaseException) -> str:
    """Where in the program it broke: what whoever repairs it needs."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == "program.py"]
    return f" (line {frames[-1].lineno})" if frames else ""


def _run(world: World, channel: socket.socket, reader: "Reader", request: dict[str, Any], output: Output) -> None:
    if request["here"]:
        return _execute(world, channel, reader, request, output)
    pid = os.fork()
    if pid == 0:
        try:
            _execute(world, channel, reader, request, output)
            os._exit(_ANSWERED)
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    if os.getpid() == 1:
        _end_the_rest()
    if os.waitstatus_to_exitcode(status) != _ANSWERED:
        outcome = _error("crashed", "The program's process ended without a result.")
        _reply(channel, request["id"], outcome, output='""')
    _send(channel, request["id"], ended="true")


def _end_the_rest() -> None:
    """Kill every other process of this instance: as process 1 we see no others."""
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.waitpid(-1, 0)
    except (ProcessLookupError, ChildProcessError):
        return


# --- The channel -------------------------------------------------------------------------------------


_SPACE = memoryview(bytearray(1 << 18))
"""Where frames arrive: made before any fork, for room of this size takes longer to make than to fill."""


class Reader:
    """Frames from the channel, with as few reads as they take.

    How they arrive, one by one or together, leaves no trace: frames lie in `_SPACE` and their bounds in an array, so
    that tools find the same memory free.
    """

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._filled = array.array("Q", (0, 0))
        """Where the bytes begin that nobody has taken, and where they end."""

    def receive(self) -> dict[str, Any]:
        """Raises `EOFError` when the other side has gone."""
        (size,) = struct.unpack(">I", self._take(4))
        found: dict[str, Any] = json.loads(self._take(size))
        return found

    def _take(self, size: int) -> bytes:
        filled = self._filled
        while filled[1] - filled[0] < size:
            if size > len(_SPACE):
                return self._take_large(size)
            if filled[0]:  # to the beginning: there is room for all of it
                filled[1] -= filled[0]
                _SPACE[: filled[1]] = _SPACE[filled[0] : filled[0] + filled[1]]
                filled[0] = 0
            filled[1] += self._more(_SPACE[filled[1] :])
        filled[0] += size
        return bytes(_SPACE[filled[0] - size : filled[0]])

    def _take_large(self, size: int) -> bytes:
        filled = self._filled
        found = bytearray(size)
        done = filled[1] - filled[0]
        found[:done] = _SPACE[filled[0] : filled[1]]
        filled[0] = filled[1] = 0
        with memoryview(found) as room:
            while done < size:
                done += self._more(room[done:])
        return bytes(found)

    def _more(self, room: memoryview) -> int:
        received = self._channel.recv_into(room)
        if not received:
            raise EOFError
        return received


_EXERCISE_SOURCE = """
import json
def tool(text):
    with open("/dev/null") as file:
        return json.loads(text + file.read())
"""
_EXERCISE = base64.b64encode(marshal.dumps(compile(_EXERCISE_SOURCE, "warm", "exec"))).decode()


def warm() -> None:
    """Do once what every call does, so that the pages it writes are this process's own before anybody waits."""
    world = World()
    world.load({"code": _EXERCISE})
    world.invoke("tool", json.loads('{"text": "[{\\"id\\": 1, \\"x\\": 0.5}]"}'))


def rehearse(times: int, begin: Callable[[int, str], None], only_defines: OnlyDefines) -> None:
    """Serve ourselves, so that the interpreter has prepared the code before any fork: its pages are then not written to
    in each process anew."""
    ours, theirs = socket.socketpair()
    call = {"op": "call", "id": 1, "tool": "tool", "arguments": {"text": '[{"id": 1, "x": 0.5}]'}}
    load = {"op": "load", "id": 0, "code": _EXERCISE, "plain": True}
    with ours, theirs:
        for message in (load, {"op": "begin", "clock_ns": 0, "seed": "0"}, call) * times:
            data = json.dumps(message).encode()
            ours.sendall(struct.pack(">I", len(data)) + data)
        ours.shutdown(socket.SHUT_WR)
        serve(theirs, begin, only_defines)


def serve(
    channel: socket.socket,
    begin: Callable[[int, str], None] = lambda clock_ns, seed: None,
    only_defines: OnlyDefines = lambda code, space, printed: False,
) -> None:
    """Answer requests, one at a time, until the trusted side closes the channel.

    `begin` sets clock and seed when it is told them; a backend that has set them before needs none. `only_defines`
    is `plain`'s.
    """
    world, reader = World(), Reader(channel)
    while True:
        # First let go of what the last one had: the next finds the same memory free, however many there were.
        request = output = sys.stdout = sys.stderr = None  # type: ignore[assignment]
        try:
            request = reader.receive()
        except EOFError:
            return
        output = sys.stdout = sys.stderr = Output()
        match request["op"]:
            case "begin":
                begin(request["clock_ns"], request["seed"])
            case "load":
                world.load(request)
                if "plain" in request:
                    _reply(channel, request["id"], ("value", "null"))
            case "compile":
                _reply(channel, request["id"], compiled(request["source"]))
            case "judge":
                verdict = only_defines(_code(request["code"]), _empty_module().__dict__, output.parts)
                _reply(channel, request["id"], encode(verdict))
            case "call":
                _reply(channel, request["id"], world.invoke(request["tool"], request["arguments"]))
            case _:
                _run(world, channel, reader, request, output)


def _reply(channel: socket.socket, request: int, outcome: Outcome, **fields: str) -> None:
    """`outcome` and `fields` are JSON texts, put in as they are."""
    key, text = outcome
    _send(channel, request, **fields, **{key: text})


def _send(channel: socket.socket, request: int, **fields: str) -> None:
    body = "".join(f',"{name}":{text}' for name, text in fields.items())
    data = f'{{"id":{request}{body}}}'.encode()
    channel.sendall(struct.pack(">I", len(data)) + data)
