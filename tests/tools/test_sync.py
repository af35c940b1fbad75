from concurrent.futures import ThreadPoolExecutor

import pytest

from agent_world.errors import UsageError
from agent_world.memory.store import Bundle
from agent_world.settings import LocalRuntime
from agent_world.tools.sync import open_sync_runtime


def test_a_plain_thread_can_use_an_instance(library: Bundle) -> None:
    with open_sync_runtime(LocalRuntime()) as runtime:
        instance = runtime.open(library.root)
        start = instance.state_hash()
        assert instance.call("update_book_copies", {"book_id": "B001", "copies": 9}).ok
        assert len(instance.diff().changes) == 1
        kept = instance.snapshot()
        instance.reset()
        assert instance.state_hash() == start
        instance.restore(kept)
        assert instance.run("def f(tools): return tools.get_book(book_id='B001')['copies']", "f", {}).value == 9
        instance.close()


def test_many_threads_share_a_runtime(library: Bundle) -> None:
    def title(book: str) -> str:
        instance = runtime.open(library.root)
        try:
            found: str = instance.call("get_book", {"book_id": book}).value["title"]
            return found
        finally:
            instance.close()

    with open_sync_runtime(LocalRuntime()) as runtime, ThreadPoolExecutor(8) as pool:
        titles = list(pool.map(title, ["B001", "B002", "B003", "B004"] * 4))
    assert titles == ["Dracula", "Frankenstein", "Emma", "Persuasion"] * 4


def test_a_failed_start_is_raised_and_leaves_nothing() -> None:
    with pytest.raises(UsageError), open_sync_runtime(LocalRuntime(clock="never")):
        pass
