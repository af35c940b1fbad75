"""The `local` backend: a locked-down process an instance, forked from a clean zygote on this machine.

    trusted side                          far side (clean interpreter, own namespaces, no network)
    LocalBackend  -- control socket -->   zygote (holds the databases that instances share)
      Pool        (processes ahead)         |
    LocalInstance -- channel -------->      `- process (own disk, processes, uid; limits), runs tools.py
                  -- descriptor ----->         its folder, from which state is read without asking it

`launcher` starts processes, `pool` keeps some ready, `compiler` and `bases` make once what many use, `memory` bounds
the sum, `instance` is what callers hold.
"""

import resource
from pathlib import Path

from agent_world.settings import LocalRuntime
from agent_world.tools.sandbox.exchange import nanoseconds
from agent_world.tools.sandbox.instance import LocalInstance
from agent_world.tools.sandbox.launcher import NAMESPACED, Launcher
from agent_world.tools.sandbox.memory import MemoryWatch
from agent_world.tools.sandbox.places import Places
from agent_world.tools.sandbox.pool import Pool
from agent_world.tools.sandbox.process import Beginning
from agent_world.tools.sandbox.template import Templates

_MEGABYTE = 1024 * 1024
_DESCRIPTORS_EACH = 3
_SPARE_DESCRIPTORS = 1024
"""For all that is no instance."""


class LocalBackend:
    """Opens instances. Belongs to the event loop that started it; `tools.sync` is the way from other threads."""

    def __init__(self, config: LocalRuntime, launcher: Launcher | None = None) -> None:
        self.config = config
        self.launcher = launcher or Launcher(floor=config.floor)
        self.watch = MemoryWatch(config.total_memory_mb, lambda: self.launcher.rung in NAMESPACED)
        self._clock_ns = nanoseconds(config.clock)
        self.pool = Pool(self.launcher, config, self.watch)
        self.watch.relieve = self.pool.let_all_go
        self.watch.shared_bytes = lambda: self.pool.shared_bytes
        self._templates = Templates(config.disk_mb * _MEGABYTE, self.pool.drop)
        self._places: Places[LocalInstance] = Places(config.max_instances)

    async def start(self) -> None:
        """Raises `SandboxError` where this machine cannot isolate as well as `floor` asks."""
        _allow_descriptors(self.config.max_instances * _DESCRIPTORS_EACH + _SPARE_DESCRIPTORS)
        await self.launcher.start()
        self.watch.start()

    async def stop(self) -> None:
        for instance in list(self._places.taken):
            await instance.close()
        await self.pool.stop()
        await self.watch.stop()
        await self.launcher.stop()

    async def open(self, environment: Path, *, seed: int = 0, clock: str | None = None) -> LocalInstance:
        """Raises `SandboxError` also when the memory of all instances has no room for another in 30 s."""
        begins = Beginning(nanoseconds(clock) if clock else self._clock_ns, str(seed))
        template = self._templates.load(environment)

        async def start(instance: LocalInstance) -> None:
            if self.pool.waits_for(template, begins):  # its memory is counted already
                return await instance.reset()
            async with self.watch.room_for(template.size):
                await instance.reset()

        return await self._places.take(lambda: LocalInstance(self, template, begins), start)

    def forget(self, instance: LocalInstance) -> None:
        self._places.leave(instance)

    def describe(self) -> tuple[str, ...]:
        """The protections that hold and those that do not, one line each, the rung first."""
        config, launcher = self.config, self.launcher
        why = f" (refused: {'; '.join(launcher.refused)})" if launcher.refused else ""
        uid = "a uid of its own" if launcher.own_ids else "the caller's uid"
        calls = (
            "seccomp refuses sockets, tracing, mounts, namespaces, keys, io_uring"
            if launcher.calls_filtered
            else "NO seccomp: this kernel has none, so sockets and all other system calls are open"
        )
        return (
            f"isolation: {launcher.rung}{why}",
            "clean interpreter: no variables or descriptors of ours, no site packages",
            f"{uid}, no capability, no_new_privs; {calls}",
            f"limits: {config.memory_mb} MB of memory an instance, {self.watch.limit // _MEGABYTE} MB all together, "
            f"{config.disk_mb} MB a file, 64 descriptors",
            f"deadlines: {config.call_timeout_s:g} s a call, {config.run_timeout_s:g} s a program, then SIGKILL",
            *self._walls(),
        )

    def _walls(self) -> tuple[str, ...]:
        if self.launcher.rung in NAMESPACED:
            return (
                "namespaces: own network (empty), processes (16 at most, all killed together), mounts, IPC, host name",
                "private root: the interpreter and system libraries, read-only; no /proc, /etc, /home, /tmp",
                f"own disk of {self.config.disk_mb} MB, gone with the instance",
            )
        files = (
            "no namespaces here: Landlock allows system libraries (read) and the own folder (write), nothing else"
            if self.launcher.rung == "confined"
            else "NO wall around files: neither namespaces nor Landlock; a tool opens what its uid may open"
        )
        alone = "seccomp refuses processes, programs and signals; " if self.launcher.calls_filtered else ""
        return (files, f"{alone}the sum of an instance's files has no limit")


def _allow_descriptors(wanted: int) -> None:
    """Raise the soft limit as far as needed and allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))
