"""The `mcp` backend: any MCP server as an environment.

    trusted side                              far side (own namespaces, no network)
    McpBackend  -- control socket ---------->  zygote
    McpInstance -- stdin, stdout, stderr --->    |- parent, and the server under it (own disk, processes, uid; limits)
                -- descriptor -------------->    |  its folder, from which state is read without asking it
                -- channel ----------------->    `- a program (`run`): its tool calls are made by the trusted side

The server works on a copy of the bundle's `database/`. It may hold state in memory too: so `reset` and `restore` give
a fresh server. One that overruns its deadline, dies or breaks the protocol is killed with all it started; the next
call gets a fresh one on the files that were left.
"""

import asyncio
from pathlib import Path

from agent_world.errors import SandboxError
from agent_world.settings import McpRuntime
from agent_world.tools.sandbox.exchange import nanoseconds
from agent_world.tools.sandbox.launcher import NAMESPACED, Launcher
from agent_world.tools.sandbox.mcp_command import Command, prepare
from agent_world.tools.sandbox.mcp_instance import McpInstance
from agent_world.tools.sandbox.mcp_specs import Offers, bundle_specs
from agent_world.tools.sandbox.memory import MemoryWatch
from agent_world.tools.sandbox.places import Places
from agent_world.tools.sandbox.process import Order, Process
from agent_world.tools.sandbox.template import Templates

_MEGABYTE = 1024 * 1024


class McpBackend:
    """Opens instances. Belongs to the event loop that started it."""

    def __init__(self, config: McpRuntime) -> None:
        self.config = config
        self.command: Command = prepare(config)
        self.offers = Offers(self.command.shown)
        self.launcher = Launcher(floor=config.floor, readable=self.command.readable)
        self.watch = MemoryWatch(config.total_memory_mb, lambda: True)
        self._programs: Launcher | None = None
        self._starting = asyncio.Lock()
        self._templates = Templates(config.disk_mb * _MEGABYTE)
        self._places: Places[McpInstance] = Places(config.max_instances)

    async def start(self) -> None:
        """Raises `SandboxError` where this machine cannot isolate a foreign program."""
        nanoseconds(self.config.clock)
        await self.launcher.start()
        self.watch.start()
        if self.launcher.rung not in NAMESPACED:
            raise SandboxError(
                f"An MCP server needs namespaces, which this machine refuses ({'; '.join(self.launcher.refused)}): run "
                "as root, or allow user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0, in a "
                "container a seccomp profile that allows unshare)."
            )

    async def stop(self) -> None:
        for instance in list(self._places.taken):
            await instance.close()
        await self.watch.stop()
        await self.launcher.stop()
        if self._programs:
            await self._programs.stop()

    async def open(self, environment: Path, *, seed: int = 0, clock: str | None = None) -> McpInstance:
        order = self.order(seed, clock)
        template = self._templates.load(environment)

        async def start(instance: McpInstance) -> None:
            async with self.watch.room_for(template.size):
                await instance.reset()

        return await self._places.take(lambda: McpInstance(self, template, bundle_specs(environment), order), start)

    def forget(self, instance: McpInstance) -> None:
        self._places.leave(instance)

    def order(self, seed: int, clock: str | None) -> Order:
        config = self.config
        return Order(config.memory_mb, config.disk_mb, nanoseconds(clock or config.clock), str(seed))

    def watch_server(self, process: Process) -> None:
        """Its processes and its disk together: the kernel's limit counts each process alone, and no shared memory."""
        self.watch.add(process, (self.config.memory_mb + self.config.disk_mb) * _MEGABYTE)

    async def programs(self) -> Launcher:
        """Where programs are started: behind walls of their own, from which the server's folders are not seen."""
        async with self._starting:
            if self._programs is None:
                self._programs = Launcher(floor=self.config.floor)
                await self._programs.start()
            return self._programs

    def describe(self) -> tuple[str, ...]:
        """The protections that hold, one line each; what does not hold is said as well."""
        config = self.config
        uid = "a uid of its own" if self.launcher.own_ids else "the caller's uid"
        why = f" (refused: {'; '.join(self.launcher.refused)})" if self.launcher.refused else ""
        return (
            f"isolation: {self.launcher.rung}{why}",
            f"server `{self.command.shown}`: clean environment, {uid}, no capability, no_new_privs, seccomp",
            "namespaces: own network (empty), processes (64 at most, all killed together), mounts, IPC, host name",
            f"private root, read-only: system libraries and {', '.join(self.command.readable)}; no /proc, /etc, /home",
            f"own disks of {config.disk_mb} MB for data and for temporary files, gone with the instance",
            f"limits: {config.memory_mb} MB of memory (counted every 50 ms; data of each process by the kernel), "
            f"{self.watch.limit // _MEGABYTE} MB all together, {config.disk_mb} MB a file, 256 descriptors",
            f"deadlines: {config.start_timeout_s:g} s to start, {config.call_timeout_s:g} s a call, "
            f"{config.run_timeout_s:g} s a program, then SIGKILL",
            "not frozen: the server sees the machine's clock and its own randomness; programs see the set clock",
            "state is what lies in files; what a server holds in memory counts for nothing, and ends at reset",
            "programs (`run`) see the server's tools, not its files",
        )
