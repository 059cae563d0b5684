"""Whom the handler of requests sees on a connection, and that it sees nobody's requests before."""

import socket
import ssl
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from ottla.net.apart import Runner, Worker
from ottla.net.connection import ANONYMOUS
from ottla.net.limits import ListenerLimits
from ottla.net.listener import Listener
from ottla.net.sasl.login import LoginRules
from ottla.net.sasl.plain import plain_server
from ottla.net.sasl.scram_server import ScramName, ServerCredential, credential_of, scram_server
from ottla.net.sasl.server import Accepted, Identity, ServerExchange
from ottla.net.security import ListenerSecurity
from ottla.net.tls.context import server_context
from ottla.net.tls.principal_rule import parse_rules
from ottla.net.tls.server import TlsServer
from ottla.net.tls.setting import TlsSettings
from ottla.protocol.definition import Request
from ottla.protocol.frame import encode_request
from ottla.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from ottla.protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.integration.client.certificate import Authority, Certificate, require_openssl
from tests.integration.net.served import PATIENCE_S, Echo, Served, framed, receive_exactly, receive_frame

LARGE = bytes(range(256)) * 4_000


def token() -> ServerExchange:
    yield b""
    return Accepted(Identity("User:owner", is_token=True))


LOGIN = LoginRules(
    {"PLAIN": partial(plain_server, {"alice": "secret"}.get), "TOKEN": token}, lambda _: 0, lambda _frame, _code: None
)


