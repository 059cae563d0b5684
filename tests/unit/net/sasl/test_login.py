"""The log-in around the mechanisms: what may come when, what is answered, and how a session ends and goes on."""

import pytest

from ottla.net.sasl.login import Login, LoginRules, Turn
from ottla.net.sasl.plain import plain_server
from ottla.net.sasl.server import Accepted, Identity, ServerExchange
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request
from ottla.protocol.errors import ErrorCode
from ottla.protocol.frame import decode_response, encode_request
from ottla.protocol.messages.api_versions import ApiVersionsRequest
from ottla.protocol.messages.metadata import MetadataRequest
from ottla.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ottla.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

NOW_MS = 1_000_000
RIGHT = b"\0alice\0secret"
USERS = {"alice": "secret", "bob": "secret"}
REFUSED = b"refused"


def frame(request: Request, version: int = 0) -> memoryview:
    return memoryview(encode_request(request, version, correlation_id=7, client_id="me"))[4:]


def token() -> ServerExchange:
    yield b""
    return Accepted(Identity("User:alice", expires_at_ms=NOW_MS + 400))


def login(session_ms: int = 0) -> Login:
    mechanisms = {"PLAIN": lambda: plain_server(USERS.get), "TOKEN": token}
    return Login(LoginRules(mechanisms, lambda _: session_ms, lambda _frame, _code: REFUSED))


def answered(answer: bytes | None, api: ApiKey, version: int) -> object:
    assert answer is not None
    assert int.from_bytes(answer[:4], "big") == len(answer) - 4
    correlation_id, response = decode_response(answer[4:], api, version)
    assert correlation_id == 7
    return response


def handshake(one: Login, mechanism: str = "PLAIN", version: int = 1, now_ms: int = NOW_MS) -> SaslHandshakeResponse:
    step = one.received(frame(SaslHandshakeRequest(mechanism=mechanism), version), now_ms)
    response = answered(step.answer, ApiKey.SASL_HANDSHAKE, version)
    assert isinstance(response, SaslHandshakeResponse)
    return response


def authenticate(
    one: Login, message: bytes = RIGHT, version: int = 2, now_ms: int = NOW_MS
) -> tuple[Turn, SaslAuthenticateResponse]:
    step = one.received(frame(SaslAuthenticateRequest(auth_bytes=message), version), now_ms)
    response = answered(step.answer, ApiKey.SASL_AUTHENTICATE, version)
    assert isinstance(response, SaslAuthenticateResponse)
    return step.turn, response


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_log_in(version: int) -> None:
    one = login()
    assert one.received(frame(ApiVersionsRequest()), NOW_MS).turn is Turn.PASS
    assert handshake(one) == SaslHandshakeResponse(mechanisms=["PLAIN", "TOKEN"])
    turn, response = authenticate(one, version=version)
    assert turn is Turn.ACCEPT
    assert (response.error_code, response.session_lifetime_ms) == (0, 0)
    assert one.identity == Identity("User:alice")
    assert one.expires_at_ms is None
    assert one.received(frame(MetadataRequest()), NOW_MS).turn is Turn.PASS


def test_an_old_handshake_has_bare_messages_after_it() -> None:
    one = login()
    handshake(one, version=0)
    step = one.received(memoryview(RIGHT), NOW_MS)
    assert (step.turn, step.answer) == (Turn.ACCEPT, bytes(4))
    other = login()
    handshake(other, version=0)
    step = other.received(memoryview(b"\0alice\0wrong"), NOW_MS)
    assert (step.turn, step.answer) == (Turn.REFUSE, None)


def test_a_wrong_password_is_told_in_words() -> None:
    one = login()
    handshake(one)
    turn, response = authenticate(one, b"\0alice\0wrong")
    assert turn is Turn.REFUSE
    assert response.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert response.error_message == "Authentication failed: Invalid username or password"
    assert one.identity is None


def test_a_mechanism_that_is_not_there() -> None:
    one = login()
    step = one.received(frame(SaslHandshakeRequest(mechanism="GSSAPI"), 1), NOW_MS)
    response = answered(step.answer, ApiKey.SASL_HANDSHAKE, 1)
    assert step.turn is Turn.END
    assert response == SaslHandshakeResponse(
        error_code=int(ErrorCode.UNSUPPORTED_SASL_MECHANISM), mechanisms=["PLAIN", "TOKEN"]
    )


