"""Why a connection could not be made, in words that name a remedy.

Pure: an exception and what was being done in, a sentence out. The cases are those that people meet: a name that does
not resolve, no listener, a firewall, the wrong security protocol on either side, a port that isn't Kafka's.
"""

import errno
import socket
import ssl
from typing import Final

from ottla.client.cluster.address import Address
from ottla.net.errors import InvalidFrameError, NoProofError
from ottla.protocol.errors import NetworkError

_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_HTTP: Final = (b"HTTP", b"<htm", b"<!DO")
_TLS_RECORDS: Final = (b"\x15\x03", b"\x16\x03")


def explain(error: BaseException, address: Address, protocol: str, *, step: str = "") -> str:
    """A likely cause of `error`, for the person who set up a client that speaks `protocol`."""
    if isinstance(error, (socket.gaierror, UnicodeError)):
        return _name_trouble(error, address)
    if isinstance(error, ssl.SSLError):
        return _tls_trouble(error, address)
    if isinstance(error, InvalidFrameError):
        return _foreign_answer(error, protocol)
    if isinstance(error, ConnectionRefusedError):
        return f"connection refused: nothing listens on port {address.port} there; is the broker running?"
    if isinstance(error, OSError) and error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ETIMEDOUT):
        return f"{error.strerror or 'unreachable'}: no way to this address; check network and firewall"
    if isinstance(error, NoProofError):
        return str(error)
    if isinstance(error, (NetworkError, ConnectionResetError, BrokenPipeError, EOFError)):
        return _closed(protocol, step)
    return str(getattr(error, "strerror", None) or error)


def first_request_refused(error: NetworkError) -> tuple[str, str]:
    """Whom it is about, and what it means, when a node answers for its versions and then closes the connection."""
    node = str(error).partition(" disconnected")[0]
    return node, (
        "it closed the connection at the first request: that listener probably wants SASL; "
        "set security.protocol to SASL_PLAINTEXT, with sasl.mechanism, sasl.username and sasl.password"
    )


def _name_trouble(error: BaseException, address: Address) -> str:
    if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
        return f"the name {address.host} can't be resolved now: no DNS server answers"
    return f"the name {address.host} can't be resolved: there is no such host in DNS or /etc/hosts"


def _tls_trouble(error: ssl.SSLError, address: Address) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return _certificate_trouble(error, address)
    reason = (error.reason or str(error)).upper()
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"):
        return (
            "no TLS is spoken there: it looks like a plaintext listener; use its TLS port, or set "
            "security.protocol to PLAINTEXT or SASL_PLAINTEXT"
        )
    if "CERTIFICATE_REQUIRED" in reason or "ALERT_BAD_CERTIFICATE" in reason or "HANDSHAKE_FAILURE" in reason:
        return (
            f"the broker refused the TLS handshake ({reason.lower()}): if it wants a client certificate, "
            "set ssl.keystore.location to one that it trusts"
        )
    if "UNKNOWN_CA" in reason or "CERTIFICATE_UNKNOWN" in reason:
        return f"the broker does not trust our certificate ({reason.lower()}): it must be signed by a CA that it trusts"
    if "PROTOCOL_VERSION" in reason or "UNSUPPORTED_PROTOCOL" in reason:
        return f"no common TLS version ({reason.lower()}): see ssl.enabled.protocols on both sides"
    return f"TLS failed: {error.reason or error}"


def _certificate_trouble(error: ssl.SSLCertVerificationError, address: Address) -> str:
    said = (error.verify_message or str(error)).rstrip(".")
    if "(SAN)" in said:
        return f"the broker's certificate is not for {address.host}: {said}"
    if "mismatch" in said.lower() or "doesn't match" in said.lower():
        return (
            f"the broker's certificate is not for {address.host} ({said}): connect by a name that stands in its "
            "subject alternative names, get one that has this name there, or switch the check off with "
            "ssl.endpoint.identification.algorithm="
        )
    if "expired" in said or "not yet valid" in said:
        return f"the broker's certificate: {said}; check its dates and both clocks"
    return (
        f"the broker's certificate can't be trusted: {said}; set ssl.truststore.location to the PEM file of the "
        "certificate authority that signed it"
    )


def _foreign_answer(error: InvalidFrameError, protocol: str) -> str:
    start = (error.size & 0xFFFFFFFF).to_bytes(4, "big")
    if start[:2] in _TLS_RECORDS:
        wanted = "SASL_SSL" if protocol.startswith("SASL") else "SSL"
        return f"TLS is spoken there: set security.protocol to {wanted}"
    if start in _HTTP:
        return "HTTP is spoken there: this is a web server's port, not a Kafka broker's"
    shown = start.decode("ascii", "replace") if start.isascii() and start.decode("ascii").isprintable() else ""
    heard = f", it said {shown!r}..." if shown else ""
    return f"something else than Kafka's protocol is spoken there{heard}: is this a broker's port?"


def _closed(protocol: str, step: str) -> str:
    during = f" during {step}" if step else ""
    if protocol.endswith("SSL"):
        return (
            f"the other side closed the connection{during}: is it a broker's TLS port? "
            f"A listener without TLS needs security.protocol={protocol.removesuffix('SSL')}PLAINTEXT"
        )
    if protocol == "PLAINTEXT":
        return (
            f"the other side closed the connection{during}: is it a broker's port, and does that listener want "
            "TLS or SASL (security.protocol)?"
        )
    return f"the other side closed the connection{during}: does that listener speak {protocol}?"
