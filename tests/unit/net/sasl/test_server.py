"""The server's half of every mechanism: recorded exchanges, and what is refused in which words."""

import base64
import json
import tracemalloc

import pytest

from ottla.net.errors import LoginFailedError
from ottla.net.sasl.oauthbearer import TokenRefusedError, oauthbearer_exchange, oauthbearer_server
from ottla.net.sasl.plain import plain_server
from ottla.net.sasl.scram import ScramLogin, scram_exchange
from ottla.net.sasl.scram_server import ScramName, ServerCredential, credential_of, scram_server
from ottla.net.sasl.server import Accepted, Identity, SaslBrokenError, SaslRefusedError, ServerExchange

GENERIC = "Authentication failed during authentication due to invalid credentials with SASL mechanism "
ALICE = Identity("User:alice")
# RFC 7677, section 3.
RFC_NONCE = "rOprNGfwEbeRWgbNEkqO"
RFC_SERVER_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
RFC_SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")


def started(exchange: ServerExchange) -> ServerExchange:
    assert next(exchange) == b""
    return exchange


def accepted(exchange: ServerExchange, message: bytes) -> Accepted:
    with pytest.raises(StopIteration) as ended:
        exchange.send(message)
    found = ended.value.value
    assert isinstance(found, Accepted)
    return found


def refusal(exchange: ServerExchange, message: bytes) -> str:
    with pytest.raises(SaslRefusedError) as refused:
        exchange.send(message)
    return str(refused.value)


def plain() -> ServerExchange:
    return started(plain_server({"alice": "secret"}.get))


@pytest.mark.parametrize("message", [b"\0alice\0secret", b"alice\0alice\0secret"])
def test_plain(message: bytes) -> None:
    assert accepted(plain(), message) == Accepted(ALICE)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (b"\0alice\0wrong", "Authentication failed: Invalid username or password"),
        (b"\0bob\0secret", "Authentication failed: Invalid username or password"),
        (b"\0\0secret", "Authentication failed: username not specified"),
        (b"\0alice\0", "Authentication failed: password not specified"),
        (
            b"bob\0alice\0secret",
            "Authentication failed: Client requested an authorization id that is different from username",
        ),
        (b"alice", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        (b"\0alice\0secret\0more\0and more", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (b"\0\xff\0\xfe", "Authentication failed: Invalid username or password"),
    ],
)
def test_plain_is_refused(message: bytes, text: str) -> None:
    assert refusal(plain(), message) == text


def test_a_user_that_does_not_exist_has_no_password_at_all() -> None:
    assert "Invalid username" in refusal(plain(), b"\0bob\0" + b"\xef\xbf\xbd")


def find(name: ScramName) -> ServerCredential | None:
    if name == ScramName("SCRAM-SHA-256", "user", False):
        return credential_of("sha256", "pencil", RFC_SALT, Identity("User:user"))
    if name.username == "a,b=c" and not name.is_token:
        return credential_of("sha512", "pencil", b"salt", Identity("User:a,b=c"))
    if name.username == "id" and name.is_token:
        return credential_of("sha512", "hmac", b"salt", Identity("User:owner", True, 1_000))
    return None


def scram(nonce: str = RFC_SERVER_NONCE, mechanism: str = "SCRAM-SHA-256") -> ServerExchange:
    return started(scram_server(mechanism, find, nonce))


