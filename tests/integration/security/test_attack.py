"""Those who mean harm, or speak something else: each is sent away, and nobody else notices."""

import contextlib
import socket
import ssl
import struct
import time
from collections.abc import Iterator

import pytest

from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ErrorCode
from ottla.protocol.frame import decode_response, encode_request
from ottla.protocol.messages.api_versions import ApiVersionsRequest
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse
from ottla.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ottla.protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.integration.client.test_security import ask
from tests.integration.net.served import PATIENCE_S, is_closed_by_server, receive_frame
from tests.integration.security.secured_node import SecuredNode

HALF_OPEN = 300
DELAY_S = 0.5


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    changes = {
        "connection.failed.authentication.delay.ms": str(round(DELAY_S * 1000)),
        "listener.name.sasl.plain.connections.max.reauth.ms": "1500",
    }
    with SecuredNode(tmp_path_factory.mktemp("attacked"), **changes) as found:
        yield found


def connect(node: SecuredNode, listener: str) -> socket.socket:
    return socket.create_connection(("localhost", node.port(listener)), timeout=PATIENCE_S)


def request(sock: socket.socket, message: object, version: int) -> bytes:
    """Sends a request and returns the frame that answers it."""
    sock.sendall(encode_request(message, version, correlation_id=1, client_id="me"))  # type: ignore[arg-type]
    return receive_frame(sock)


def log_in(sock: socket.socket, password: bytes = b"secret") -> SaslAuthenticateResponse:
    request(sock, SaslHandshakeRequest(mechanism="PLAIN"), 1)
    frame = request(sock, SaslAuthenticateRequest(auth_bytes=b"\0alice\0" + password), 2)
    response = decode_response(frame, ApiKey.SASL_AUTHENTICATE, 2)[1]
    assert isinstance(response, SaslAuthenticateResponse)
    return response


def is_served(node: SecuredNode) -> None:
    """Somebody with the right password and certificate is served."""
    ask(
        node.address("SASLTLS"),
        security_protocol="SASL_SSL",
        sasl_mechanism="PLAIN",
        sasl_username="alice",
        sasl_password="secret",
        ssl_truststore_location=node.authority.certificate,
    )


def test_something_else_than_tls_is_closed(node: SecuredNode) -> None:
    for listener in ("TLS", "SASLTLS"):
        for start in (b"GET / HTTP/1.1\r\n\r\n", struct.pack(">ihhi", 10, 18, 0, 1), bytes(100)):
            with connect(node, listener) as sock:
                sock.sendall(start)
                assert is_closed_by_server(sock)


def test_tls_where_there_is_none(node: SecuredNode) -> None:
    context = ssl.create_default_context(cafile=str(node.authority.certificate))
    with connect(node, "SASL") as sock, pytest.raises((ssl.SSLError, OSError)):
        context.wrap_socket(sock, server_hostname="localhost")


def test_handshakes_that_never_end_cost_nobody_anything(node: SecuredNode) -> None:
    context = ssl.create_default_context(cafile=str(node.authority.certificate))
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    hello = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        hello.do_handshake()
    start = outgoing.read()
    with contextlib.ExitStack() as stack:
        for number in range(HALF_OPEN):
            sock = stack.enter_context(connect(node, "SASLTLS"))
            sock.sendall(start[: number % len(start)])
        is_served(node)


@pytest.mark.parametrize("message", [MetadataRequest(), SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret")])
def test_requests_before_the_log_in(node: SecuredNode, message: object) -> None:
    with connect(node, "SASL") as sock:
        sock.sendall(encode_request(message, 0, correlation_id=1, client_id="me"))  # type: ignore[arg-type]
        assert sock.recv(1) == b""


def test_versions_twice(node: SecuredNode) -> None:
    with connect(node, "SASL") as sock:
        assert request(sock, ApiVersionsRequest(), 0)
        sock.sendall(encode_request(ApiVersionsRequest(), 0, correlation_id=1, client_id="me"))
        assert sock.recv(1) == b""


def test_a_request_in_the_middle_of_the_log_in(node: SecuredNode) -> None:
    with connect(node, "SASL") as sock:
        request(sock, SaslHandshakeRequest(mechanism="PLAIN"), 1)
        frame = request(sock, MetadataRequest(topics=None), 12)
        response = decode_response(frame, ApiKey.METADATA, 12)[1]
        assert isinstance(response, MetadataResponse)
        assert not response.brokers
        assert is_closed_by_server(sock)


def test_frames_that_are_too_large_before_the_log_in(node: SecuredNode) -> None:
    with connect(node, "SASL") as sock:
        sock.sendall(struct.pack(">i", 524_289))
        assert is_closed_by_server(sock)
    with connect(node, "SASL") as sock:
        assert log_in(sock).error_code == 0
        sock.sendall(struct.pack(">ihh", 600_000, 3, 12) + bytes(100_000))
        sock.settimeout(0.2)
        with pytest.raises(TimeoutError):
            sock.recv(1)


def test_a_failure_is_held_back_and_holds_nobody_else_back(node: SecuredNode) -> None:
    with connect(node, "SASL") as sock, connect(node, "SASL") as other:
        request(sock, SaslHandshakeRequest(mechanism="PLAIN"), 1)
        sent_at = time.monotonic()
        wrong = SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong")
        sock.sendall(encode_request(wrong, 2, correlation_id=1, client_id="me"))
        assert log_in(other).error_code == 0
        response = decode_response(receive_frame(sock), ApiKey.SASL_AUTHENTICATE, 2)[1]
        assert time.monotonic() - sent_at > DELAY_S / 2
        assert isinstance(response, SaslAuthenticateResponse)
        assert response.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert response.error_message == "Authentication failed: Invalid username or password"
        assert is_closed_by_server(sock)


def test_many_failures(node: SecuredNode) -> None:
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(connect(node, "SASL")) for _ in range(100)]
        for sock in socks:
            request(sock, SaslHandshakeRequest(mechanism="PLAIN"), 1)
            wrong = SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong")
            sock.sendall(encode_request(wrong, 2, correlation_id=1, client_id="me"))
        is_served(node)
        assert all(is_closed_by_server(sock) for sock in socks)


def test_the_whole_log_in_in_one_packet(node: SecuredNode) -> None:
    with connect(node, "SASL") as sock:
        messages = (
            (ApiVersionsRequest(), 0),
            (SaslHandshakeRequest(mechanism="PLAIN"), 1),
            (SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"), 2),
            (MetadataRequest(topics=None), 12),
        )
        sock.sendall(b"".join(encode_request(each, at, correlation_id=1, client_id="me") for each, at in messages))
        answers = [receive_frame(sock) for _ in messages]
        response = decode_response(answers[3], ApiKey.METADATA, 12)[1]
        assert isinstance(response, MetadataResponse)
        assert response.brokers


def test_a_session_ends_unless_it_is_renewed(node: SecuredNode) -> None:
    with connect(node, "SASL") as sock, connect(node, "SASL") as other:
        assert log_in(sock).session_lifetime_ms == 1_500
        log_in(other)
        time.sleep(1.2)
        assert log_in(sock).session_lifetime_ms == 1_500
        time.sleep(0.4)
        other.sendall(encode_request(MetadataRequest(), 12, correlation_id=1, client_id="me"))
        assert other.recv(1) == b""


def test_an_older_tls_is_refused(node: SecuredNode) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(node.authority.certificate)
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with connect(node, "TLS") as sock, pytest.raises((ssl.SSLError, ConnectionError)):
        context.wrap_socket(sock, server_hostname="localhost")
