"""A foreign program inside the walls: an MCP server in any language.

This process stays as its parent, which is process 1 where there are namespaces: it reaps, and ends with the program,
so that all that the program has started ends too.
"""

import json
import os
import signal
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import NoReturn

CHANNEL, INPUT, OUTPUT, ERRORS = 3, 4, 5, 6
"""Descriptors of this process; the last three become 0 to 2 of the program."""


def supervise(channel: socket.socket, argv: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Wait for word that the files are in place, run the program, and say over the channel how it ended."""
    if not channel.recv(1):
        os._exit(0)
    pid = os.fork()
    if pid == 0:
        _become(list(argv), dict(environment))
    for fd in (INPUT, OUTPUT, ERRORS):
        os.close(fd)
    while True:
        reaped, status = os.wait()
        if reaped == pid:
            break
    said = json.dumps({"id": 0, "exit": os.waitstatus_to_exitcode(status)}).encode()
    channel.sendall(struct.pack(">I", len(said)) + said)
    os._exit(0)


def _become(argv: list[str], environment: dict[str, str]) -> NoReturn:
    try:
        for own, standard in ((INPUT, 0), (OUTPUT, 1), (ERRORS, 2)):
            os.dup2(own, standard)
        os.closerange(CHANNEL, ERRORS + 1)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvpe(argv[0], argv, environment)
    except OSError as error:
        os.write(2, f"no program {argv[0]!r} in the sandbox ({error.strerror})\n".encode())
    finally:
        os._exit(127)
