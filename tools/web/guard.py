"""Which addresses may be asked at all: http(s) only, and no private network unless the settings allow it."""

import ipaddress
from urllib.parse import SplitResult, urlsplit

from agent_world.errors import WebError


def parse(address: str) -> SplitResult:
    """Split an http(s) address. Raises `WebError` for any other."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise WebError(f"{address!r} is not a web address ({error}).") from error
    if parts.scheme not in ("http", "https") or not host:
        raise WebError(f"{address!r} is refused: only http and https addresses are read.")
    return parts


def origin(address: str) -> str:
    """`scheme://host[:port]`, lower case."""
    parts = parse(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"


def is_public(ip: str) -> bool:
    """False for loopback, private, link-local, multicast and reserved addresses, also when mapped into IPv6."""
    found = ipaddress.ip_address(ip.partition("%")[0])
    inner = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None)
    return found.is_global and not found.is_multicast and (inner is None or inner.is_global)


def refusal(address: str, ip: str) -> WebError:
    return WebError(
        f"{address} is refused: {ip} is a private or loopback address; set web.allow_private=true to allow it."
    )
