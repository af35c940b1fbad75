"""The replay of tau2's gold action lists; skipped where ../shared is absent."""

import os
from collections import Counter
from pathlib import Path

import pytest

from agent_world.errors import UsageError
from agent_world.evals.bench.tau2_gold import replay_gold

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("AGENT_WORLD_SHARED", ROOT.parent / "shared")) / "data" / "tau2_retail"


async def test_a_folder_that_is_not_the_domain_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"There is no .*db\.json"):
        await replay_gold(tmp_path, print)


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the shared data is not beside the checkout")
async def test_gold_lists_of_tau2_are_accepted_by_the_tools_written_for_it() -> None:
    report = await replay_gold(DATA, lambda line: None, most=20)
    found = report.summary()
    assert (found["tasks"], found["tables"], found["rows"]) == (20, 8, 7493)
    assert set(report.unserved) == {"transfer_to_human_agents"}
    kinds = Counter(action.kind for action in report.actions)
    assert kinds["accepted"] > 60
    assert kinds["refused"] == kinds["after a refusal"] == 0
    assert found["lookups checked"] == found["lookups that hold the source's record"] > 30
    assert found["writes with that status"] > 10
    assert found["tasks fully replayed"] == found["tasks all of whose actions are comparable"] >= 18
