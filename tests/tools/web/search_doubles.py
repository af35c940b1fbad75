"""Doubles of search services: they speak the services' own wire protocols on loopback, with invented results.

Tavily, Brave and SearXNG are HTTP servers (Starlette under uvicorn). DuckDuckGo's address is fixed in `ddgs`, so its
double is an HTTPS server behind a proxy that connects every name to it.
"""

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

PAGES = [(f"Title {n}", f"https://data.example/{n}", f"About <strong>cities</strong> {n}") for n in range(1, 31)]


@dataclass
class Double:
    address: str = ""
    asked: list[Any] = field(default_factory=list)
    failures: list[Response] = field(default_factory=list)
    """Given first, one a request."""

    def failure(self) -> Response | None:
        return self.failures.pop(0) if self.failures else None


def tavily(double: Double) -> Starlette:
    """POST /search with a bearer key: https://docs.tavily.com/documentation/api-reference/endpoint/search."""

    async def search(request: Request) -> Response:
        double.asked.append(await request.json())
        if failure := double.failure():
            return failure
        if request.headers.get("authorization") != "Bearer tvly-right":
            return JSONResponse({"detail": {"error": "Unauthorized: missing or invalid API key."}}, 401)
        asked = double.asked[-1]
        hits = [
            {"title": t, "url": u, "content": c, "score": 0.9 - n / 100, "raw_content": None}
            for n, (t, u, c) in enumerate(PAGES[: asked.get("max_results", 5)])
        ]
        return JSONResponse({"query": asked["query"], "images": [], "results": hits, "response_time": "0.61"})

    return Starlette(routes=[Route("/search", search, methods=["POST"])])


def brave(double: Double) -> Starlette:
    """GET /res/v1/web/search with a subscription token: https://api-dashboard.search.brave.com/app/documentation."""

    async def search(request: Request) -> Response:
        asked = dict(request.query_params)
        double.asked.append(asked)
        if failure := double.failure():
            return failure
        if request.headers.get("x-subscription-token") != "right":
            detail = "The provided subscription token is invalid."
            error = {"id": "1", "status": 422, "code": "SUBSCRIPTION_TOKEN_INVALID", "detail": detail}
            return JSONResponse({"type": "ErrorResponse", "error": error, "time": 1}, 422)
        if asked["q"] == "nothing":
            return JSONResponse({"type": "search", "query": {"original": asked["q"]}})
        hits = [{"type": "search_result", "title": t, "url": u, "description": d} for t, u, d in PAGES]
        web = {"type": "search", "results": hits[: int(asked.get("count", 20))], "family_friendly": True}
        return JSONResponse({"type": "search", "query": {"original": asked["q"]}, "web": web})

    return Starlette(routes=[Route("/res/v1/web/search", search)])


def searxng(double: Double, formats: tuple[str, ...] = ("html", "json")) -> Starlette:
    """GET /search?format=json: https://docs.searxng.org/dev/search_api.html."""

    async def search(request: Request) -> Response:
        double.asked.append(dict(request.query_params))
        if failure := double.failure():
            return failure
        if request.query_params.get("format") not in formats:
            return PlainTextResponse("Forbidden", 403)
        hits = [{"url": u, "title": t, "content": c, "engine": "x", "score": 1.0} for t, u, c in PAGES]
        hits.insert(1, {"url": "magnet:?xt=1", "title": "no page", "content": None})  # type: ignore[dict-item]
        hits.insert(2, hits[0])
        answer = {"query": "q", "number_of_results": 0, "results": hits, "answers": [], "infoboxes": []}
        return JSONResponse(answer | {"suggestions": [], "unresponsive_engines": []})

    return Starlette(routes=[Route("/search", search)])


@asynccontextmanager
async def serving(make: Callable[[Double], Starlette]) -> AsyncIterator[Double]:
    double = Double()
    server = uvicorn.Server(uvicorn.Config(make(double), port=0, log_config=None, lifespan="off"))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    double.address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield double
    finally:
        server.should_exit = True
        await task


DUCK_HIT = """<div class="result results_links web-result"><div class="links_main result__body">
<h2 class="result__title"><a class="result__a" href="{1}">{0}</a></h2>
<a class="result__snippet" href="{1}">{2}</a></div></div>"""


@contextmanager
def duckduckgo(folder: Path, statuses: list[int]) -> Iterator[tuple[str, Path, list[dict[str, list[str]]]]]:
    """The page html.duckduckgo.com/html/, behind a proxy: its address, the certificate to trust, the forms sent.
    `statuses` are answered first; 202 is DuckDuckGo's word for too many requests."""
    certificate, chain = _certificate(folder, "html.duckduckgo.com")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    forms: list[dict[str, list[str]]] = []

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_CONNECT(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.flush()
            try:
                self.connection = context.wrap_socket(self.connection, server_side=True)
                self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb")  # type: ignore[assignment]
                self.close_connection = False
            except (ssl.SSLError, OSError):  # the client does not trust us
                self.close_connection = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            forms.append(parse_qs(body) | {"host": [self.headers["Host"]], "path": [self.path]})
            status = statuses.pop(0) if statuses else 200
            found = "".join(DUCK_HIT.format(*page) for page in PAGES[:10]) if status == 200 else "<p>a puzzle</p>"
            page = f"<html><body><div id='links'>{found}</div></body></html>".encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=UTF-8")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)
            self.wfile.flush()

        def finish(self) -> None:
            super().finish()
            self.connection.close()

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", certificate, forms
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _certificate(folder: Path, host: str) -> tuple[Path, Path]:
    """The certificate of an authority of our own, and a chain with key of one that it signed for `host`."""
    authority, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    trusted = _signed("double", "double", authority, authority, is_authority=True)
    leaf = _signed(host, "double", key, authority, is_authority=False)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "trusted.pem").write_bytes(trusted.public_bytes(serialization.Encoding.PEM))
    (folder / "chain.pem").write_bytes(leaf.public_bytes(serialization.Encoding.PEM) + secret)
    return folder / "trusted.pem", folder / "chain.pem"


def _signed(
    name: str,
    by: str,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    is_authority: bool,
) -> x509.Certificate:
    """Valid for a day."""
    now = datetime.now(UTC)
    subject, issuer = (x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, n)]) for n in (name, by))
    builder = x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    return builder.sign(signer, hashes.SHA256())
