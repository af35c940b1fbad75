import asyncio
from pathlib import Path

import pytest
import yaml

from agent_world.cli import main
from agent_world.errors import SandboxError, UsageError
from agent_world.memory.import_server import RUNTIME, import_server
from agent_world.memory.store import Bundle, Store
from agent_world.schema import StateDiff
from agent_world.settings import McpRuntime, Settings
from agent_world.tools.runtime import open_runtime
from agent_world.tools.sync import open_sync_runtime

ROOT = Path(__file__).parent.parent.parent
NOTES = ("{python}", str(ROOT / "tests" / "tools" / "mcp_notes.py"))
pytestmark = pytest.mark.server


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "data" / "deep" / "first.txt").write_text("hello")
    return tmp_path / "data"


def test_a_server_becomes_an_environment_by_one_command(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.yaml").write_text(f"workspace: {tmp_path / 'workspace'}\n")
    words = [
        "import",
        "mcp",
        "-c",
        str(tmp_path / "config.yaml"),
        "--name",
        "My notes",
        "--data",
        str(data),
        "--",
        *NOTES,
    ]
    assert main(words) == 0
    said, setting = capsys.readouterr().out.splitlines()
    assert said.startswith("my_notes: 11 tools, 1 files in ")
    bundle = Store(tmp_path / "workspace").bundle("my_notes")
    assert bundle.environment().content_hash == bundle.content_hash()
    assert [spec.name for spec in bundle.tools()][:2] == ["write_note", "read_note"]
    assert bundle.tools()[1].annotations.read_only
    settings = Settings.model_validate({"workspace": "w", "runtime": yaml.safe_load(setting.removeprefix("runtime="))})
    assert settings.runtime == McpRuntime.model_validate_json((bundle.root / RUNTIME).read_text())
    asyncio.run(_use(bundle, settings.runtime))
    assert main(words) == 2
    assert "There is already an environment at" in capsys.readouterr().err


async def _use(bundle: Bundle, runtime: McpRuntime) -> None:
    async with open_runtime(runtime) as opened:
        instance = await opened.open(bundle.root)
        assert await instance.diff() == StateDiff()
        assert (await instance.call("read_note", {"name": "deep/first.txt"})).value == "hello"
        await instance.call("write_note", {"name": "second.txt", "text": "x"})
        assert [change.key for change in (await instance.diff()).changes] == ["second.txt"]
        await instance.reset()
        assert await instance.diff() == StateDiff()


async def test_code_that_is_not_async_uses_it_as_any_environment(data: Path, tmp_path: Path) -> None:
    bundle = await import_server(McpRuntime(command=NOTES), tmp_path / "notes", name="notes", data=data)

    def use() -> None:
        with open_sync_runtime(McpRuntime(command=NOTES)) as runtime:
            instance = runtime.open(bundle.root)
            start = instance.state_hash()
            assert instance.call("write_note", {"name": "b.txt", "text": "x"}).ok
            assert len(instance.diff().changes) == 1
            instance.reset()
            assert instance.state_hash() == start

    await asyncio.to_thread(use)


async def test_test_calls_teach_what_the_schemas_do_not_say(data: Path, tmp_path: Path) -> None:
    config = McpRuntime(command=NOTES)
    bundle = await import_server(config, tmp_path / "notes", name="notes", data=data, learning=True)
    tools = {spec.name: spec for spec in bundle.tools()}
    assert "Give exactly one of 'name' and 'text'." in tools["find_note"].description
    assert tools["repeat"].input_schema["properties"]["times"] == {"type": "integer"}
    assert [path.name for path in bundle.database.rglob("*.txt")] == ["first.txt"]
    async with open_runtime(config) as runtime:
        instance = await runtime.open(bundle.root)
        assert (await instance.call("repeat", {"text": "ab", "times": "2"})).error == "invalid_arguments"
        assert (await instance.call("repeat", {"text": "ab", "times": 2})).value == {"text": "abab"}


async def test_what_a_server_makes_at_its_start_belongs_to_the_database(tmp_path: Path) -> None:
    config = McpRuntime(
        command=("{python}", "-c", "from mcp_server_sqlite import main; main()", "--db-path", "{data}/a.db")
    )
    bundle = await import_server(config, tmp_path / "shop", name="shop")
    assert [path.name for path in bundle.database.iterdir()] == ["a.db"]
    async with open_runtime(config) as runtime:
        assert await (await runtime.open(bundle.root)).diff() == StateDiff()


async def test_nothing_is_left_of_an_import_that_failed(tmp_path: Path, data: Path) -> None:
    broken = McpRuntime(command=("{python}", "-c", "raise SystemExit('no licence')"))
    with pytest.raises(SandboxError, match="no licence"):
        await import_server(broken, tmp_path / "there" / "x", name="x", data=data)
    assert list((tmp_path / "there").iterdir()) == []
    with pytest.raises(UsageError, match="no data at /no/such"):
        await import_server(broken, tmp_path / "there" / "x", name="x", data=Path("/no/such"))
    (data / "out").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="out cannot be taken along \\(a link\\)"):
        await import_server(broken, tmp_path / "there" / "x", name="x", data=data)
