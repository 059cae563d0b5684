"""The HTTP shell on real sockets: answers, refusals, limits, log-in, and a stop that loses nothing."""

import base64
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.base.config import ConfigError
from tests.integration.client.certificate import Authority, require_openssl
from tests.integration.web.served import VENDOR, Connection, Served, ask_all, request_bytes, serving


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A server with small limits."""
    with serving(body_bytes_max=2048, body_timeout_ms=300, header_timeout_ms=300, header_bytes_max=4096) as server:
        yield server


@pytest.fixture
def connection(served: Served) -> Iterator[Connection]:
    """A connection of the test's own."""
    made = Connection(served.port)
    yield made
    made.close()


def test_a_connection_serves_many_requests(connection: Connection) -> None:
    assert connection.ask("GET", "/hello/a%2Fb") == (200, {"name": "a/b", "who": "anonymous"})
    asked = connection.ask("POST", "/echo?x=1&x=2&y=%C3%A4", b'{"a":[1]}', Content_Type="application/json")
    assert asked == (200, {"body": {"a": [1]}, "who": "anonymous", "query": {"x": "1", "y": "ä"}})


@pytest.mark.parametrize(
    ("accept", "status", "answered"),
    [
        ("*/*", 200, VENDOR),
        ("application/json", 200, "application/json"),
        (f"{VENDOR};q=0.1, application/json", 200, "application/json"),
        ("image/png", 406, VENDOR),
    ],
)
def test_the_answer_has_a_type_that_the_client_accepts(
    connection: Connection, accept: str, status: int, answered: str
) -> None:
    connection.send(request_bytes("GET", "/hello/x", None, {"Accept": accept}))
    found, _, headers = connection.answer()
    assert (found, headers["content-type"]) == (status, answered)


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "error_code"),
    [
        ("GET", "/nowhere", None, {}, 404, 404),
        ("DELETE", "/echo", None, {}, 405, 405),
        ("GET", "/refuse", None, {}, 404, 40401),
        ("GET", "/fail", None, {}, 500, 500),
        ("POST", "/echo", b"{", {}, 400, 400),
        ("POST", "/echo", b"\xff\xfe\x00", {}, 400, 400),
        ("POST", "/echo", b"[" * 2000, {}, 400, 400),
        ("POST", "/echo", b"{}", {"Content-Type": "text/xml"}, 415, 415),
        ("POST", "/echo?x=%FF", b"{}", {}, 400, 400),
        ("GET", "/hello/%FF", None, {}, 400, 400),
        ("POST", "/echo", b" " * 3000, {}, 413, 413),
    ],
)
def test_errors_are_json(
    connection: Connection,
    method: str,
    path: str,
    body: bytes | None,
    headers: dict[str, str],
    status: int,
    error_code: int,
) -> None:
    found, answer = connection.ask(method, path, body, **headers)
    assert (found, answer["error_code"]) == (status, error_code)
    assert answer["message"]


def test_a_body_in_chunks_is_limited_as_well(connection: Connection) -> None:
    connection.send(request_bytes("POST", "/echo", None, {"Transfer-Encoding": "chunked"}))
    for _ in range(4):
        connection.send(b"400\r\n" + b" " * 1024 + b"\r\n")
    assert connection.answer()[0] == 413


def test_a_body_that_does_not_come_is_given_up(connection: Connection) -> None:
    connection.send(request_bytes("POST", "/echo", None, {"Content-Length": "10"}) + b"{")
    assert connection.answer()[0] == 408
    assert connection.is_closed_by_server()


def test_a_header_that_does_not_come_is_given_up(connection: Connection) -> None:
    connection.send(b"GET /hello/x HTTP/1.1\r\nHost: ")
    assert connection.answer()[0] == 408
    assert connection.is_closed_by_server()


def test_a_connection_without_a_request_is_closed(connection: Connection) -> None:
    assert connection.is_closed_by_server()


