"""Work that is done once for all who ask for it."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Once(Generic[K, V]):
    """Results by key, the last `most` that were asked for. What failed is tried again when next asked for."""

    def __init__(self, work: Callable[[K], Awaitable[V]], most: int) -> None:
        self._work, self._most = work, most
        self._tasks: OrderedDict[K, asyncio.Task[V]] = OrderedDict()

    async def get(self, key: K) -> V:
        """Raises as the work does. Who is cancelled here leaves the work to the others."""
        task = self._tasks.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._tasks[key] = asyncio.create_task(self._do(key))
        self._tasks.move_to_end(key)
        while len(self._tasks) > self._most:
            self._tasks.popitem(last=False)
        return await asyncio.shield(task)

    def forget(self, key: K, last: Callable[[V], None]) -> None:
        """`last` gets what there is, or what there will be where it is still being made."""

        def given(task: asyncio.Task[V]) -> None:
            if not task.cancelled() and not task.exception():
                last(task.result())

        task = self._tasks.pop(key)
        if task.done():
            given(task)
        else:
            task.add_done_callback(given)

    def known(self) -> list[K]:
        return list(self._tasks)

    async def stop(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _do(self, key: K) -> V:
        return await self._work(key)
