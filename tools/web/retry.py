"""Asking a service again: a bounded number of times, after the pause that it wishes for."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from agent_world.errors import WebError

T = TypeVar("T")
FIRST_PAUSE_S = 0.5
"""Doubled at each further attempt, where the service does not say how long to wait."""
LONGEST_PAUSE_S = 60.0
"""A service that wishes for more (a monthly quota is used up, say) is not asked again."""


class Busy(Exception):
    """The service limits the rate, or is down for a moment; `pause_s` is what it wishes for."""

    def __init__(self, reason: str, pause_s: float | None = None) -> None:
        super().__init__(reason)
        self.pause_s = pause_s


async def persist(service: str, retries: int, ask: Callable[[], Awaitable[T]]) -> T:
    """The answer of the first attempt that is not `Busy`. Raises `WebError` when all are."""
    attempt = 0
    while True:
        try:
            return await ask()
        except Busy as busy:
            pause = FIRST_PAUSE_S * 2**attempt if busy.pause_s is None else busy.pause_s
            if pause > LONGEST_PAUSE_S:
                raise WebError(f"{service} {busy}, and asks for a pause of {pause:.0f} s; try again later.") from busy
            if attempt == retries:
                raise WebError(f"{service} {busy}, {retries + 1} times in a row; try again later.") from busy
        attempt += 1
        await asyncio.sleep(pause)


def wished_pause(headers: Mapping[str, str]) -> float | None:
    """Seconds by `Retry-After` (a number or a date), else by the nearest of Brave's `X-RateLimit-Reset`."""
    stated = headers.get("retry-after", "").strip()
    resets = headers.get("x-ratelimit-reset", "").split(",")
    if stated.isdecimal():
        return float(stated)
    if stated:
        try:
            return max(0.0, (parsedate_to_datetime(stated) - datetime.now(UTC)).total_seconds())
        except (ValueError, TypeError):
            return None
    left = headers.get("x-ratelimit-remaining", "").split(",")
    # Of several windows (a second, a month), only those that are used up matter.
    used = [float(r) for r, n in zip(resets, left, strict=False) if r.strip().isdecimal() and n.strip() == "0"]
    return max(used, default=None)
