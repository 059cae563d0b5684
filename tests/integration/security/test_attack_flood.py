"""Strangers who come again and again are refused; the log names a source once, nothing grows, others are served."""

import gc
import logging
import os
import struct
from collections.abc import Iterator

import pytest

from ottla.protocol.frame import encode_request
from ottla.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from ottla.protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.clients.patience import until
from tests.integration.net.served import is_closed_by_server
from tests.integration.security.secured_node import SecuredNode
from tests.integration.security.test_attack import connect, is_served

LINES_MAX = 3
OBJECTS_MAX = 5_000
"""What may come and go by itself: timers, metrics, statistics."""


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    settings = {"connection.failed.authentication.delay.ms": "0"}
    with SecuredNode(tmp_path_factory.mktemp("flooded"), **settings) as found:
        yield found


def frames(user: str, password: bytes) -> bytes:
    """A whole log-in, which needs no answer to go on."""
    messages = (
        (SaslHandshakeRequest(mechanism="PLAIN"), 1),
        (SaslAuthenticateRequest(auth_bytes=b"\0" + user.encode() + b"\0" + password), 2),
    )
    return b"".join(encode_request(each, at, correlation_id=1, client_id="me") for each, at in messages)


def refused(node: SecuredNode, number: int) -> None:
    """One more try, under ever new names, with ever new passwords."""
    with connect(node, "SASL") as sock:
        sock.sendall(frames(f"user-{number}" if number % 2 else "alice", b"guess-%d" % number))
        received = b""
        while chunk := sock.recv(4096):
            received += chunk
        assert b"Invalid username or password" in received


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the log says about clients at the level that operators see."""
    return [record.getMessage() for record in caplog.records if record.name.startswith("ottla.net")]


@pytest.mark.parametrize("tries", [200, pytest.param(10_000, marks=pytest.mark.long)])
def test_failed_log_ins(node: SecuredNode, tries: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ottla.net")
    for number in range(100):
        refused(node, number)
    gc.collect()
    objects, descriptors = len(gc.get_objects()), len(os.listdir("/proc/self/fd"))
    for number in range(tries):
        refused(node, number)
    gc.collect()
    assert len(gc.get_objects()) - objects < OBJECTS_MAX
    until(True, lambda: len(os.listdir("/proc/self/fd")) <= descriptors)
    said = lines(caplog)
    assert len(said) <= LINES_MAX
    assert all("Invalid username or password" in line for line in said)
    assert not any("guess-" in line for line in said)
    is_served(node)


NOISE = {
    "bytes that are no frame": b"\xff" * 64,
    "a frame that is too large": struct.pack(">i", 1 << 30),
    "a call that there is not": struct.pack(">ihhih", 10, 999, 0, 1, -1),
    "a call before the log-in": struct.pack(">ihhih", 10, 3, 1, 1, -1),
    "a request without a body": struct.pack(">i", 0),
}


@pytest.mark.parametrize("listener", ["PLAINTEXT", "SASL"])
@pytest.mark.parametrize("noise", NOISE.values(), ids=list(NOISE))
def test_noise(node: SecuredNode, listener: str, noise: bytes, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ottla.net")
    for _ in range(20):
        with connect(node, listener) as sock:
            sock.sendall(noise)
            assert noise == NOISE["a call before the log-in"] or is_closed_by_server(sock)
    assert len(lines(caplog)) <= LINES_MAX
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    is_served(node)


def test_something_else_than_tls(node: SecuredNode, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ottla.net")
    for _ in range(20):
        with connect(node, "TLS") as sock:
            sock.sendall(NOISE["bytes that are no frame"])
            assert is_closed_by_server(sock)
    assert len(lines(caplog)) <= LINES_MAX