@pytest.mark.parametrize("request_", [MetadataRequest(), SaslAuthenticateRequest(auth_bytes=RIGHT)])
def test_nothing_is_served_before_the_handshake(request_: Request) -> None:
    step = login().received(frame(request_), NOW_MS)
    assert (step.turn, step.answer) == (Turn.END, None)


def test_the_versions_are_told_once() -> None:
    one = login()
    assert one.received(frame(ApiVersionsRequest()), NOW_MS).turn is Turn.PASS
    assert one.received(frame(ApiVersionsRequest()), NOW_MS).turn is Turn.END


def test_a_version_of_the_future_may_be_asked_for_before() -> None:
    one = login()
    future = memoryview(bytearray(frame(ApiVersionsRequest())))
    future[2:4] = (99).to_bytes(2, "big")
    assert one.received(future, NOW_MS).turn is Turn.PASS
    assert one.received(frame(ApiVersionsRequest()), NOW_MS).turn is Turn.PASS


@pytest.mark.parametrize("request_", [MetadataRequest(), ApiVersionsRequest(), SaslHandshakeRequest(mechanism="PLAIN")])
def test_another_call_in_the_middle_is_refused_in_its_own_shape(request_: Request) -> None:
    one = login()
    handshake(one)
    step = one.received(frame(request_), NOW_MS)
    assert (step.turn, step.answer) == (Turn.END, REFUSED)


def test_a_session_ends_and_can_be_renewed() -> None:
    one = login(session_ms=5_000)
    handshake(one)
    assert authenticate(one)[1].session_lifetime_ms == 5_000
    assert one.received(frame(MetadataRequest()), NOW_MS + 4_999).turn is Turn.PASS
    handshake(one, now_ms=NOW_MS + 4_000)
    assert not one.is_known
    turn, response = authenticate(one, now_ms=NOW_MS + 4_001)
    assert (turn, response.session_lifetime_ms) == (Turn.ACCEPT, 5_000)
    assert one.received(frame(MetadataRequest()), NOW_MS + 9_000).turn is Turn.PASS
    late = one.received(frame(MetadataRequest()), NOW_MS + 9_001)
    assert (late.turn, late.answer) == (Turn.END, None)


def test_a_session_that_has_ended_can_still_be_renewed() -> None:
    one = login(session_ms=5_000)
    handshake(one)
    authenticate(one)
    handshake(one, now_ms=NOW_MS + 9_000)
    assert authenticate(one, now_ms=NOW_MS + 9_000)[0] is Turn.ACCEPT


def test_a_renewal_that_is_too_early_or_needless_is_the_handlers() -> None:
    again = frame(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    for one in (login(session_ms=5_000), login()):
        handshake(one)
        authenticate(one)
        assert one.received(again, NOW_MS + 999).turn is Turn.PASS
    assert one.received(again, NOW_MS + 5_000).turn is Turn.PASS


def test_a_renewal_by_somebody_else() -> None:
    one = login(session_ms=5_000)
    handshake(one)
    authenticate(one)
    handshake(one, now_ms=NOW_MS + 2_000)
    turn, response = authenticate(one, b"\0bob\0secret", now_ms=NOW_MS + 2_000)
    assert turn is Turn.REFUSE
    assert response.error_message == ("Cannot change principals during re-authentication from User.alice: User.bob")


def test_a_renewal_by_another_mechanism() -> None:
    one = login(session_ms=5_000)
    handshake(one)
    authenticate(one)
    assert handshake(one, "TOKEN", now_ms=NOW_MS + 2_000).error_code == 0
    turn, response = authenticate(one, now_ms=NOW_MS + 2_000)
    assert (turn, response.error_code) == (Turn.REFUSE, ErrorCode.SASL_AUTHENTICATION_FAILED)
    assert "is not supported for re-authentication" in (response.error_message or "")


@pytest.mark.parametrize(("session_ms", "lifetime_ms"), [(0, 400), (5_000, 400), (300, 300)])
def test_a_tokens_end_is_the_sessions_end(session_ms: int, lifetime_ms: int) -> None:
    one = login(session_ms)
    handshake(one, "TOKEN")
    assert authenticate(one)[1].session_lifetime_ms == lifetime_ms
    assert one.expires_at_ms == NOW_MS + lifetime_ms