def test_the_example_of_rfc_7677() -> None:
    exchange = scram()
    first = exchange.send(f"n,,n=user,r={RFC_NONCE}".encode())
    assert first == b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    final = (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    found = accepted(exchange, final)
    assert found == Accepted(Identity("User:user"), b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@pytest.mark.parametrize(
    ("login", "identity"),
    [
        (ScramLogin("SCRAM-SHA-512", "a,b=c", "pencil"), Identity("User:a,b=c")),
        (ScramLogin("SCRAM-SHA-512", "id", "hmac", is_token=True), Identity("User:owner", True, 1_000)),
    ],
)
def test_both_sides_of_scram_understand_each_other(login: ScramLogin, identity: Identity) -> None:
    client, server = scram_exchange(login), scram("n", login.mechanism)
    final = client.send(server.send(next(client)))
    found = accepted(server, final)
    assert found.identity == identity
    with pytest.raises(StopIteration):
        client.send(found.message)


@pytest.mark.parametrize(
    "first",
    [
        b"y,,n=user,r=abc",
        b"p=tls-unique,,n=user,r=abc",
        b"n,,n=nobody,r=abc",
        b"n,,n=id,r=abc",
        b"n,,n=user,r=abc,tokenauth=true",
        b"n,,n=us=er,r=abc",
        "n,,n=usér,r=abc".encode(),
        b"n,,n=user",
        b"",
        b"\xff",
    ],
)
def test_a_first_message_that_is_refused(first: bytes) -> None:
    assert refusal(scram(), first) == f"{GENERIC}SCRAM-SHA-256"


def test_another_authorization_id() -> None:
    text = "Authentication failed: Client requested an authorization id that is different from username"
    assert refusal(scram(), b"n,a=bob,n=user,r=abc") == text
    assert scram().send(b"n,a=user,n=user,r=abc").startswith(b"r=abc")
    assert scram().send(b"n,,m=later,n=user,r=abc").startswith(b"r=abc")


def final_message(server_first: bytes, **changes: str) -> bytes:
    """The right last message, with some fields changed."""
    client = scram_exchange(ScramLogin("SCRAM-SHA-256", "user", changes.pop("password", "pencil")), RFC_NONCE)
    next(client)
    fields = dict(part.split("=", 1) for part in client.send(server_first).decode().split(","))
    return ",".join(f"{name}={value}" for name, value in (fields | changes).items()).encode()


@pytest.mark.parametrize(
    "changes",
    [
        {"password": "pen"},
        {"r": RFC_NONCE},
        {"r": f"{RFC_NONCE}{RFC_SERVER_NONCE}x"},
        {"c": base64.b64encode(b"y,,").decode()},
        {"p": base64.b64encode(bytes(32)).decode()},
        {"p": "no base64"},
    ],
)
def test_a_last_message_that_is_refused(changes: dict[str, str]) -> None:
    exchange = scram()
    first = exchange.send(f"n,,n=user,r={RFC_NONCE}".encode())
    assert refusal(exchange, final_message(first, **changes)) == f"{GENERIC}SCRAM-SHA-256"


def test_a_nonce_that_is_said_twice_is_named() -> None:
    exchange = scram()
    first = exchange.send(f"n,,n=user,r={RFC_NONCE}".encode())
    said = refusal(exchange, final_message(first, r=f"{RFC_NONCE}{RFC_NONCE}{RFC_SERVER_NONCE}"))
    assert said.startswith(f"{GENERIC}SCRAM-SHA-256: the client repeats its nonce, as librdkafka before 2.6.1 does")


def test_a_proof_of_another_length_breaks_the_exchange() -> None:
    exchange = scram()
    first = exchange.send(f"n,,n=user,r={RFC_NONCE}".encode())
    with pytest.raises(SaslBrokenError):
        exchange.send(final_message(first, p="AAAA"))


def test_a_recorded_exchange_can_not_be_replayed() -> None:
    before = scram("first-time")
    first = before.send(f"n,,n=user,r={RFC_NONCE}".encode())
    recorded = final_message(first)
    assert accepted(before, recorded).identity == Identity("User:user")
    again = scram("second-time")
    again.send(f"n,,n=user,r={RFC_NONCE}".encode())
    assert refusal(again, recorded) == f"{GENERIC}SCRAM-SHA-256"


def read(token: str) -> Identity:
    if token == "narrow":
        raise TokenRefusedError("a scope is missing", "insufficient_scope", "write")
    if token != "good":
        raise TokenRefusedError("no")
    return Identity("User:alice", expires_at_ms=5)


def test_a_bearer_token() -> None:
    server = started(oauthbearer_server(read))
    assert accepted(server, next(oauthbearer_exchange("good", {"traceId": "7"}))).identity == read("good")
    assert accepted(started(oauthbearer_server(read)), b"n,a=alice,\x01auth=Bearer good\x01\x01").identity.expires_at_ms


def test_a_bad_token_is_told_why_and_then_refused() -> None:
    for token, said in (
        ("bad", {"status": "invalid_token"}),
        ("narrow", {"status": "insufficient_scope", "scope": "write"}),
    ):
        server, client = started(oauthbearer_server(read)), oauthbearer_exchange(token, {})
        challenge = server.send(next(client))
        assert json.loads(challenge) == said
        with pytest.raises(LoginFailedError):
            client.send(challenge)
        assert refusal(server, b"\x01") == challenge.decode()


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"n,,",
        b"y,,\x01auth=Bearer good\x01\x01",
        b"n,,\x01auth=Basic good\x01\x01",
        b"n,,\x01auth=Bearer good\x01",
        b"n,,\x01other=x\x01\x01",
        b"\xff",
    ],
)
def test_a_malformed_bearer_message(message: bytes) -> None:
    assert refusal(started(oauthbearer_server(read)), message) == f"{GENERIC}OAUTHBEARER"


def test_somebody_elses_token() -> None:
    text = refusal(started(oauthbearer_server(read)), b"n,a=bob,\x01auth=Bearer good\x01\x01")
    assert "requested an authorization id (bob) that is different from the token's principal name (alice)" in text


def test_credentials_do_not_show_themselves() -> None:
    assert repr(credential_of("sha256", "pencil", RFC_SALT, ALICE)).count("\\x") == 0


FILLED = (b"n,,n=%s,r=abc" % (b"a" * 500_000), b"n,,n=a,r=abc%s" % (b",a=b" * 125_000))


@pytest.mark.parametrize("message", FILLED, ids=["a long name", "many extensions"])
def test_a_strangers_message_takes_little_memory(message: bytes) -> None:
    exchange = started(scram_server("SCRAM-SHA-256", lambda _: None, "nonce"))
    tracemalloc.start()
    try:
        assert refusal(exchange, message) == f"{GENERIC}SCRAM-SHA-256"
        assert tracemalloc.get_traced_memory()[1] < 20 * len(message)
    finally:
        tracemalloc.stop()