def test_a_header_that_is_too_large_is_refused(connection: Connection) -> None:
    connection.send(b"GET /hello/x HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 8192)
    assert connection.answer()[0] == 431


@pytest.mark.parametrize("garbage", [b"\x16\x03\x01\x02\x00\x01\x00", b"HELLO\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n"])
def test_what_is_not_http_is_answered_with_400(connection: Connection, garbage: bytes) -> None:
    connection.send(garbage)
    status, answer, _ = connection.answer()
    assert (status, answer["error_code"]) == (400, 400)


def test_health_and_metrics(connection: Connection) -> None:
    assert connection.ask("GET", "/hello/x")[0] == 200
    assert connection.ask("GET", "/healthz") == (200, "healthy\n")
    assert connection.ask("GET", "/readyz") == (200, "ready\n")
    status, text = connection.ask("GET", "/metrics", Accept="text/plain")
    assert status == 200
    assert 'http_requests_total{method="GET",route="/hello/{name}",status="200"}' in text
    assert "/hello/x" not in text


def test_many_requests_at_once(served: Served) -> None:
    requests = [request_bytes("GET", f"/hello/{index}", None, {}) for index in range(500)]
    answers = ask_all(served.port, requests)
    assert [(status, body["name"]) for status, body in answers] == [(200, str(index)) for index in range(500)]


def test_beyond_the_limit_of_connections_503_is_the_answer() -> None:
    with serving(connections_max=1) as server:
        first, second = Connection(server.port), Connection(server.port)
        assert [first.ask("GET", "/hello/x")[0], second.ask("GET", "/hello/x")[0]] == [200, 503]
        assert second.is_closed_by_server()
        assert first.ask("GET", "/hello/x")[0] == 200
        first.close()
        second.close()


def test_a_stop_lets_requests_end() -> None:
    with serving() as server:
        waiting = Connection(server.port)
        waiting.send(request_bytes("GET", "/wait", None, {}))
        server.entered.wait()
        server.stop()
        # Nobody new is let in, and the one inside gets the answer.
        deadline = threading.Event()
        for _ in range(1000):
            try:
                Connection(server.port).close()
            except OSError:
                break
            deadline.wait(0.01)
        else:
            pytest.fail("the server still listens")
        server.release.set()
        assert waiting.answer()[:2] == (200, "waited")
        waiting.close()


def test_a_taken_port_is_explained() -> None:
    with (
        serving() as server,
        pytest.raises(ConfigError, match="in use"),
        serving(listeners=f"http://127.0.0.1:{server.port}"),
    ):
        pass


def test_basic_login(tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_text("alice: secret\n")
    with serving(authentication_method="basic", authentication_users_file=str(users)) as server:
        connection = Connection(server.port)

        def status(credentials: bytes) -> int:
            encoded = base64.b64encode(credentials).decode()
            return connection.ask("GET", "/hello/x", Authorization=f"Basic {encoded}")[0]

        connection.send(request_bytes("GET", "/hello/x", None, {}))
        refused, body, headers = connection.answer()
        assert (refused, body["error_code"]) == (401, 401)
        assert headers["www-authenticate"].startswith('Basic realm="ottla"')
        assert [status(b"alice:secret"), status(b"alice:wrong"), status(b"bob:"), status(b"\xff")] == [
            200,
            401,
            401,
            401,
        ]
        assert connection.ask("GET", "/healthz")[0] == 200
        connection.close()


def test_bearer_login(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("alice: t0k3n\n")
    with serving(authentication_method="BEARER", authentication_tokens_file=str(tokens)) as server:
        connection = Connection(server.port)
        answers = [
            connection.ask("GET", "/hello/x", Authorization=f"Bearer {token}")[0] for token in ("t0k3n", "x", "")
        ]
        assert answers == [200, 401, 401]
        connection.close()


def test_roles(tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_text("alice: secret, dev ,admin\nbob: word,dev\ncarol: pass\n")
    settings = {"authentication_users_file": str(users), "authentication_roles": "admin, operator"}
    with serving(authentication_method="BASIC", **settings) as server:
        connection = Connection(server.port)

        def status(credentials: str) -> int:
            encoded = base64.b64encode(credentials.encode()).decode()
            return connection.ask("GET", "/hello/x", Authorization=f"Basic {encoded}")[0]

        tried = ("alice:secret", "bob:word", "carol:pass", "alice:secret,admin", "alice:secret, dev ,admin")
        assert [status(each) for each in tried] == [200, 403, 403, 401, 401]
        connection.close()


@pytest.mark.parametrize(
    "asked", [{"ssl_client_authentication": "REQUIRED"}, {"ssl_client_auth": "true"}, {"ssl_client_auth": "required"}]
)
def test_tls_with_client_certificates(tmp_path: Path, asked: dict[str, str]) -> None:
    require_openssl()
    authority = Authority(tmp_path, "authority")
    mine, theirs = authority.sign("server", "DNS:localhost"), authority.sign("alice")
    settings = {
        "listeners": "https://127.0.0.1:0",
        "ssl_keystore_location": str(mine.both),
        "ssl_truststore_location": str(authority.certificate),
        **asked,
    }
    with serving(**settings) as server:
        context = ssl.create_default_context(cafile=str(authority.certificate))
        context.load_cert_chain(theirs.chain, theirs.key)
        connection = Connection(server.port, context)
        status, body = connection.ask("GET", "/hello/x")
        assert (status, "CN=alice" in body["who"]) == (200, True)
        connection.close()
        stranger = ssl.create_default_context(cafile=str(authority.certificate))
        # With TLS 1.3 the client learns of the refusal when it reads.
        refused = Connection(server.port, stranger)
        with pytest.raises((OSError, EOFError)):
            refused.ask("GET", "/hello/x")
        refused.close()
