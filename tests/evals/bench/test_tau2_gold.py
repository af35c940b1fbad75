"""The replay of tau2's gold action lists; skipped where ../shared is absent."""

import json
import os
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
    report = await replay_gold(DATA, lambda line: None)
    found = report.summary()
    assert json.loads(report.model_dump_json())["tasks"] == 114
    assert set(report.unserved) == {"transfer_to_human_agents"}
    assert found["actions"] == 550
    assert found["actions comparable"] >= 546
    assert found["actions accepted"] >= 540
    assert found["lookups checked"] == found["lookups that hold the source's record"] > 300
    assert found["tasks fully replayed"] >= 105
