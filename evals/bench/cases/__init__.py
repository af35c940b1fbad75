"""The cases, by subject. Each module registers its own when it is imported."""

import importlib

MODULES = ("calls", "state", "programs", "life", "determinism", "time", "resources", "reach", "processes", "tampering")


def load() -> None:
    for name in MODULES:
        importlib.import_module(f"{__name__}.{name}")
