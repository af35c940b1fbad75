"""Real gradient steps on real episodes: SFT and GRPO of a small policy in the library."""

import asyncio
import json
from pathlib import Path

import pytest

from agent_world.agents.episode import Limits, run_episodes
from agent_world.errors import UsageError
from agent_world.memory.store import Bundle
from agent_world.schema import ToolSpec, Trajectory
from agent_world.settings import (
    ChatPolicy,
    CheckpointPolicy,
    GRPOSettings,
    ModelConfig,
    Settings,
    SFTSettings,
    TinyPolicy,
)
from agent_world.tools.runtime import open_runtime
from agent_world.training.grpo import grpo_options, train_grpo
from agent_world.training.policies import DONE, initial_policy, load_checkpoint, open_policy, template_message
from agent_world.training.renaming import Renaming, particular_tokens
from agent_world.training.resume import last_checkpoint
from agent_world.training.sft import train_sft
from tests.library import gold, library_tasks
from tests.worlds import library_tools, make_library

TASKS = library_tasks()
TOOLS = {"library": library_tools()}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("training")


@pytest.fixture(scope="module")
def settings(root: Path) -> Settings:
    return Settings(
        workspace=root,
        policy=TinyPolicy(layers=3, hidden=96, head_size=32, feed_forward=128, vocabulary=1600, threads=1),
        sft=SFTSettings(steps=50, batch=8, save_steps=20, max_tokens=700, learning_rate=2e-3, rename=0.0),
        grpo=GRPOSettings(
            steps=2, tasks_per_step=8, rollouts=4, temperature=1.5, learning_rate=1e-3, beta=0.01,
            turn_tokens=40, max_tokens=300, max_calls=4, save_steps=1,
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def library(root: Path) -> Bundle:
    return make_library(root / "library")


@pytest.fixture(scope="module")
def demonstrations(library: Bundle, settings: Settings) -> list[Trajectory]:
    async def make() -> list[Trajectory]:
        async with open_runtime(settings.runtime) as runtime:
            return await gold(TASKS, library, runtime)

    return asyncio.run(make())


@pytest.fixture(scope="module")
def untrained(settings: Settings, demonstrations: list[Trajectory], root: Path) -> Path:
    return initial_policy(settings, demonstrations, list(TOOLS.values()), root / "initial")


@pytest.fixture(scope="module")
def trained(settings: Settings, demonstrations: list[Trajectory], untrained: Path, root: Path) -> Path:
    return train_sft(demonstrations, TOOLS, settings, untrained, root / "sft")


async def passed(policy: Path, settings: Settings, library: Bundle, count: int) -> int:
    async with open_runtime(settings.runtime) as runtime:
        items = [(task, library) for task in TASKS[:count]]
        found = await run_episodes(open_policy(settings, policy), items, runtime, Limits(max_turns=5))
    assert all(t.policy == str(policy) for t in found), "a record says which weights acted"
    return sum(t.score.reward == 1.0 for t in found)


@pytest.mark.slow
async def test_sft_teaches_a_policy_that_could_do_nothing(
    untrained: Path, trained: Path, settings: Settings, library: Bundle
) -> None:
    assert await passed(untrained, settings, library, 20) == 0
    assert await passed(trained, settings, library, 20) >= 5


@pytest.mark.slow
def test_grpo_takes_real_steps_and_logs_them(trained: Path, settings: Settings, library: Bundle, root: Path) -> None:
    lines: list[str] = []
    out = train_grpo(TASKS, {"library": library}, settings, trained, root / "grpo", lines.append)
    logged = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    steps = [entry for entry in logged if "grad_norm" in entry]
    assert [entry["step"] for entry in steps] == [1, 2, 3, 4]
    for name in ("reward", "kl", "clip_ratio/region_mean", "frac_reward_zero_std", "completions/clipped_ratio"):
        assert name in steps[0]
    assert any("reward" in line for line in lines)
    before, after = (load_checkpoint(path, "float32")[0].state_dict() for path in (trained, out))
    assert any(not before[name].equal(after[name]) for name in before)
    assert (out / DONE).exists()
    assert train_grpo(TASKS, {"library": library}, settings, trained, out) == out, "finished work is not repeated"


@pytest.mark.slow
def test_a_stopped_training_goes_on_from_its_last_saved_step(
    demonstrations: list[Trajectory], untrained: Path, settings: Settings, root: Path
) -> None:
    short = settings.model_copy(update={"sft": settings.sft.model_copy(update={"steps": 6, "save_steps": 2})})
    out = root / "stopped"

    def stop(line: str) -> None:
        if line.startswith("step 5"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_sft(demonstrations, TOOLS, short, untrained, out, stop)
    assert not (out / DONE).exists()
    (out / "trainer" / "checkpoint-5").mkdir()  # one that a kill cut short
    lines: list[str] = []
    train_sft(demonstrations, TOOLS, short, untrained, out, lines.append)
    assert lines[0] == "step 5 of 6"
    assert (out / DONE).exists()


def test_no_conversation_changes_its_tokens_as_it_grows(untrained: Path, demonstrations: list[Trajectory]) -> None:
    """So token ids may be concatenated turn by turn, as the trainer does, and are never encoded again."""
    _, tokenizer = load_checkpoint(untrained, "float32")
    public = [tool.public() for tool in library_tools()]
    for trajectory in demonstrations[::10]:
        messages = [template_message(message) for message in trajectory.messages]
        whole = tokenizer.apply_chat_template(messages, tools=public, return_dict=False)
        for cut in range(2, len(messages)):
            part = tokenizer.apply_chat_template(messages[:cut], tools=public, return_dict=False)
            assert whole[: len(part)] == part


def test_a_checkpoint_cut_short_is_passed_over(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path / "none") is None
    for step, text in ((9, '{"global_step": 9}'), (10, '{"global_st'), (100, None)):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        if text is not None:
            (folder / "trainer_state.json").write_text(text)
    assert last_checkpoint(tmp_path) == str(tmp_path / "checkpoint-9")


def test_renaming_is_consistent_and_spares_common_words(untrained: Path) -> None:
    import torch

    _, tokenizer = load_checkpoint(untrained, "float32")
    encode = lambda text: tokenizer(text)["input_ids"]  # noqa: E731
    texts = {name: [encode(f"how many {name} 123")] for name in ("book", "member", "loan")}
    groups = particular_tokens(tokenizer, texts)
    row = encode("how many book 123 book member")
    labels = [-100, *row[1:]]

    def collate(rows: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
        return {name: torch.tensor([r[name] for r in rows]) for name in rows[0]}

    batch = Renaming(collate, groups, len(tokenizer), 1.0, seed=0)([{"input_ids": row, "labels": labels}])
    found = batch["input_ids"][0].tolist()
    where = {token: [i for i, t in enumerate(row) if t == token] for token in row}
    assert all(len({found[i] for i in places}) == 1 for places in where.values()), "the same exchange throughout"
    for word in ("how", "many"):
        place = row.index(encode(word)[0])
        assert found[place] == row[place]
    changed = [i for i in range(len(row)) if found[i] != row[i]]
    assert row.index(encode("book")[0]) in changed
    assert batch["labels"][0].tolist() == [-100, *found[1:]]


@pytest.mark.parametrize(("tasks", "rollouts", "micro", "accumulate"), [(16, 8, 32, 2), (4, 4, 8, 1), (5, 6, 15, 1)])
def test_a_step_is_one_batch_of_rollouts_in_two_updates(tasks: int, rollouts: int, micro: int, accumulate: int) -> None:
    options = grpo_options(GRPOSettings(steps=3, tasks_per_step=tasks, rollouts=rollouts))
    assert options["max_steps"] == 6
    assert options["per_device_train_batch_size"] == micro
    assert options["gradient_accumulation_steps"] == accumulate
    assert micro * options["steps_per_generation"] == tasks * rollouts
    assert (options["epsilon"], options["epsilon_high"]) == (0.2, 0.28)


def test_unknown_models_are_named_in_one_sentence(root: Path, settings: Settings) -> None:
    asked = settings.model_copy(update={"policy": CheckpointPolicy(model=str(root / "no such model"))})
    with pytest.raises(UsageError, match=r"Cannot load the model '.*no such model'"):
        open_policy(asked)
    with pytest.raises(UsageError, match="no weights"):
        open_policy(settings)


def test_a_chat_policy_can_act_but_not_be_trained(
    settings: Settings, demonstrations: list[Trajectory], root: Path
) -> None:
    chat = ChatPolicy(model=ModelConfig(name="openai:gpt", api_key="none"))
    asked = settings.model_copy(update={"policy": chat})
    assert open_policy(asked).name == "openai:gpt"
    with pytest.raises(UsageError, match="cannot be trained"):
        train_sft(demonstrations, TOOLS, asked, root, root / "chat")


def test_conversations_of_unknown_environments_are_refused(
    settings: Settings, demonstrations: list[Trajectory], untrained: Path, root: Path
) -> None:
    tools: dict[str, list[ToolSpec]] = {}
    with pytest.raises(UsageError, match="environments library"):
        train_sft(demonstrations, tools, settings, untrained, root / "none")
