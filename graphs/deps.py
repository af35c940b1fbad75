"""What the nodes of all graphs share: settings, store, runtime, models, browser.

Nodes get it by `async with use_deps(runtime.context) as deps`. Graph state and context hold plain data only, so a
checkpoint never holds a live object and Studio can show and edit the context. Where a plain function (or the loop)
already holds a `Deps` for that context, the nodes share it; in Studio the first node opens one for itself.
"""

import asyncio
import contextvars
import hashlib
import itertools
import json
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot

from agent_world.agents.model import LangChainModel, open_model
from agent_world.agents.validator.judge import judge_by
from agent_world.errors import UsageError
from agent_world.memory.store import Store
from agent_world.progress import Progress, silent
from agent_world.settings import Role, Settings, load_settings
from agent_world.tools.grading import Judge
from agent_world.tools.runtime import Runtime, open_runtime

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from agent_world.graphs.executor import Executor
    from agent_world.tools.web.browser import Browser
    from agent_world.tools.web.search import SearchBackend


@dataclass(frozen=True, slots=True)
class Context:
    """Context schema of every graph: which settings a run uses."""

    config: str = "configs/quickstart.yaml"
    """A YAML file of settings."""
    overrides: tuple[str, ...] = ()
    """`key=value`, applied on top."""


@dataclass(frozen=True, slots=True)
class Deps:
    """Live things of one process. Opened by `open_deps`, closed with it."""

    settings: Settings
    store: Store
    runtime: Runtime
    progress: Progress
    context: Context
    """The context under which nodes find exactly this object."""
    _stack: AsyncExitStack
    _models: dict[Role, LangChainModel] = field(default_factory=dict)
    _browsers: list["Browser"] = field(default_factory=list)
    _sites: list[object] = field(default_factory=list)
    _savers: list["AsyncSqliteSaver"] = field(default_factory=list)
    _executors: list["Executor"] = field(default_factory=list)
    _checkpoints: Path | None = None
    _web_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _executor_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _whole: "Deps | None" = None
    """Of the `Deps` of one unit of work: that of the run."""

    def note(self, line: str) -> None:
        """Say in one line of plain words what goes on now."""
        self.progress.note(line)

    def engine(self, role: Role) -> str:
        return self.settings.role(role).engine

    def model(self, role: Role) -> LangChainModel:
        """The role's chat model, opened once. Raises `UsageError` when none is set."""
        if role not in self._models:
            config = self.settings.role(role).model
            if config is None:
                raise UsageError(f"The role {role} has no model; set roles.{role}.model.name.")
            self._models[role] = self._whole.model(role).uncounted() if self._whole else open_model(config)
        return self._models[role]

    def judge(self) -> Judge | None:
        """Decides `semantic` criteria by the validator's model; None without one."""
        return judge_by(self.model("validator")) if self.settings.role("validator").model else None

    def models_used(self) -> dict[Role, LangChainModel]:
        """Chat models opened so far, with what they have cost; units of work count apart."""
        return dict(self._models)

    @asynccontextmanager
    async def apart(self) -> AsyncIterator["Deps"]:
        """The same for one unit of work, whose chat models count what that unit alone costs."""
        deps = replace(self, context=Context(config=f"unit:{next(_serial)}"), _models={}, _whole=self)
        _open[deps.context] = deps
        try:
            yield deps
        finally:
            del _open[deps.context]

    async def browser(self) -> "Browser":
        """The one browser, started at the first call."""
        async with self._web_lock:
            if not self._browsers:
                from agent_world.tools.web.browser import open_browser

                await self._serve_examples_once()
                self._browsers.append(await self._stack.enter_async_context(open_browser(self.settings.web)))
            return self._browsers[0]

    async def search(self) -> "SearchBackend":
        """The search backend of the settings."""
        from agent_world.tools.web.search import open_search

        await self.serve_examples()
        return open_search(self.settings.web)

    async def saver(self) -> "AsyncSqliteSaver | None":
        """The checkpointer of roles called on their own; None inside the loop, which keeps its own."""
        if self._checkpoints is None:
            return None
        async with self._web_lock:
            if not self._savers:
                from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

                self._checkpoints.parent.mkdir(parents=True, exist_ok=True)
                opened = AsyncSqliteSaver.from_conn_string(str(self._checkpoints))
                self._savers.append(await self._stack.enter_async_context(opened))
            return self._savers[0]

    async def executor(self) -> "Executor":
        """What runs units of work, opened at the first call."""
        async with self._executor_lock:
            if not self._executors:
                from agent_world.graphs.executor import open_executor

                self._executors.append(await self._stack.enter_async_context(open_executor(self)))
            return self._executors[0]

    async def serve_examples(self) -> None:
        """Start the offline web, where the settings want it and it is not running yet."""
        async with self._web_lock:
            await self._serve_examples_once()

    async def _serve_examples_once(self) -> None:
        if self.settings.web.serve_examples and not self._sites:
            from agent_world.examples.web import serve

            web = self.settings.web
            self._sites.append(await self._stack.enter_async_context(serve(web.host, web.port)))


