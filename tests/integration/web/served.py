"""An application of the shell on a real socket, in a thread of its own, and a raw way to talk to it."""

import asyncio
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ottla.base.metric import MetricRegistry
from ottla.client.config.settings import ClientSettings
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.application import ApplicationOptions, ShellApplication
from ottla.web.http.config import SHELL_KEYS, ShellConfig
from ottla.web.http.content import JSON, ContentTypes
from ottla.web.http.errors import HttpError
from ottla.web.http.health import health_routes
from ottla.web.http.login import login_of
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.http.server import HttpServer

VENDOR = "application/vnd.test.v1+json"


class Served:
    """A running server: where it is, and what its handlers wait for."""

    def __init__(self) -> None:
        self.port = 0
        self.entered = threading.Event()
        self.release = threading.Event()
        self.stop: Callable[[], None] = lambda: None


def routes(served: Served) -> list[Route]:
    async def echo(request: Request) -> Answer:
        return json_answer({"body": await request.json(), "who": request.principal, "query": request.query})

    async def greet(request: Request) -> Answer:
        return json_answer({"name": request.parameters["name"], "who": request.principal})

    async def fail(_: Request) -> Answer:
        raise ZeroDivisionError("a handler's bug")

    async def refuse(_: Request) -> Answer:
        raise HttpError(404, "Subject 'a' not found.", 40401)

    async def wait(_: Request) -> Answer:
        served.entered.set()
        await asyncio.get_running_loop().run_in_executor(None, served.release.wait)
        return json_answer("waited")

    return [
        Route("POST", "/echo", echo),
        Route("GET", "/hello/{name}", greet),
        Route("GET", "/fail", fail),
        Route("GET", "/refuse", refuse),
        Route("GET", "/wait", wait),
    ]


@contextmanager
def serving(**given: object) -> Iterator[Served]:
    """A server with these settings, underscores for dots, stopped at the end."""
    names = {name.replace("_", "."): value for name, value in given.items()}
    settings = ClientSettings(SHELL_KEYS, {"listeners": "http://127.0.0.1:0", **names})
    served, started, failures = Served(), threading.Event(), list[BaseException]()

    async def run() -> None:
        config = ShellConfig.of(settings, "http://127.0.0.1:0")
        metrics = MetricRegistry()
        options = ApplicationOptions(body_limits=config.body_limits, login=login_of(settings))
        content = ContentTypes((VENDOR, JSON), frozenset({VENDOR, JSON}))
        application = ShellApplication(
            [*routes(served), *health_routes(metrics, lambda: True)], content, metrics, options
        )
        server = HttpServer(application, config)
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        await server.start()
        served.port = server.addresses[0].port
        served.stop = lambda: loop.call_soon_threadsafe(ended.set)
        started.set()
        await ended.wait()
        await server.stop()

    def main() -> None:
        try:
            asyncio.run(run())
        except BaseException as error:  # noqa: BLE001 - told to the test's thread below
            failures.append(error)
            started.set()

    thread = threading.Thread(target=main)
    thread.start()
    started.wait()
    try:
        if not failures:
            yield served
    finally:
        served.release.set()
        served.stop()
        thread.join()
    if failures:
        raise failures[0]


class Connection:
    """One connection that sends bytes as they are given."""

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        link = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.link = tls.wrap_socket(link, server_hostname="localhost") if tls else link

    def send(self, data: bytes) -> None:
        self.link.sendall(data)

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, Any]:
        self.send(request_bytes(method, path, body, headers))
        return self.answer()[:2]

    def answer(self) -> tuple[int, Any, Mapping[str, str]]:
        """Status, body (parsed if it is JSON) and headers of the next answer."""
        raw = self._until(b"\r\n\r\n")
        head, _, rest = raw.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        length = int(headers.get("content-length", "0"))
        while len(rest) < length:
            rest += self._more()
        body: Any = rest.decode()
        if "json" in headers.get("content-type", "") and "content-length" in headers:
            body = json.loads(rest)
        return int(lines[0].split()[1]), body, headers

    def is_closed_by_server(self) -> bool:
        return self.link.recv(1) == b""

    def close(self) -> None:
        self.link.close()

    def _until(self, mark: bytes) -> bytes:
        data = b""
        while mark not in data:
            data += self._more()
        return data

    def _more(self) -> bytes:
        piece = self.link.recv(65536)
        if not piece:
            raise EOFError("the server closed the connection")
        return piece


def request_bytes(method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def ask_all(port: int, requests: Sequence[bytes]) -> list[tuple[int, Any]]:
    """The answers to requests on connections of their own, all open at once."""
    connections = [Connection(port) for _ in requests]
    for connection, request in zip(connections, requests, strict=True):
        connection.send(request)
    answers = [connection.answer()[:2] for connection in connections]
    for connection in connections:
        connection.close()
    return answers
