"""The gold action lists of tau2-bench's retail tasks, replayed on tools that were written from its data and specs.

The data (`db.json`) is imported and the tools are written here, from nothing else; `tasks.json` is only read for the
replay. What an action looks up is held against `db.json` itself, which the environment never sees.
"""

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from agent_world.agents.coder.data import read_data
from agent_world.agents.coder.service import unserved
from agent_world.agents.importer import import_database
from agent_world.errors import UsageError
from agent_world.graphs.deps import Deps, open_deps
from agent_world.graphs.write_tools import write_tools
from agent_world.memory.store import Bundle
from agent_world.schema import Json, Record
from agent_world.settings import Settings, ToolSettings
from agent_world.tools.runtime import Instance

MOST_TOOLS = 16
"""Enough for the real ones, which come first."""
FILES = ("db.json", "tools.json", "tasks.json")
ROWS = {"get_order_details": "orders", "get_user_details": "users", "get_product_details": "products"}
"""Lookups by the id of a record of the source."""
LOOKUPS = {*ROWS, "find_user_id_by_email", "find_user_id_by_name_zip", "get_item_details"}
STATUS = {
    "cancel_pending_order": "cancelled", "return_delivered_order_items": "return requested",
    "exchange_delivered_order_items": "exchange requested", "modify_pending_order_address": "pending",
    "modify_pending_order_payment": "pending", "modify_pending_order_items": "pending (items modifed)",
}  # fmt: skip
"""What the service's own policy says the order's status is afterwards, in its spelling."""

Kind = Literal["accepted", "no such record", "refused", "not comparable", "after a refusal"]
"""`no such record`: a lookup that the gold list makes in vain, and that finds nothing here either."""


AGREES = ("accepted", "no such record")


class Action(Record):
    """One gold action and what became of it."""

    task: str
    tool: str
    kind: Kind
    reason: str = ""
    holds: bool | None = None
    """Of a lookup: whether the output holds all of the source's record. None: no lookup, or its task wrote before."""
    status: bool | None = None
    """Of a write: whether the order's status is what the service's policy says. None where it says nothing."""


class GoldReport(Record):
    actions: tuple[Action, ...]
    tasks: int
    tables: int
    rows: int
    tools: int
    unserved: dict[str, str]
    """Real tool -> why no tool of the environment is it."""

    def summary(self) -> dict[str, Any]:
        kinds = Counter(action.kind for action in self.actions)
        lists: dict[str, list[Action]] = {}
        for action in self.actions:
            lists.setdefault(action.task, []).append(action)
        comparable = [a for a in lists.values() if all(x.kind != "not comparable" for x in a)]
        return {
            "tasks": self.tasks,
            "tasks with gold actions": len(lists),
            "tasks all of whose actions are comparable": len(comparable),
            "tasks fully replayed": sum(all(x.kind in AGREES for x in a) for a in comparable),
            "actions": len(self.actions),
            "actions comparable": len(self.actions) - kinds["not comparable"],
            "actions accepted": kinds["accepted"],
            "actions in vain here and in the source": kinds["no such record"],
            "lookups checked": sum(a.holds is not None for a in self.actions),
            "lookups that hold the source's record": sum(a.holds is True for a in self.actions),
            "writes whose status the policy says": sum(a.status is not None for a in self.actions),
            "writes with that status": sum(a.status is True for a in self.actions),
            "tables": self.tables,
            "rows": self.rows,
            "tools": self.tools,
        }

    def reasons(self) -> list[dict[str, Any]]:
        """Why actions were not accepted or differ, counted."""
        found: Counter[tuple[str, str, str]] = Counter(
            (a.tool, a.kind, a.reason) for a in self.actions if a.kind not in AGREES
        )
        found.update((a.tool, "output lacks", a.reason) for a in self.actions if a.holds is False)
        found.update((a.tool, "other status", a.reason) for a in self.actions if a.status is False)
        return [
            {"tool": tool, "what": what, "number": number, "reason": reason}
            for (tool, what, reason), number in sorted(found.items(), key=lambda item: (-item[1], item[0]))
        ]


async def replay_gold(data: Path, note: Callable[[str], None], most: int | None = None) -> GoldReport:
    """The first `most` tasks, or all. Raises `UsageError` for a folder that is not tau2's retail domain."""
    for name in FILES:
        if not (data / name).is_file():
            raise UsageError(f"There is no {data / name}; give the folder of tau2's retail domain.")
    source, tasks = json.loads((data / "db.json").read_text()), json.loads((data / "tasks.json").read_text())[:most]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "environments" / "tau2_retail"
        note("importing the data")
        bundle, _ = await asyncio.to_thread(
            import_database, data / "db.json", root, name="tau2_retail", specs=data / "tools.json"
        )
        settings = Settings(workspace=Path(folder), tools=ToolSettings(max_tools=MOST_TOOLS))
        async with open_deps(settings, checkpoints=False) as deps:
            note("writing and testing the tools")
            await write_tools(bundle, deps)
            left = unserved(read_data(bundle), bundle.environment().theme, bundle.tools())
            found = []
            for number, task in enumerate(tasks, 1):
                note(f"replaying task {number} of {len(tasks)}")
                found += await _replay(bundle, deps, task, source, left)
        head = bundle.environment()
        return GoldReport(
            actions=tuple(found), tasks=len(tasks), tables=len(head.database.tables),
            rows=sum(table.rows for table in head.database.tables), tools=len(bundle.tools()), unserved=left,
        )  # fmt: skip


