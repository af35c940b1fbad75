"""Tools are compiled once: in a locked-down process of its own, because a source may crash or hang the compiler."""

from typing import Any

from agent_world.tools.sandbox.channel import ChannelClosed
from agent_world.tools.sandbox.launcher import Launcher
from agent_world.tools.sandbox.once import Once
from agent_world.tools.sandbox.process import Order

_MAX_KNOWN = 256


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
            answer = await process.channel.ask({"id": 0, "op": "compile", "source": source}, self._seconds)
        except (TimeoutError, ChannelClosed):
            answer = {}
        finally:
            process.release()
        code = answer.get("value")
        return {"op": "load", "code": code} if isinstance(code, str) else {"op": "load", "source": source}
