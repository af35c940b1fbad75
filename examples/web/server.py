"""Starts the site as a process of its own, and ends it."""

import asyncio
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from agent_world.errors import AgentWorldError, UsageError

START_S = 30.0
STOP_S = 5.0


@asynccontextmanager
async def serve(host: str = "127.0.0.1", port: int = 8737) -> AsyncIterator[str]:
    """Run the site on `host:port` and yield its address; stop it on every way out.

    Raises `UsageError` when the port is taken, `AgentWorldError` when the site does not start.
    """
    require_free(host, port)
    where = ["--host", host, "--port", str(port), "--until-input-ends"]
    command = [sys.executable, "-m", "agent_world.examples.web", *where]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, start_new_session=True
    )
    try:
        await _until_answering(process, host, port)
        yield f"http://{host}:{port}"
    finally:
        await _stop(process)


def require_free(host: str, port: int) -> None:
    """Raise `UsageError` unless a server can listen there."""
    if not 0 < port < 65536:
        raise UsageError(f"The offline web cannot listen on port {port}; set web.port to one from 1 to 65535.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise UsageError(
            f"The offline web cannot listen on {host}:{port} ({error}); set web.port to a free port."
        ) from error


async def _until_answering(process: Process, host: str, port: int) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + START_S
    while loop.time() < end and process.returncode is None:
        with suppress(OSError):
            _, writer = await asyncio.open_connection(host, port)
            writer.close()
            await writer.wait_closed()
            return
        await asyncio.sleep(0.05)
    if process.returncode is None:
        raise AgentWorldError(f"The offline web on {host}:{port} did not answer within {START_S:g} s; try again.")
    said = (await process.stderr.read()).decode(errors="replace").strip() if process.stderr else ""
    reason = (said.splitlines() or ["it said nothing"])[-1]
    raise AgentWorldError(f"The offline web on {host}:{port} ended at once: {reason}")


async def _stop(process: Process) -> None:
    """Closing its input is enough: the site watches it, so it ends too when we are killed."""
    if process.returncode is None:
        if process.stdin:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), STOP_S)
        except TimeoutError:
            process.kill()
            await process.wait()
    if process.stderr:
        await process.stderr.read()  # to its end, so that its pipe is closed
