"""Connections to addresses that were checked: a name is resolved once, and what was judged is what is connected to.

A name whose server answers first with a public and then with a private address (DNS rebinding) gains nothing by it.
"""

import asyncio
import functools
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import httpcore
import httpx

from agent_world.tools.web import guard

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""IP addresses of a host, best first. Raises `OSError` or `UnicodeError` for one that is not known."""


class PrivateAddress(Exception):
    """A host has an address that may not be asked."""

    def __init__(self, ip: str) -> None:
        super().__init__(ip)
        self.ip = ip


async def look_up(host: str, port: int) -> list[str]:
    """As the system does."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@functools.cache
def authorities() -> ssl.SSLContext:
    """Whose certificates are trusted. Read once: it takes longer than many a request."""
    return httpx.create_ssl_context(trust_env=False)


def guarded_transport(resolve: Resolve, allow_private: bool) -> httpx.AsyncHTTPTransport:
    transport = httpx.AsyncHTTPTransport(verify=authorities(), trust_env=False)
    # httpx has no public way to give its pool a network backend; everything else of the pool is its default.
    transport._pool = httpcore.AsyncConnectionPool(
        ssl_context=authorities(),
        max_connections=100,
        max_keepalive_connections=20,
        keepalive_expiry=5.0,
        network_backend=_Guarded(resolve, allow_private),
    )
    return transport


class _Guarded(httpcore.AsyncNetworkBackend):
    def __init__(self, resolve: Resolve, allow_private: bool) -> None:
        self._resolve = resolve
        self._allow_private = allow_private
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - as the interface has it
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        ips = await self._checked(host, port)
        for ip in ips[:-1]:
            try:
                return await self._inner.connect_tcp(ip, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue  # the next address of the host may answer
        return await self._inner.connect_tcp(ips[-1], port, timeout, local_address, socket_options)

    async def _checked(self, host: str, port: int) -> list[str]:
        try:
            ips = await self._resolve(host.strip("[]"), port)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"the host {host!r} is not known") from error
        if not ips:
            raise httpcore.ConnectError(f"the host {host!r} has no address")
        if private := next((ip for ip in ips if not self._allow_private and not guard.is_public(ip)), None):
            raise PrivateAddress(private)
        return ips

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
