"""Programs whose memory lies at the same addresses every time, so that `repr(object())` and the order of a set do."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

_ADDR_NO_RANDOMIZE, _ASK = 0x0040000, 0xFFFFFFFF


@contextmanager
def fixed_addresses() -> Iterator[None]:
    """What this thread starts in here, and what that starts, has no address space randomisation (Linux: personality).

    Nothing changes for our own process, nor for what other threads start. Where it is refused (by a container's own
    seccomp), all goes on with addresses as chance has them.
    """
    personality = ctypes.CDLL(None).personality
    personality.argtypes = (ctypes.c_ulong,)
    before = personality(_ASK)
    if before < 0:
        yield
        return
    personality(before | _ADDR_NO_RANDOMIZE)
    try:
        yield
    finally:
        personality(before)
