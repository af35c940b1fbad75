"""Tools are compiled once: in a locked-down process of its own, because a source may crash or hang the compiler.

There it is also found out whether their module only defines, and so may be executed before it is needed.
"""

from typing import Any

from agent_world.tools.sandbox.channel import ChannelClosed
from agent_world.tools.sandbox.launcher import Launcher
from agent_world.tools.sandbox.once import Once
from agent_world.tools.sandbox.process import Order, Process

_MAX_KNOWN = 256
_JUDGED_IN_S = 0.5
"""What takes longer to define than this is executed when it is needed."""


class Compiler:
    """What to send to an instance so that it has its tools. Only instances unmarshal the code."""

    def __init__(self, launcher: Launcher, order: Order, seconds: float) -> None:
        """`seconds` is the deadline of one source."""
        self._launcher, self._order, self._seconds = launcher, order, seconds
        self._messages = Once(self._compile, _MAX_KNOWN)

    async def message(self, source: str) -> dict[str, Any]:
        """With the code; or with the source where it does not compile in time: the first call will say why.

        Raises `SandboxError`.
        """
        if not source.strip():
            return {"op": "load", "source": ""}
        return await self._messages.get(source)

    async def stop(self) -> None:
        await self._messages.stop()

    async def _compile(self, source: str) -> dict[str, Any]:
        process = await self._launcher.spawn(self._order)
        try:
            code = await self._asked(process, {"op": "compile", "source": source}, self._seconds)
            if not isinstance(code, str):
                return {"op": "load", "source": source}
            plain = await self._asked(process, {"op": "judge", "code": code}, min(self._seconds, _JUDGED_IN_S))
            return {"id": 0, "op": "load", "code": code, "plain": plain is True}
        finally:
            process.release()

    async def _asked(self, process: Process, what: dict[str, Any], seconds: float) -> Any:
        """None where it fails or takes too long."""
        try:
            answer = await process.channel.ask({"id": 0, **what}, seconds)
        except (TimeoutError, ChannelClosed):
            return None
        return answer.get("value")
