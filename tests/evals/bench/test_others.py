"""The conformance suite against the other backends: E2B by the double of its wire protocol, MCP by a server of ours.

The double is no sandbox, so that only behaviour is asked of it; of MCP a part, for its servers are slow to start.
"""

import asyncio
from functools import lru_cache

import pytest

from agent_world.evals.bench.backends import subject
from agent_world.evals.bench.registry import ConformanceReport, all_cases
from agent_world.settings import E2BRuntime
from tests.e2b_double import KEY, open_double


@lru_cache
def certified() -> ConformanceReport:
    async def certify() -> ConformanceReport:
        async with open_double() as cloud:
            config = E2BRuntime.model_validate({"api_key": KEY, "api_url": cloud.url, "sandbox_url": cloud.url})
            return await subject("e2b", config=config).certify(only="behaviour:", jobs=6, tolerance_s=None)

    return asyncio.run(certify())


@pytest.mark.slow
@pytest.mark.parametrize("name", [case.name for case in all_cases() if case.group == "behaviour"])
def test_e2b_behaves(name: str) -> None:
    result = next(result for result in certified().results if result.name == name)
    if result.name == "same seed, same observations and hash, in another process of ours":
        assert result.reason == "no other process of ours was given to open it in"
    else:
        assert result.status == "passed", result.reason


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize("only", ["a wrong", "is named", "after a crash", "a file outside that anyone"])
async def test_a_foreign_server_conforms(only: str) -> None:
    report = await subject("mcp").certify(only=only, jobs=2, tolerance_s=None)
    failed = [(result.name, result.reason) for result in report.results if result.status == "failed"]
    assert failed == []
    assert any(result.status == "passed" for result in report.results)
