"""How a hostile snippet becomes a case."""

from collections.abc import Callable
from typing import Any

from agent_world.evals.bench.lab import Lab, Need, must
from agent_world.evals.bench.registry import Case, add_case

FAILED = ("exception", "tool_error", "crashed", "timeout", "out_of_memory", "invalid_output")
"""However a snippet may end that must not succeed."""


def hostile(
    name: str,
    body: str,
    *needs: Need,
    errors: tuple[str, ...] | None = None,
    value: Callable[[Any], bool] | None = None,
    says: str = "",
) -> None:
    """Register `body`, run inside an instance as a function's body.

    `errors` are the codes that it may end with; `value`, what it may return; both: either will do. Neither: how it
    ends does not matter, only that nothing and nobody outside is harmed (which every case checks). @CANARY@ and
    @PORT@ are the traps, @PID@ is our process.
    """

    async def work(lab: Lab) -> None:
        seen, instance = await lab.attack(body)
        text = seen.text[:200]
        if value is not None and (seen.ok or errors is None):
            must(seen.ok and value(seen.value["value"]), f"it ended with {text}.")
        elif errors is not None:
            must(not seen.ok and seen.error in errors, f"it ended with {text} instead of {' or '.join(errors)}.")
        must(says in seen.text, f"it ended with {text}, which does not say {says!r}.")
        lab.traps.check(str(await instance.diff()))

    add_case(Case("containment", name, needs, work))
