"""Whatever a client sends before it is known: it is refused in one of the agreed ways, or it is somebody."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.base.errors import OttlaError
from ottla.net.sasl.jaas import JaasError, parse_entry, parse_file
from ottla.net.sasl.login import Login, LoginRules, Turn
from ottla.net.sasl.oauthbearer import oauthbearer_server
from ottla.net.sasl.plain import plain_server
from ottla.net.sasl.scram import ScramLogin, scram_exchange
from ottla.net.sasl.scram_server import ScramName, ServerCredential, credential_of, scram_server
from ottla.net.sasl.server import Accepted, Identity, SaslBrokenError, SaslRefusedError, user
from ottla.net.sasl.unsecured_token import UnsecuredRules, unsecured_reader
from ottla.net.tls.certificate import CertificateError, read_certificate
from ottla.protocol.frame import encode_request
from ottla.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from ottla.protocol.messages.sasl_handshake import SaslHandshakeRequest

CREDENTIAL = credential_of("sha256", "secret", b"salt", Identity("User:alice"))
NAMES = st.text(st.characters(min_codepoint=1, max_codepoint=127), min_size=1, max_size=20)


def find(name: ScramName) -> ServerCredential | None:
    return CREDENTIAL if name.username == "alice" else None


MECHANISMS = {
    "PLAIN": lambda: plain_server({"alice": "secret"}.get),
    "SCRAM-SHA-256": lambda: scram_server("SCRAM-SHA-256", find, "nonce"),
    "OAUTHBEARER": lambda: oauthbearer_server(unsecured_reader(UnsecuredRules(), lambda: 0)),
}
PIECES = st.lists(
    st.one_of(
        st.binary(max_size=12),
        st.sampled_from(
            [b"n,,", b"n=", b"alice", b",r=", b"abc", b"\0", b"c=biws", b",p=", b"AAAA", b"\x01", b"secret"]
        ),
        st.sampled_from([b"auth=Bearer ", b"eyJhbGciOiJub25lIn0", b".", b"a=alice"]),
    ),
    max_size=12,
).map(b"".join)


@given(mechanism=st.sampled_from(sorted(MECHANISMS)), messages=st.lists(PIECES, max_size=4))
def test_mechanisms_fail_in_two_ways_only(mechanism: str, messages: list[bytes]) -> None:
    exchange = MECHANISMS[mechanism]()
    next(exchange)
    sent, ended = b"", None
    try:
        for message in messages:
            sent = message
            exchange.send(message)
    except (SaslRefusedError, SaslBrokenError):
        return
    except StopIteration as end:
        ended = end.value
    # Nobody but who knows the password gets in, whatever is made of these pieces.
    assert ended is None or (ended == Accepted(Identity("User:alice")) and b"secret" in sent)


FRAMES = st.one_of(
    st.binary(max_size=60),
    st.binary(max_size=40).map(lambda rest: b"\0\x12\0\0" + rest),
    st.binary(max_size=40).map(lambda rest: b"\0\x24\0\1" + rest),
    st.sampled_from(sorted(MECHANISMS)).map(
        lambda name: encode_request(SaslHandshakeRequest(mechanism=name), 1, correlation_id=1, client_id="")[4:]
    ),
    PIECES.map(
        lambda data: encode_request(SaslAuthenticateRequest(auth_bytes=data), 2, correlation_id=1, client_id="")[4:]
    ),
)


@given(frames=st.lists(FRAMES, max_size=8))
def test_no_frame_is_served_before_the_log_in(frames: list[bytes]) -> None:
    login = Login(LoginRules(MECHANISMS, lambda _: 0, lambda _frame, _code: b"no"))
    passed = 0
    for frame in frames:
        was_known = login.is_known
        with contextlib.suppress(OttlaError):
            step = login.received(memoryview(frame), 0)
            if step.turn is Turn.PASS and not was_known:
                passed += 1
                assert frame[:2] == b"\0\x12"
            if step.turn in (Turn.END, Turn.REFUSE):
                return
    assert passed <= len(frames)


@given(name=NAMES, password=st.text(min_size=1, max_size=20), nonce=st.text("abcXYZ019", min_size=1, max_size=30))
def test_both_sides_of_scram_agree(name: str, password: str, nonce: str) -> None:
    kept = credential_of("sha512", password, b"salt", Identity(user(name)))
    server = scram_server("SCRAM-SHA-512", lambda found: kept if found.username == name else None, nonce)
    next(server)
    client = scram_exchange(ScramLogin("SCRAM-SHA-512", name, password))
    final = client.send(server.send(next(client)))
    with pytest.raises(StopIteration) as ended:
        server.send(final)
    assert ended.value.value.identity == Identity(user(name))
    with pytest.raises(StopIteration):
        client.send(ended.value.value.message)


@given(text=st.text(max_size=80) | st.text("ab.=;\"'\\/*{} \nrequired", max_size=80))
def test_jaas_is_understood_or_refused(text: str) -> None:
    for parse in (parse_entry, parse_file):
        with contextlib.suppress(JaasError):
            parse(text)


@given(data=st.binary(max_size=200) | st.binary(max_size=60).map(lambda rest: b"\x30\x3c\x30\x3a" + rest))
def test_bytes_are_a_certificate_or_not(data: bytes) -> None:
    with contextlib.suppress(CertificateError):
        read_certificate(data)
