"""Where units of work run: in this process, or as tasks of Ray (setting `executor`).

A unit is a theme or an environment. Its work is a function of `Deps` that leaves what it makes in the workspace, so a
task of Ray opens a `Deps` of its own on the same workspace and makes the same bytes. The process that began the run
alone owns the workspace and keeps the markers of what is done.
"""

import asyncio
import os
import socket
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from agent_world.agents.model import first_line
from agent_world.errors import AgentWorldError, UsageError
from agent_world.graphs.deps import Deps, open_deps
from agent_world.memory.workspace import Failure, Outcome, Spent
from agent_world.settings import LocalExecutor, RayExecutor, Settings

Work = Callable[[Deps], Awaitable[Outcome]]
"""One unit's work; for Ray it must pickle: a function of a module, or `functools.partial` of one."""
LOST = 2
"""Times that a unit is begun again when the process or machine that ran it was lost."""
TRACE_CHARS = 4000
REACH_S = 5.0
STORE_BYTES = 200_000_000
"""Of shared memory for a Ray started here: units pass paths and outcomes, no data."""


class Executor(Protocol):
    async def run(self, unit: str, work: Work) -> Outcome:
        """Do the work of one unit, named for messages. Whatever breaks, or is lost, is a failure in the outcome."""
        ...


@asynccontextmanager
async def open_executor(deps: Deps) -> AsyncIterator[Executor]:
    """What the settings of `deps` name. Raises `UsageError` where Ray is not installed or cannot be reached."""
    match deps.settings.executor:
        case LocalExecutor():
            yield InProcess(deps)
        case RayExecutor() as config:
            ray = _import_ray()
            ours = not ray.is_initialized()
            if ours:
                _connect(ray, config, deps.settings.concurrency)
            try:
                await deps.serve_examples()
                yield OnRay(deps, ray.remote(_run_unit).options(num_cpus=config.cpus, max_retries=LOST))
            finally:
                if ours:
                    ray.shutdown()


@dataclass(frozen=True, slots=True)
class InProcess:
    deps: Deps

    async def run(self, unit: str, work: Work) -> Outcome:
        async with self.deps.apart() as deps:
            return await _attempt(work, deps)


@dataclass(frozen=True, slots=True)
class OnRay:
    deps: Deps
    task: Any
    """`_run_unit` as a remote function."""

    async def run(self, unit: str, work: Work) -> Outcome:
        import ray

        result = self.task.remote(_settings_there(self.deps.settings), work)
        try:
            outcome = Outcome.model_validate(await result)
        except asyncio.CancelledError:
            ray.cancel(result)
            raise
        except ray.exceptions.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, Exception) else error
            return Outcome(failure=_failure(cause))
        except ray.exceptions.RayError as error:
            return Outcome(failure=_failure(AgentWorldError(f"{unit}: Ray lost it ({type(error).__name__}).")))
        return outcome


async def _attempt(work: Work, deps: Deps) -> Outcome:
    # Broad, at the edge of a unit: whatever breaks in one of them must not stop the others.
    try:
        outcome = await work(deps)
    except Exception as error:
        outcome = Outcome(failure=_failure(error))
    return outcome.model_copy(update={"spent": spent_by(deps)})


def spent_by(deps: Deps) -> tuple[Spent, ...]:
    """What the chat models of `deps` that were asked anything have cost."""
    used = {role: model for role, model in deps.models_used().items() if model.usage.calls}
    return tuple(Spent(role=role, model=used[role].name, **asdict(used[role].usage)) for role in sorted(used))


def _failure(error: Exception) -> Failure:
    """Errors of ours are a sentence that says all; of others, the place is kept too."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, AgentWorldError):
        return Failure(kind=type(error).__name__, reason=str(error))
    trace = "".join(traceback.format_exception(error))[-TRACE_CHARS:]
    return Failure(kind=type(error).__name__, reason=f"{type(error).__name__}: {first_line(error)}", trace=trace)


# --- In a task ---------------------------------------------------------------------------------------------------


def _settings_there(settings: Settings) -> Settings:
    """For a task: it runs in another folder, and the offline web runs already."""
    web = settings.web.model_copy(update={"serve_examples": False})
    update = {"workspace": settings.workspace.resolve(), "executor": LocalExecutor(), "web": web}
    return settings.model_copy(update=update)


def _run_unit(settings: Settings, work: Work) -> dict[str, Any]:
    """One unit's outcome as JSON."""
    from agent_world.progress import quiet_libraries

    quiet_libraries()

    async def run() -> dict[str, Any]:
        async with open_deps(settings, checkpoints=False) as deps:
            return (await _attempt(work, deps)).model_dump(mode="json")

    return asyncio.run(run())


# --- Ray itself --------------------------------------------------------------------------------------------------


def _import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        import ray.exceptions
    except ModuleNotFoundError as error:
        raise UsageError(
            "executor: ray needs the package ray, which is not installed; pip install 'agent-world[ray]', "
            "or set executor=local."
        ) from error
    return ray


def _connect(ray: Any, config: RayExecutor, concurrency: int) -> None:
    """Join the cluster at the address, or start Ray here. Ray itself waits for minutes where nobody answers."""
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if config.address is None:
        cpus = max(1, round(concurrency * config.cpus))
        quiet |= {"num_cpus": cpus, "include_dashboard": False, "object_store_memory": STORE_BYTES}
    elif config.address != "auto":
        _require_answer(config.address)
    try:
        ray.init(address=config.address or "local", **quiet)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise _unreachable(config.address or "this machine", str(error).splitlines()[0]) from error


def _require_answer(address: str) -> None:
    parts = urlsplit(address if "://" in address else f"ray://{address}")
    try:
        if not parts.hostname or not parts.port:
            raise OSError("it must be host:port or ray://host:port")
        socket.create_connection((parts.hostname, parts.port), timeout=REACH_S).close()
    except (OSError, ValueError) as error:
        raise _unreachable(address, str(error)) from error


def _unreachable(address: str, reason: str) -> UsageError:
    return UsageError(
        f"Ray at {address} cannot be reached ({reason}); start it there (ray start --head), set executor.address, "
        "or set executor=local."
    )
