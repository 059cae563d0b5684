"""The HTTP responder, asked by Python's own client and by bytes."""

import asyncio
import http.client
import logging
import socket
from collections.abc import Iterator

import pytest

from ottla.net.errors import ListenError
from ottla.net.http_server import HttpAnswer, HttpServer
from tests.integration.net.served import PATIENCE_S, LoopThread, is_closed_by_server


def fail() -> HttpAnswer:
    raise KeyError("no such metric")


ROUTES = {
    "/metrics": lambda: HttpAnswer(200, b"ottla_up 1\n", "text/plain; version=0.0.4"),
    "/readyz": lambda: HttpAnswer(503, b"not yet\n"),
    "/broken": fail,
    "/large": lambda: HttpAnswer(200, bytes(5_000_000)),
}


@pytest.fixture
def thread() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


@pytest.fixture
def server(thread: LoopThread) -> Iterator[HttpServer]:
    server = HttpServer("127.0.0.1", 0, ROUTES)
    asyncio.run_coroutine_threadsafe(server.start(), thread.loop).result(PATIENCE_S)
    yield server
    asyncio.run_coroutine_threadsafe(server.close(), thread.loop).result(PATIENCE_S)


@pytest.fixture
def client(server: HttpServer) -> Iterator[http.client.HTTPConnection]:
    client = http.client.HTTPConnection(*server.address, timeout=PATIENCE_S)
    yield client
    client.close()


@pytest.fixture
def raw(server: HttpServer) -> Iterator[socket.socket]:
    with socket.create_connection(server.address, timeout=PATIENCE_S) as sock:
        yield sock


def read_all(sock: socket.socket) -> bytes:
    parts = []
    while part := sock.recv(65_536):
        parts.append(part)
    return b"".join(parts)


def test_a_route_is_answered_and_the_connection_kept(client: http.client.HTTPConnection) -> None:
    for _ in range(2):
        client.request("GET", "/metrics?name=x")
        response = client.getresponse()
        assert response.status == 200
        assert response.getheader("Content-Type") == "text/plain; version=0.0.4"
        assert response.read() == b"ottla_up 1\n"
        sock = client.sock
    client.request("GET", "/readyz")
    response = client.getresponse()
    assert (response.status, response.read()) == (503, b"not yet\n")
    assert client.sock is sock


def test_head_has_no_body(client: http.client.HTTPConnection) -> None:
    client.request("HEAD", "/metrics")
    response = client.getresponse()
    assert (response.status, response.getheader("Content-Length"), response.read()) == (200, "11", b"")
    client.request("GET", "/metrics")
    assert client.getresponse().read() == b"ottla_up 1\n"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nothing", 404), ("GET", "/metrics/", 404), ("DELETE", "/metrics", 405), ("OPTIONS", "/metrics", 405)],
)
def test_what_is_not_served(client: http.client.HTTPConnection, method: str, path: str, status: int) -> None:
    client.request(method, path)
    response = client.getresponse()
    assert response.status == status
    assert response.read()
    if status == 405:
        assert response.getheader("Allow") == "GET, HEAD"


def test_a_body_is_refused(client: http.client.HTTPConnection) -> None:
    client.request("POST", "/metrics", body=b"x" * 100)
    assert client.getresponse().status == 413


def test_a_route_that_fails_is_a_500_and_a_line_in_the_log(
    client: http.client.HTTPConnection, caplog: pytest.LogCaptureFixture
) -> None:
    client.request("GET", "/broken")
    response = client.getresponse()
    assert response.status == 500
    response.read()
    client.request("GET", "/metrics")
    assert client.getresponse().status == 200
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert "/broken" in record.getMessage()


def test_pipelined_requests_are_answered_in_order(raw: socket.socket) -> None:
    raw.sendall(b"GET /large HTTP/1.1\r\n\r\n" * 3 + b"GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n")
    answer = read_all(raw)
    assert answer.count(b"Content-Length: 5000000") == 3
    assert answer.endswith(b"ottla_up 1\n")


def test_requests_in_single_bytes(raw: socket.socket) -> None:
    for byte in b"GET /metrics HTTP/1.0\r\n\r\n":
        raw.sendall(bytes([byte]))
    answer = read_all(raw)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"Connection: close" in answer


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"\0\0\0\x0c\0\x12\0\0\0\0\0\x01\xff\xff\r\n\r\n", b"400"),
        (b"GET /metrics\r\n\r\n", b"400"),
        (b"GET /metrics HTTP/2.0\r\n\r\n", b"400"),
        (b"GET metrics HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /metrics HTTP/1.1\r\nno colon\r\n\r\n", b"400"),
        (b"GET /" + b"x" * 10_000, b"431"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 10_000 + b"\r\n\r\n", b"431"),
    ],
)
def test_what_is_no_request_is_refused_and_closed(raw: socket.socket, request_bytes: bytes, status: bytes) -> None:
    raw.sendall(request_bytes)
    assert read_all(raw).startswith(b"HTTP/1.1 " + status)


def test_closing_ends_open_connections(thread: LoopThread) -> None:
    server = HttpServer("127.0.0.1", 0, ROUTES)
    asyncio.run_coroutine_threadsafe(server.start(), thread.loop).result(PATIENCE_S)
    with socket.create_connection(server.address, timeout=PATIENCE_S) as client:
        client.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        assert client.recv(65_536).startswith(b"HTTP/1.1 200")
        asyncio.run_coroutine_threadsafe(server.close(), thread.loop).result(PATIENCE_S)
        assert is_closed_by_server(client)


def test_an_address_in_use_is_refused(server: HttpServer, thread: LoopThread) -> None:
    second = HttpServer(*server.address, ROUTES)
    with pytest.raises(ListenError, match="already in use"):
        asyncio.run_coroutine_threadsafe(second.start(), thread.loop).result(PATIENCE_S)
