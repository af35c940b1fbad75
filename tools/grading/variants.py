"""Answers made from a reference answer that a sound checker must refuse, or must accept: proof for the gate.

A checker is believed when it accepts the reference answer and every harmless variant, and refuses every near miss.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from agent_world.tools.grading.spoilt import alike, is_number, wrong


@dataclass(frozen=True, slots=True)
class Variant:
    name: str
    """What was done, in plain words."""
    answer: dict[str, Any]


def near_misses(
    answer: Mapping[str, Any],
    schema: Mapping[str, Any] | None = None,
    *,
    ordered: Collection[str] = (),
    judged: Collection[str] = (),
) -> list[Variant]:
    """Wrong answers close to `answer`: each must score 0. `schema` is the answer's; lists of the fields in `ordered`
    are wrong in another order; of the fields in `judged`, which only a judge decides, no wording is wrong by itself."""
    found = [Variant("no field at all", {})] if answer else []
    found.append(Variant("a field too many", {**answer, "_extra": 1}))
    for name, value in answer.items():
        found.append(Variant(f"{name} left out", {k: v for k, v in answer.items() if k != name}))
        wrongs = wrong(value, name in ordered) if name not in judged else [("null", None), ("empty", "")]
        if is_number(value) and not _allows_text(schema, name):
            wrongs.append(("as text", str(value)))
        elif is_number(value):
            wrongs.append(("another sum with a currency sign", _money(value + 1)))
        found += [Variant(f"{name} {what}", {**answer, name: other}) for what, other in wrongs]
    return found


def harmless_variants(
    answer: Mapping[str, Any],
    schema: Mapping[str, Any] | None = None,
    *,
    ordered: Collection[str] = (),
    judged: Collection[str] = (),
) -> list[Variant]:
    """Answers that mean the same as `answer`: each must score 1. Lists of the fields in `ordered` keep their order;
    a number may stand as text, with a currency sign too, where `schema` allows text. The forms that a final response
    may have are among them, so that there is always one."""
    found = [Variant("fields in another order", dict(reversed(list(answer.items()))))] if len(answer) > 1 else []
    for name, value in answer.items():
        likes = alike(value, name in ordered) if name not in judged else []
        if is_number(value) and _allows_text(schema, name):
            likes += [("as text", str(value)), ("with a currency sign", _money(value))]
        found += [Variant(f"{name} {what}", {**answer, name: other}) for what, other in likes]
    return found


def _money(value: int | float) -> str:
    return f"{'-' if value < 0 else ''}${abs(value)}"


def text_variants(answer: Mapping[str, Any]) -> list[str]:
    """Final responses that all state `answer`, for `parse_answer`."""
    compact = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    indented = json.dumps(answer, ensure_ascii=True, indent=2)
    return [compact, f"  {indented}\n", f"```json\n{compact}\n```", f"Here it is:\n```\n{indented}\n```\n"]


def _allows_text(schema: Mapping[str, Any] | None, name: str) -> bool:
    kind = ((schema or {}).get("properties", {}).get(name) or {}).get("type", ())
    return "string" in ([kind] if isinstance(kind, str) else kind)
