import re
from pathlib import Path

import pytest

from agent_world.errors import UsageError
from agent_world.settings import Settings, load_settings

ROOT = Path(__file__).parent.parent
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.name)
def test_every_shipped_config_parses(path: Path) -> None:
    settings = load_settings(path)
    assert settings.themes
    assert all(source.path.exists() for source in settings.themes if source.kind != "mcp")


def test_there_are_shipped_configs() -> None:
    assert "quickstart.yaml" in [path.name for path in CONFIGS]


def test_overrides_go_on_top_and_are_typed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.yaml", "workspace: runs/a\nmining: {pages: 3}\n")
    settings = load_settings(path, ["mining.pages=7", "grpo.learning_rate=2e-4", "policy.kind=tiny"])
    assert (settings.mining.pages, settings.grpo.learning_rate) == (7, 2e-4)


@pytest.mark.parametrize(
    ("text", "overrides", "sentence"),
    [
        ("workspace: w\nminning: {}\n", [], r"unknown setting 'minning'; did you mean 'mining'\?"),
        ("workspace: w\n", ["mining.pags=3"], r"unknown setting 'mining.pags'; did you mean 'pages'\?"),
        ("seed: 3\n", [], "setting 'workspace' is missing; add it"),
        ("workspace: w\nrounds: many\n", [], r"setting 'rounds': .*got 'many'"),
        ("workspace: [\n", [], "is not YAML"),
        ("- a\n", [], "must hold a mapping"),
        ("workspace: w\n", ["rounds"], "must have the form key=value"),
        ("workspace: w\n", ["seed.a=1"], r"'seed' is not a section|setting 'seed'"),
        ("workspace: w\nroles: {coder: {engine: llm}}\n", [], "engine llm needs a model"),
    ],
)
def test_wrong_settings_end_in_one_sentence(tmp_path: Path, text: str, overrides: list[str], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_settings(write(tmp_path / "bad.yaml", text), overrides)
    assert "\n" not in str(caught.value)
    assert re.search(sentence, str(caught.value))


def test_the_papers_numbers_are_the_defaults(tmp_path: Path) -> None:
    settings = Settings(workspace=tmp_path)
    grpo, arena = settings.grpo, settings.arena
    assert (grpo.tasks_per_step, grpo.rollouts, grpo.epsilon, grpo.epsilon_high) == (32, 8, 0.2, 0.28)
    assert (arena.environments_per_type, settings.taxonomy.clusters, settings.taxonomy.types) == (5, 50, 20)
    assert (settings.tools.keep_above, settings.tasks.attempts, settings.tasks.keep_at) == (0.5, 5, 2)