async def _replay(
    bundle: Bundle, deps: Deps, task: Mapping[str, Any], source: Mapping[str, Any], left: Mapping[str, str]
) -> list[Action]:
    """The task's list on a fresh instance; after a refusal the rest is not judged."""
    criteria = task.get("evaluation_criteria") or {}
    found: list[Action] = []
    instance = await deps.runtime.open(bundle.root)
    try:
        for action in criteria.get("actions") or []:
            found.append(await _act(instance, str(task["id"]), action, source, left, found))
    finally:
        await instance.close()
    return found


async def _act(
    instance: Instance, task: str, action: Mapping[str, Any], source: Mapping[str, Any], left: Mapping[str, str],
    before: list[Action],
) -> Action:  # fmt: skip
    tool, arguments = action["name"], action["arguments"]
    if tool in left:
        return Action(task=task, tool=tool, kind="not comparable", reason=left[tool])
    if any(a.kind == "refused" for a in before):
        return Action(task=task, tool=tool, kind="after a refusal", reason="an action before it was refused")
    seen = await instance.call(tool, arguments)
    if not seen.ok:
        vain = seen.error == "not_found" and tool in LOOKUPS and _wanted(tool, arguments, source) is None
        kind: Kind = "no such record" if vain else "refused"
        return Action(task=task, tool=tool, kind=kind, reason=_plain(seen.text, arguments))
    wrote = any(a.tool in STATUS or a.tool.startswith("modify") for a in before)
    lacking = None if wrote else _lacking(tool, arguments, seen.value, source)
    status = _status(tool, seen.value)
    return Action(
        task=task, tool=tool, kind="accepted", holds=None if lacking is None else not lacking,
        status=None if status is None else status == STATUS[tool],
        reason=lacking or (f"it is {status!r}, the policy says {STATUS[tool]!r}" if status else ""),
    )  # fmt: skip


def _plain(text: str, arguments: Mapping[str, Any]) -> str:
    """A refusal without its values, so that like ones count together."""
    for value in [v for given in arguments.values() for v in (given if isinstance(given, list) else [given])]:
        text = text.replace(str(value), "…") if value else text
    return " ".join(text.split())[:160]


def _status(tool: str, value: Json) -> str | None:
    return str(value.get("status")) if tool in STATUS and isinstance(value, dict) else None


# --- Lookups against the source ---------------------------------------------------------------------------


def _lacking(tool: str, arguments: Mapping[str, Any], value: Json, source: Mapping[str, Any]) -> str | None:
    """What of the source's record the output lacks, "" for nothing; None for what is no lookup of a record."""
    wanted = _wanted(tool, arguments, source)
    if wanted is None:
        return None
    leaves = [str(leaf) for _, leaf in _leaves(value)]
    there = set(leaves)
    lacking = {name for name, leaf in _leaves(wanted) if str(leaf) not in there and not _in_text(name, leaf, leaves)}
    return f"lacks {', '.join(sorted(lacking)[:5])}" if lacking else ""


def _wanted(tool: str, arguments: Mapping[str, Any], source: Mapping[str, Any]) -> Json:
    """The record that the lookup is about, found in the source by its own structure."""
    if tool in ROWS:
        return source[ROWS[tool]].get(next(iter(arguments.values())))
    users = source["users"].items()
    if tool == "find_user_id_by_email":
        return next((key for key, u in users if u["email"].lower() == arguments["email"].lower()), None)
    if tool == "find_user_id_by_name_zip":
        return next((key for key, user in users if _is_named(user, arguments)), None)
    if tool == "get_item_details":
        products = source["products"].values()
        return next(
            (p["variants"][arguments["item_id"]] for p in products if arguments["item_id"] in p["variants"]), None
        )
    return None


def _is_named(user: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    name = {key: value.lower() for key, value in user["name"].items()}
    wanted = {key: arguments[key].lower() for key in ("first_name", "last_name")}
    return name == wanted and user["address"]["zip"] == arguments["zip"]


def _leaves(value: Json, name: str = "") -> Iterator[tuple[str, Json]]:
    """Every scalar with the name of its field; keys of maps by id are values too, and are repeated in them."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, name)
    elif value is not None:
        yield name, value


def _in_text(name: str, leaf: Json, texts: list[str]) -> bool:
    """Whether it stands in a text form: `name: value; name: value`, or `value; value`."""
    return any(part in (f"{name}: {leaf}", str(leaf)) for text in texts if "; " in text or ": " in text
               for part in text.split("; "))  # fmt: skip
