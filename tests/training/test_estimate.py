"""`build --dry-run`: what it would take is said, and nothing is made."""

from pathlib import Path

from agent_world.settings import ModelConfig, RoleConfig, Settings, load_settings
from agent_world.training.stages.estimate import estimate

CONFIG = Path(__file__).parents[2] / "configs" / "discovery.yaml"


def settings(workspace: Path, **price: float) -> Settings:
    themes = "themes=[{kind: prd, path: ../examples/themes/storm_watch.md}]"
    found = load_settings(CONFIG, [f"workspace={workspace}", themes, "mining.pages=10", "mining.turns=9"])
    model = ModelConfig(name="openai:strong", **price)
    return found.model_copy(update={"roles": {"miner": RoleConfig(engine="llm", model=model)}})


async def test_units_calls_and_money_are_told_and_the_workspace_stays_empty(tmp_path: Path) -> None:
    lines = "\n".join(await estimate(settings(tmp_path / "w", input_price=1.0, output_price=10.0)))
    assert "1 themes, 0 dropped" in lines
    assert "miner (openai:strong): at most 10 calls, about 60000 tokens read, 9000 written, about 0.15 dollars" in lines
    assert "coder" not in lines
    assert not (tmp_path / "w").exists()


async def test_a_price_that_is_not_known_is_not_made_up(tmp_path: Path) -> None:
    assert "price not set" in "\n".join(await estimate(settings(tmp_path / "w")))
