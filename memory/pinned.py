"""The settings that a workspace was made with: kept at its first finished unit, held against those of later runs.

Compared is what can change what was made. Addresses and keys, prices, timeouts, pauses, retries, how much runs at once
and where are not; nor are settings of stages that lie ahead; nor themes, as each is a unit of its own: one may come at
any time.
"""

import json
import re
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from agent_world.errors import StoreError, UsageError
from agent_world.memory.store import write_text
from agent_world.settings import Role, Settings

FILE = "settings.json"
FREE = re.compile(
    r"(workspace|concurrency|themes|executor\..*|index\..*"
    r"|(roles\.\w+|policy)\.model\.(base_url|api_key|timeout_s|retries|input_price|output_price)"
    r"|web\.(host|port|browser|page_timeout_s|delay_s|recycle_pages)"
    r"|web\.search\.(address|base_url|api_key|timeout_s|retries|proxy|ca_file)"
    r"|runtime\.(api_key|domain|api_url|sandbox_url|lifetime_s|\w+_timeout_s|max_instances|total_memory_mb|ahead"
    r"|share_from_mb))"
)
AHEAD = {
    r"tools\..*|roles\.coder\..*": ("done/tools/*",),
    r"taxonomy\..*|roles\.taxonomist\..*": ("taxonomy.yaml",),
    r"(tasks|arena)\..*|roles\.(synthesizer|validator)\..*": ("done/tasks/*",),
    r"(policy|sft|grpo|growth)\..*|roles\.diagnoser\..*": ("done/demonstrations/*", "policies/*", "arena/*"),
}
"""Settings, and the files of their stage without which nothing rests on them yet."""
SHOWN = 3
"""Differences told with their values."""


def pin(root: Path, settings: Settings) -> None:
    """Remember `settings`, which have passed `check`, as those that the workspace is made with."""
    path = root / FILE
    text = json.dumps(settings.model_dump(mode="json", exclude={"workspace"}), indent=1) + "\n"
    if not path.exists() or path.read_text() != text:
        write_text(path, text)


def is_pinned(root: Path) -> bool:
    return (root / FILE).exists()


def check(root: Path, settings: Settings) -> None:
    """Raises `UsageError` where what the workspace holds was made in another way than `settings` would make it."""
    if not is_pinned(root):
        return
    before, now = _compared(_read(root)), _compared(settings)
    ahead = [pattern for pattern, made in AHEAD.items() if not any(any(root.glob(name)) for name in made)]
    rests = [key for key in sorted(before | now) if not any(re.fullmatch(pattern, key) for pattern in ahead)]
    changed = [key for key in rests if before.get(key) != now.get(key)]
    if changed:
        told = [f"{key} was {_shown(before.get(key))}, not {_shown(now.get(key))}" for key in changed[:SHOWN]]
        more = f", and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
        raise UsageError(
            f"{root} was made with other settings: {'; '.join(told)}{more}; go on with the old ones, start over by "
            "--fresh of mine, build or evolve, or set workspace=FOLDER."
        )


def _read(root: Path) -> Settings:
    path = root / FILE
    try:
        return Settings.model_validate({**json.loads(path.read_text()), "workspace": root})
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise UsageError(
            f"{root} was made by another version, whose setting {place} this one does not read; start over by --fresh "
            "of mine, build or evolve, or set workspace=FOLDER."
        ) from error
    except (ValueError, TypeError) as error:
        raise StoreError(f"{path} is damaged; start over by --fresh of mine, build or evolve.") from error


def _compared(settings: Settings) -> dict[str, Any]:
    """Values by dotted key, without those that are free."""
    found: dict[str, Any] = {}

    def walk(value: Any, key: str) -> None:
        if isinstance(value, dict) and value:
            for name, inner in value.items():
                walk(inner, f"{key}.{name}" if key else str(name))
        elif not FREE.fullmatch(key):
            found[key] = value

    roles = {role: settings.role(role).model_dump(mode="json") for role in get_args(Role)}
    walk(settings.model_dump(mode="json") | {"roles": roles}, "")
    return found


def _shown(value: Any) -> str:
    text = "left out" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