class Seeing(Echo):
    """Answers, and writes down whom it has seen."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, bool]] = []

    def received(self, frame, exchange):  # type: ignore[no-untyped-def]
        self.seen.append((exchange.connection.principal, exchange.connection.principal_is_token))
        super().received(frame, exchange)


class Place:
    """Listeners of one server, and certificates."""

    def __init__(self, directory: Path, served: Served, handler: Seeing) -> None:
        self.authority = Authority(directory, "authority")
        self.broker = self.authority.sign("localhost", "DNS:localhost")
        self.client = self.authority.sign("client")
        self.served = served
        self.handler = handler

    failure_delay_ms = 10

    def listen(
        self,
        client_auth: str | None,
        rules: str = "DEFAULT",
        login: LoginRules | None = None,
        apart: Runner | None = None,
    ) -> Listener:
        """A listener; without `client_auth` there is no TLS on it."""
        tls = None
        if client_auth is not None:
            settings = TlsSettings(
                keystore_location=str(self.broker.both),
                truststore_location=str(self.authority.certificate),
                client_auth=client_auth,
            )
            tls = TlsServer(server_context(settings), parse_rules(rules), ANONYMOUS)
        security = ListenerSecurity(
            tls=tls, login=login, now_ms=lambda: 0, failure_delay_ms=self.failure_delay_ms, apart=apart
        )
        poller = self.served.poller
        listener = Listener("SECURE", "localhost", 0, self.handler, poller, ListenerLimits(), security)
        self.served.call(listener.start)
        self.served.listeners.append(listener)
        return listener

    def connect(self, listener: Listener, certificate: Certificate | None = None) -> ssl.SSLSocket:
        """A client, with a certificate or without."""
        context = ssl.create_default_context(cafile=str(self.authority.certificate))
        if certificate is not None:
            context.load_cert_chain(certificate.both)
        plain = socket.create_connection(listener.address, timeout=PATIENCE_S)
        return context.wrap_socket(plain, server_hostname="localhost")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    require_openssl()
    handler = Seeing()
    with Served(handler) as served:
        yield Place(tmp_path, served, handler)


def send(sock: socket.socket, request: Request, version: int) -> bytes:
    sock.sendall(encode_request(request, version, correlation_id=1, client_id=""))
    return receive_frame(sock)


def log_in(sock: socket.socket, mechanism: str = "PLAIN") -> None:
    send(sock, SaslHandshakeRequest(mechanism=mechanism), 1)
    send(sock, SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"), 2)


def echoed(sock: socket.socket, content: bytes) -> None:
    sock.sendall(framed(content))
    assert receive_exactly(sock, 4 + len(content)) == framed(content)


@pytest.mark.parametrize(
    ("client_auth", "rules", "shown", "principal"),
    [
        ("none", "DEFAULT", False, ANONYMOUS),
        ("requested", "DEFAULT", False, ANONYMOUS),
        ("requested", "DEFAULT", True, "User:CN=client"),
        ("required", "RULE:^CN=(.*)$/$1/U", True, "User:CLIENT"),
    ],
)
def test_certificates_name_users(place: Place, client_auth: str, rules: str, shown: bool, principal: str) -> None:
    with place.connect(place.listen(client_auth, rules), place.client if shown else None) as sock:
        echoed(sock, b"hello")
    assert place.handler.seen == [(principal, False)]


def test_a_certificate_that_no_rule_is_for(place: Place) -> None:
    with place.connect(place.listen("required", "RULE:^CN=other$/x/"), place.client) as sock:
        sock.sendall(framed(b"hello"))
        assert sock.recv(1) == b""
    assert not place.handler.seen


def test_one_who_was_refused_goes_with_the_listener(place: Place) -> None:
    """However long the refusal would be held back."""
    place.failure_delay_ms = 3_600_000
    listener = place.listen("required", "RULE:^CN=other$/x/")
    with place.connect(listener, place.client) as sock:
        sock.sendall(framed(b"hello"))
        sock.settimeout(0.5)
        with pytest.raises(TimeoutError):
            sock.recv(1)
        place.served.call(listener.close)
        sock.settimeout(PATIENCE_S)
        assert sock.recv(1) == b""


@pytest.mark.parametrize("client_auth", [None, "none", "required"])
def test_a_log_in_names_its_user(place: Place, client_auth: str | None) -> None:
    listener = place.listen(client_auth, login=LOGIN)
    for mechanism, expected in (("PLAIN", ("User:alice", False)), ("TOKEN", ("User:owner", True))):
        sock: socket.socket
        if client_auth is None:
            sock = socket.create_connection(listener.address, timeout=PATIENCE_S)
        else:
            sock = place.connect(listener, place.client)
        with sock:
            log_in(sock, mechanism)
            echoed(sock, b"hello")
        assert place.handler.seen.pop() == expected
    assert not place.handler.seen


def test_large_frames_both_ways(place: Place) -> None:
    listener = place.listen("none", login=LOGIN)
    with place.connect(listener) as sock:
        log_in(sock)
        for _ in range(3):
            echoed(sock, LARGE)
            echoed(sock, b"small")
        sock.sendall(framed(b"a") * 1_000)
        assert receive_exactly(sock, 5_000) == framed(b"a") * 1_000


def test_who_goes_while_much_is_written(place: Place) -> None:
    listener = place.listen("none")
    for _ in range(5):
        with place.connect(listener) as sock:
            sock.sendall(framed(LARGE) * 3)
            sock.recv(1)
    with place.connect(listener) as sock:
        echoed(sock, LARGE)


def test_keys_that_are_derived_hold_up_no_other_client(place: Place) -> None:
    """SCRAM makes a user's keys from a password in thousands of rounds."""
    begun, may_end = threading.Event(), threading.Event()

    def derive(name: ScramName) -> ServerCredential:
        begun.set()
        assert may_end.wait(PATIENCE_S)
        return credential_of("sha256", "secret", b"salt", Identity(f"User:{name.username}"))

    mechanisms = {**LOGIN.mechanisms, "SCRAM-SHA-256": partial(scram_server, "SCRAM-SHA-256", derive, "nonce")}
    rules = LoginRules(mechanisms, LOGIN.session_ms_max, LOGIN.refuse)
    worker = Worker()
    listener = place.listen(None, login=rules, apart=worker)
    with (
        socket.create_connection(listener.address, timeout=PATIENCE_S) as bystander,
        socket.create_connection(listener.address, timeout=PATIENCE_S) as sock,
    ):
        log_in(bystander)
        send(sock, SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1)
        first = SaslAuthenticateRequest(auth_bytes=b"n,,n=bob,r=mine")
        sock.sendall(encode_request(first, 2, correlation_id=1, client_id=""))
        assert begun.wait(PATIENCE_S)
        echoed(bystander, b"meanwhile")
        may_end.set()
        assert b"r=minenonce,s=c2FsdA==,i=4096" in receive_frame(sock)
    worker.close()
