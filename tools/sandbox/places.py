"""The open instances of a backend, and how many there may be at once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

I = TypeVar("I")  # noqa: E741


class Places(Generic[I]):
    """Belongs to one event loop."""

    def __init__(self, most: int) -> None:
        self._room = asyncio.Semaphore(most)
        self.taken: set[I] = set()

    async def take(self, make: Callable[[], I], start: Callable[[I], Awaitable[None]]) -> I:
        """An instance that was made and started, once there is a place; the place is free again if that fails."""
        await self._room.acquire()
        try:
            instance = make()
            await start(instance)
        except BaseException:
            self._room.release()
            raise
        self.taken.add(instance)
        return instance

    def leave(self, instance: I) -> None:
        """Safe to call twice, and for an instance that never had a place."""
        if instance in self.taken:
            self.taken.remove(instance)
            self._room.release()
