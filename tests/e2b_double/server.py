"""The double's one HTTP server: E2B's API, and envd of whichever sandbox a request's headers name."""

import asyncio
import base64
import contextlib
import itertools
import json
import socket
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.e2b_double.machine import Machine, Started
from tests.e2b_double.wire import END, STATUS, WireError, envelope, opened

KEY = "e2b_0000000000000000000000000000000000000000"
_ENVD = "0.6.7"
_PORT = "49983"
_TOKEN = "envd-token"


class Double:
    """What a test may see and do to the cloud behind the backend's back."""

    def __init__(self) -> None:
        self.url = ""
        self.machines: dict[str, Machine] = {}
        self.made: list[dict[str, Any]] = []
        """Bodies of all requests for a sandbox."""
        self.refusals: list[tuple[int, str]] = []
        """What the next requests for a sandbox are answered with."""
        self.delay_s = 0.0
        """Before a sandbox is there."""
        self.requests: list[str] = []
        self.patient = False
        """Whether sandboxes live on when their time is over."""
        self._ids = itertools.count(1)

    def lose(self, *names: str) -> None:
        """These sandboxes, or all, are gone, and nobody was told."""
        for name in names or tuple(self.machines):
            self.machines.pop(name).kill()

    def let_pass(self, seconds: float) -> None:
        """What is over by then is over now."""
        for machine in tuple(self.machines.values()):
            machine.ends -= seconds
            self._expire(machine)

    # --- The API -------------------------------------------------------------------------------------

    async def make(self, request: Request) -> Response:
        body = await request.json()
        self.made.append({**body, "idempotency": request.headers.get("idempotency-key")})
        await asyncio.sleep(self.delay_s)
        if request.headers.get("x-api-key") != KEY:
            return JSONResponse({"code": 401, "message": "Invalid API key"}, 401)
        if self.refusals:
            status, message = self.refusals.pop(0)
            return JSONResponse({"code": status, "message": message}, status, {"Should-Retry": "false"})
        loop = asyncio.get_running_loop()
        name, seconds = f"i{next(self._ids):019d}", body.get("timeout", 300)
        machine = Machine(name, body["templateID"], body["metadata"], body["envVars"], loop.time() + seconds)
        machine.place("/home/user").mkdir(parents=True)
        self.machines[name] = machine
        loop.call_at(machine.ends, self._expire, machine)
        found = {"templateID": machine.template, "sandboxID": name, "clientID": "", "envdVersion": _ENVD}
        return JSONResponse({**found, "envdAccessToken": _TOKEN}, 201)

    def _expire(self, machine: Machine) -> None:
        loop = asyncio.get_running_loop()
        if machine.name in self.machines and loop.time() < machine.ends:
            loop.call_at(machine.ends, self._expire, machine)
        elif machine.name in self.machines and not self.patient:
            self.lose(machine.name)

    async def list(self, request: Request) -> Response:
        wanted = [pair.split("=") for pair in request.query_params.get("metadata", "").split("&") if pair]
        now = datetime.now(UTC)
        found = [
            {
                "templateID": m.template, "sandboxID": m.name, "clientID": "", "envdVersion": _ENVD, "state": "running",
                "startedAt": now.isoformat(), "endAt": (now + timedelta(hours=1)).isoformat(),
                "cpuCount": 2, "memoryMB": 512, "diskSizeMB": 1024, "metadata": m.metadata,
            }
            for m in self.machines.values()
            if all(m.metadata.get(key) == value for key, value in wanted)
        ]  # fmt: skip
        return JSONResponse(found)

    async def end(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self.machines:
            return JSONResponse({"code": 404, "message": f"sandbox {name} not found"}, 404)
        self.lose(name)
        return Response(status_code=204)

    async def prolong(self, request: Request) -> Response:
        machine = self.machines.get(request.path_params["name"])
        if machine is None:
            return JSONResponse({"code": 404, "message": "sandbox not found"}, 404)
        machine.ends = asyncio.get_running_loop().time() + (await request.json())["timeout"]
        return Response(status_code=204)

    # --- envd ----------------------------------------------------------------------------------------

    def _machine(self, request: Request) -> Machine:
        name = request.headers.get("e2b-sandbox-id", "")
        if request.headers.get("e2b-sandbox-port") != _PORT:
            raise WireError("unimplemented", "only envd listens here")
        if request.headers.get("x-access-token") != _TOKEN:
            raise WireError("unauthenticated", "the access token is missing")
        if name not in self.machines:
            raise LookupError(name)
        return self.machines[name]

    async def envd(self, request: Request) -> Response:
        self.requests.append(request.url.path)
        try:
            machine = self._machine(request)
            return await self._answer(request, machine)
        except LookupError as error:
            gone = {"sandboxId": str(error), "message": "The sandbox was not found", "code": 502}
            return JSONResponse(gone, 502)
        except WireError as error:
            return JSONResponse(error.body(), STATUS.get(error.code, 401))

    async def _answer(self, request: Request, machine: Machine) -> Response:
        match request.method, request.url.path:
            case _, "/health":
                return Response(status_code=204)
            case "GET", "/files":
                return _download(request, machine)
            case "POST", "/files":
                return await _upload(request, machine)
            case "POST", "/process.Process/Start":
                return await _start(opened(await request.body()), machine)
            case "POST", path:
                return JSONResponse(await _unary(path, await request.json(), machine))
            case _:
                raise WireError("unimplemented", request.url.path)


def _download(request: Request, machine: Machine) -> Response:
    place = machine.place(request.query_params["path"])
    if not place.is_file():
        return JSONResponse({"code": 404, "message": f"path '{place.name}' does not exist"}, 404)
    return Response(place.read_bytes(), media_type="application/octet-stream")


async def _upload(request: Request, machine: Machine) -> Response:
    path = request.query_params.get("path")
    if request.headers["content-type"].startswith("application/octet-stream"):
        return JSONResponse([machine.write(path or "", await request.body())])
    async with request.form(max_files=10_000) as form:
        parts = [part for part in form.getlist("file") if not isinstance(part, str)]
        return JSONResponse([machine.write(path or part.filename or "", await part.read()) for part in parts])


async def _unary(path: str, body: dict[str, Any], machine: Machine) -> dict[str, Any]:
    match path:
        case "/process.Process/List":
            running = [(pid, found) for pid, found in machine.processes.items() if found.process.returncode is None]
            return {"processes": [{"pid": pid, "config": found.config} for pid, found in running]}
        case "/process.Process/SendInput":
            process = machine.find(body["process"]).process
            assert process.stdin is not None
            with contextlib.suppress(ConnectionError):
                process.stdin.write(base64.b64decode(body["input"]["stdin"]))
                await process.stdin.drain()
            return {}
        case "/process.Process/SendSignal":
            machine.find(body["process"]).process.send_signal(9 if body["signal"] == "SIGNAL_SIGKILL" else 15)
            return {}
        case "/filesystem.Filesystem/ListDir":
            return {"entries": machine.listing(body["path"], body.get("depth", 1))}
        case "/filesystem.Filesystem/MakeDir":
            if machine.place(body["path"]).is_dir():
                raise WireError("already_exists", f"directory already exists: {body['path']}")
            machine.place(body["path"]).mkdir(parents=True)
            return {"entry": machine.describe(machine.place(body["path"]))}
        case _:
            raise WireError("unimplemented", path)


async def _start(body: dict[str, Any], machine: Machine) -> Response:
    started = await machine.start(body["process"], body.get("stdin", True))
    return StreamingResponse(_events(started, machine), media_type="application/connect+json")


async def _events(started: Started, machine: Machine) -> AsyncIterator[bytes]:
    yield envelope({"event": {"start": {"pid": started.process.pid}}})
    async for name, part in started.events(machine.gone):
        yield envelope({"event": {"data": {name: base64.b64encode(part).decode()}}})
    if machine.gone.is_set():
        raise ConnectionResetError("the sandbox is gone")
    code = started.process.returncode or 0
    yield envelope({"event": {"end": {"exitCode": code, "exited": code >= 0, "status": f"exit status {code}"}}})
    yield envelope({}, END)


@contextlib.asynccontextmanager
async def open_double() -> AsyncIterator[Double]:
    """A double at an address of its own, on the running event loop; all its processes end with it."""
    double = Double()
    envd = [Route(path, double.envd, methods=["GET", "POST"]) for path in ("/health", "/files", "/{service}/{method}")]
    api = [
        Route("/v2/sandboxes", double.make, methods=["POST"]),
        Route("/v2/sandboxes", double.list, methods=["GET"]),
        Route("/sandboxes/{name}", double.end, methods=["DELETE"]),
        Route("/sandboxes/{name}/timeout", double.prolong, methods=["POST"]),
    ]
    # With the protocol named, asyncio turns off the delay of small packets: 1 ms a request in place of 44.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        double.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(Starlette(routes=[*api, *envd]), log_level="critical", lifespan="off"))
        serving = asyncio.create_task(server._serve([listener]))
        try:
            while not server.started:
                await asyncio.sleep(0.01)
            yield double
        finally:
            double.lose()
            server.should_exit = server.force_exit = True
            await serving


async def main() -> None:
    async with open_double() as double:
        print(json.dumps({"E2B_API_URL": double.url, "E2B_SANDBOX_URL": double.url, "E2B_API_KEY": KEY}), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
