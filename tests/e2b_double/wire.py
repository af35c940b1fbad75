"""Connect, the protocol of envd, with JSON bodies: unary calls are plain HTTP, streams are enveloped messages."""

import json
import struct
from typing import Any

STATUS = {"invalid_argument": 400, "not_found": 404, "already_exists": 409, "unimplemented": 501, "internal": 500}
END = 2


class WireError(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message

    def body(self) -> dict[str, Any]:
        return {"code": self.code, "message": self.message}


def envelope(message: dict[str, Any], flags: int = 0) -> bytes:
    data = json.dumps(message).encode()
    return struct.pack(">BI", flags, len(data)) + data


def opened(data: bytes) -> dict[str, Any]:
    """The one message of a request that is answered by a stream."""
    _, size = struct.unpack(">BI", data[:5])
    found: dict[str, Any] = json.loads(data[5 : 5 + size])
    return found
