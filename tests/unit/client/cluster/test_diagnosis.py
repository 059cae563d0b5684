import errno
import socket
import ssl

import pytest

from ottla.client.cluster.address import Address
from ottla.client.cluster.diagnosis import explain, first_request_refused
from ottla.net.errors import InvalidFrameError
from ottla.protocol.errors import NetworkError

ADDRESS = Address("kafka", 9092)


def tls(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, reason)
    error.reason = reason
    return error


def certificate(message: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, message)
    error.verify_message = message
    return error


def frame(start: bytes) -> InvalidFrameError:
    return InvalidFrameError(int.from_bytes(start, "big", signed=True), 1)


@pytest.mark.parametrize(
    ("error", "protocol", "text"),
    [
        (socket.gaierror(socket.EAI_NONAME, "x"), "PLAINTEXT", "the name kafka can't be resolved: there is no such"),
        (socket.gaierror(socket.EAI_AGAIN, "x"), "PLAINTEXT", "no DNS server answers"),
        (UnicodeError("label too long"), "PLAINTEXT", "the name kafka can't be resolved"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "SSL", "nothing listens on port 9092 there"),
        (OSError(errno.EHOSTUNREACH, "No route to host"), "SSL", "No route to host: no way to this address"),
        (OSError(errno.EACCES, "Permission denied"), "SSL", "Permission denied"),
        (tls("WRONG_VERSION_NUMBER"), "SSL", "it looks like a plaintext listener"),
        (tls("TLSV13_ALERT_CERTIFICATE_REQUIRED"), "SSL", "set ssl.keystore.location"),
        (tls("TLSV1_ALERT_UNKNOWN_CA"), "SSL", "the broker does not trust our certificate"),
        (tls("TLSV1_ALERT_PROTOCOL_VERSION"), "SSL", "no common TLS version"),
        (tls("SOMETHING_ELSE"), "SSL", "TLS failed: SOMETHING_ELSE"),
        (certificate("Hostname mismatch, x"), "SSL", "the broker's certificate is not for kafka"),
        (certificate("certificate has expired"), "SSL", "check its dates and both clocks"),
        (certificate("self-signed certificate"), "SSL", "set ssl.truststore.location"),
        (frame(b"\x15\x03\x03\x00"), "PLAINTEXT", "set security.protocol to SSL"),
        (frame(b"\x16\x03\x03\x00"), "SASL_PLAINTEXT", "set security.protocol to SASL_SSL"),
        (frame(b"HTTP"), "PLAINTEXT", "HTTP is spoken there"),
        (frame(b"SSH-"), "PLAINTEXT", "it said 'SSH-'..."),
        (frame(b"\xff\x00\x00\x00"), "PLAINTEXT", "is this a broker's port?"),
        (NetworkError("x"), "PLAINTEXT", "does that listener want TLS or SASL"),
        (ConnectionResetError(), "SSL", "is it a broker's TLS port?"),
        (NetworkError("x"), "SASL_PLAINTEXT", "does that listener speak SASL_PLAINTEXT?"),
    ],
)
def test_every_trouble_has_a_remedy(error: Exception, protocol: str, text: str) -> None:
    assert text in explain(error, ADDRESS, protocol)


def test_the_step_is_named() -> None:
    assert "during the TLS handshake" in explain(ConnectionResetError(), ADDRESS, "SSL", step="the TLS handshake")


def test_a_listener_that_wants_sasl() -> None:
    node, reason = first_request_refused(NetworkError("kafka:9092 (bootstrap) disconnected"))
    assert node == "kafka:9092 (bootstrap)"
    assert "SASL_PLAINTEXT" in reason
