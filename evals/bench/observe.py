"""What the local backend gives in a process of its own: `python -m agent_world.evals.bench.observe ROOT SEED [RUNG]`.

Prints JSON: the texts of three calls of `chance`, and the state hash after them.
"""

import asyncio
import json
import sys
from pathlib import Path


async def main(root: str, seed: str, rung: str) -> None:
    from agent_world.evals.bench.backends import subject
    from agent_world.evals.bench.cases.determinism import observe
    from agent_world.evals.bench.lab import Limits

    async with subject("local", rung or None).open(Limits()) as runtime:  # type: ignore[arg-type]
        print(json.dumps(await observe(runtime, Path(root), int(seed))))


if __name__ == "__main__":
    asyncio.run(main(*[*sys.argv[1:], ""][:3]))
