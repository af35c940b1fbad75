"""`python -m agent_world.examples.web --port N`: serve the offline web until it is interrupted."""

import argparse
import sys
import threading
from typing import TYPE_CHECKING

from agent_world.errors import UsageError
from agent_world.examples.web.server import require_free

if TYPE_CHECKING:
    import uvicorn


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m agent_world.examples.web", description="Serve the offline web.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8737)
    parser.add_argument("--until-input-ends", action="store_true", help="end when standard input is closed")
    given = parser.parse_args()
    try:
        require_free(given.host, given.port)
        _serve(given.host, given.port, given.until_input_ends)
    except UsageError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def _serve(host: str, port: int, until_input_ends: bool) -> None:
    try:
        import uvicorn

        from agent_world.examples.web.app import build_app
    except ImportError as error:
        raise UsageError(f"The offline web needs {error.name}; install agent-world[demo].") from error
    server = uvicorn.Server(uvicorn.Config(build_app(), host=host, port=port, log_level="warning", lifespan="off"))
    if until_input_ends:
        threading.Thread(target=_end_with_input, args=[server], daemon=True).start()
    print(f"http://{host}:{port}", flush=True)
    server.run()


def _end_with_input(server: "uvicorn.Server") -> None:
    """Our starter holds our input open: when it ends, even killed, so do we."""
    sys.stdin.buffer.read()
    server.should_exit = True


if __name__ == "__main__":
    sys.exit(main())