async def run_alone(graph: StateGraph[Any, Any, Any, Any], request: Any, deps: Deps, steps: int) -> dict[str, Any]:
    """The final state of `graph` on `request`, at most `steps` steps.

    A role called on its own keeps checkpoints: killed and called again with the same request, it goes on after the
    last node that was finished. As a unit of the loop it keeps none, and starts over. Either way it runs in a context
    of its own: from a node of the loop it would else write into the loop's checkpoints.
    """
    work = _run(graph, request, deps, steps)
    state: dict[str, Any] = await asyncio.create_task(work, context=contextvars.Context())
    return state


async def _run(graph: StateGraph[Any, Any, Any, Any], request: Any, deps: Deps, steps: int) -> dict[str, Any]:
    saver = await deps.saver()
    compiled = graph.compile(checkpointer=saver)
    config: Any = {"recursion_limit": steps}
    if saver is None:
        return await compiled.ainvoke(request, config, context=deps.context)
    thread = _thread(compiled, request, deps)
    config["configurable"] = {"thread_id": thread}
    begin = None if unfinished(await compiled.aget_state(config)) else request
    state = await compiled.ainvoke(begin, config, context=deps.context, durability="sync")
    await saver.adelete_thread(thread)
    return state


def unfinished(state: StateSnapshot) -> bool:
    """Whether a run with this checkpoint has anything left to do.

    `next` alone does not say: it leaves out a node whose result was written before the checkpoint after it was.
    """
    return bool(state.tasks)


def _thread(compiled: CompiledStateGraph[Any, Any, Any, Any], request: Any, deps: Deps) -> str:
    """The same graph, request and settings: the same run."""
    facts = json.dumps([sorted(compiled.nodes), request, deps.settings.model_dump(mode="json")], sort_keys=True)
    return hashlib.sha256(facts.encode()).hexdigest()[:32]


_open: dict[Context, Deps] = {}
_serial = itertools.count()


@asynccontextmanager
async def open_deps(
    settings: Settings, progress: Progress | None = None, *, checkpoints: bool = True
) -> AsyncIterator[Deps]:
    """Open what a run needs; end every process it started on every way out.

    With `checkpoints`, roles keep theirs in the workspace's `roles.sqlite` while they run.
    """
    path = settings.workspace / "roles.sqlite" if checkpoints else None
    async with _opened(settings, Context(config=f"open:{next(_serial)}"), progress, path) as deps:
        yield deps


@asynccontextmanager
async def use_deps(context: Context | None) -> AsyncIterator[Deps]:
    """The open `Deps` of this context, or one opened for the length of this block."""
    given = context or Context()
    context = Context(given.config, tuple(given.overrides))  # from JSON, overrides come as a list
    if context in _open:
        yield _open[context]
        return
    if os.environ.get("LANGGRAPH_ALLOW_BLOCKING") == "false":  # set by `langgraph dev`, which then refuses file reads
        raise UsageError("Our nodes read files where they run: start the server as langgraph dev --allow-blocking.")
    async with _opened(load_settings(Path(context.config), context.overrides), context, None, None) as deps:
        yield deps


@asynccontextmanager
async def _opened(
    settings: Settings, context: Context, progress: Progress | None, checkpoints: Path | None
) -> AsyncIterator[Deps]:
    async with AsyncExitStack() as stack:
        runtime = await stack.enter_async_context(open_runtime(settings.runtime))
        deps = Deps(
            settings, Store(settings.workspace), runtime, progress or silent(), context, stack, _checkpoints=checkpoints
        )
        _open[context] = deps
        try:
            yield deps
        finally:
            del _open[context]
