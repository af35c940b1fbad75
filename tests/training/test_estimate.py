"""`build --dry-run`: what it would take is said, and nothing is made."""

from pathlib import Path

from agent_world.agents.themes.sources import add_source
from agent_world.memory.workspace import Outcome, Spent, Workspace
from agent_world.settings import ModelConfig, PrdThemeSource, RoleConfig, Settings, load_settings
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
    told = (
        "about 10 calls (8 s each), at most 33 with retries, about 60000 tokens read, 9000 written, about 0.15 dollars"
    )
    assert f"miner (openai:strong): {told}, at most 0.49" in lines
    assert "coder" not in lines
    assert not (tmp_path / "w").exists()


async def test_a_price_that_is_not_known_is_not_made_up(tmp_path: Path) -> None:
    assert "price not set" in "\n".join(await estimate(settings(tmp_path / "w")))


async def test_what_is_done_is_left_out_and_calls_cost_what_they_cost_here(tmp_path: Path) -> None:
    workspace, other = tmp_path / "w", tmp_path / "maps.md"
    other.write_text("# Old maps\n\nOld maps in their boxes, and who comes to see them.\n")
    add_source(workspace, PrdThemeSource(path=other))
    spent = Spent(role="miner", model="openai:strong", calls=10, input_tokens=1000, output_tokens=100, seconds=1200)
    Workspace(workspace).finish("mine", "storm_watch", Outcome(line="3 tables", spent=(spent,)))
    lines = "\n".join(await estimate(settings(workspace)))
    assert "2 themes, 0 dropped" in lines
    assert "1 of them are done in" in lines
    assert "about 10 calls (120 s each), at most 33 with retries, about 1000 tokens read, 100 written" in lines
    assert "About 7 minutes on 3 cores" in lines
