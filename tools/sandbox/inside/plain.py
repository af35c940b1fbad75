"""Whether a module of tools only defines: then nobody can tell when it is executed, and it may be before it is needed.

Found by executing it once, in the process that compiles it and is thrown away: it must not look at a clock, at chance
or at files, print, or do anything else that Python reports to audit hooks, beyond making code. A module that behaves
otherwise elsewhere cheats its own instances alone.
"""

import random
import sys
import types
from typing import Any

from . import frozen

_MAKING_CODE = frozenset(
    {
        "builtins.id", "code.__new__", "compile", "exec", "function.__new__", "object.__getattr__",
        "object.__setattr__", "sys._getframe", "sys._getframemodulename",
    }
)  # fmt: skip
_WORLD = f"{__package__}.frozen"
"""Modules by which clock, chance and files are seen."""


def only_defines(code: types.CodeType, space: dict[str, Any], printed: list[str]) -> bool:
    """Executes `code` in `space`; once a process, because audit hooks stay. `printed` is where its output goes."""
    seen: list[str] = []

    def look(frame: types.FrameType, event: str, _: Any) -> None:
        if event == "call" and str(frame.f_globals.get("__name__")).startswith(_WORLD):
            seen.append(frame.f_code.co_name)

    chance, loaded = (random.getstate(), frozen.chance()), set(sys.modules)
    sys.setprofile(look)
    sys.addaudithook(lambda event, _: None if event in _MAKING_CODE else seen.append(event))
    try:
        exec(code, space)
    # The edge of what is not ours: a module that fails does so again at its first use, where it is told.
    except BaseException:
        return False
    finally:
        met = len(seen)
        sys.setprofile(None)
    return not met and not printed and set(sys.modules) == loaded and (random.getstate(), frozen.chance()) == chance
