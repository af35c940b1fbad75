"""Addresses that are the same in every process. Before all else is loaded, for it may start the interpreter over."""

import ctypes
import os
import sys

_ASK, _NO_RANDOM_ADDRESSES = 0xFFFFFFFF, 0x0040000
"""Of the system call `personality`."""


def begin_without_chance() -> None:
    """Start over, once, without random addresses; where that is refused, go on as it is."""
    personality = ctypes.CDLL(None).personality
    personality.argtypes = (ctypes.c_ulong,)
    before = personality(_ASK)
    if before >= 0 and not before & _NO_RANDOM_ADDRESSES and personality(before | _NO_RANDOM_ADDRESSES) >= 0:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
