"""The repository root on the path, so that tests import `tests.worlds` and `tests.openai_server`; long files first."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A file with a slow test goes before those without, so that no process is left with it alone at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
