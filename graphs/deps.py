"""What the nodes of all graphs share: settings, store, runtime, models, browser.

Nodes get it by `async with use_deps(runtime.context) as deps`. Graph state and context hold plain data only, so a
checkpoint never holds a live object and Studio can show and edit the context. Where a plain function (or the loop)
already holds a `Deps` for that context, the nodes share it; in Studio the first node opens one for itself.
"""

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_world.agents.model import LangChainModel, open_model
from agent_world.errors import UsageError
from agent_world.memory.store import Store
from agent_world.settings import Role, Settings, load_settings
from agent_world.tools.runtime import Runtime, open_runtime

if TYPE_CHECKING:
    from agent_world.tools.web.browser import Browser

Note = Callable[[str], None]
"""Takes one line of plain words on what goes on."""


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
    note: Note
    context: Context
    """The context under which nodes find exactly this object."""
    _stack: AsyncExitStack
    _models: dict[Role, LangChainModel] = field(default_factory=dict)
    _browsers: list["Browser"] = field(default_factory=list)

    def engine(self, role: Role) -> str:
        return self.settings.role(role).engine

    def model(self, role: Role) -> LangChainModel:
        """The role's chat model, opened once. Raises `UsageError` when none is set."""
        if role not in self._models:
            config = self.settings.role(role).model
            if config is None:
                raise UsageError(f"The role {role} has no model; set roles.{role}.model.name.")
            self._models[role] = open_model(config)
        return self._models[role]

    async def browser(self) -> "Browser":
        """The one browser, started at the first call."""
        if not self._browsers:
            from agent_world.tools.web.browser import open_browser

            self._browsers.append(await self._stack.enter_async_context(open_browser(self.settings.web)))
        return self._browsers[0]


_open: dict[Context, Deps] = {}
_serial = itertools.count()


@asynccontextmanager
async def open_deps(settings: Settings, note: Note = lambda line: None) -> AsyncIterator[Deps]:
    """Open what a run needs; end every process it started on every way out."""
    async with _opened(settings, Context(config=f"open:{next(_serial)}"), note) as deps:
        yield deps


@asynccontextmanager
async def use_deps(context: Context | None) -> AsyncIterator[Deps]:
    """The open `Deps` of this context, or one opened for the length of this block."""
    context = context or Context()
    if context in _open:
        yield _open[context]
        return
    settings = load_settings(Path(context.config), list(context.overrides))
    async with _opened(settings, Context(context.config, tuple(context.overrides)), lambda line: None) as deps:
        yield deps


@asynccontextmanager
async def _opened(settings: Settings, context: Context, note: Note) -> AsyncIterator[Deps]:
    async with AsyncExitStack() as stack:
        runtime = await stack.enter_async_context(open_runtime(settings.runtime))
        deps = Deps(settings, Store(settings.workspace), runtime, note, context, stack)
        _open[context] = deps
        try:
            yield deps
        finally:
            del _open[context]
