"""The exchange around a security context: what is said when, and who is refused. The context only counts rounds."""

import pytest

from ottla.net.errors import LoginFailedError
from ottla.net.sasl.gssapi import GssFailedError, gssapi_exchange, gssapi_server
from ottla.net.sasl.server import Accepted, Identity, SaslRefusedError, ServerExchange


class Rounds:
    """Is complete after so many tokens, and signs with a letter."""

    initiator = "alice@R"

    def __init__(self, rounds: int, *, last: bytes = b"") -> None:
        self._left, self._last = rounds, last

    @property
    def is_complete(self) -> bool:
        return self._left <= 0

    def step(self, token: bytes) -> bytes:
        if token == b"bad":
            raise GssFailedError("no")
        self._left -= 1
        return self._last if self.is_complete else b"token"

    def wrap(self, message: bytes) -> bytes:
        return b"s" + message

    def unwrap(self, message: bytes) -> bytes:
        if message[:1] != b"s":
            raise GssFailedError("not signed")
        return message[1:]


def name(principal: str) -> str:
    if principal != "alice@R":
        raise ValueError("No rules apply")
    return "alice"


def begun(context: Rounds) -> ServerExchange:
    exchange = gssapi_server(context, name)
    next(exchange)
    return exchange


@pytest.mark.parametrize("last", [b"", b"proof"])
@pytest.mark.parametrize("rounds", [1, 3])
def test_both_sides(rounds: int, last: bytes) -> None:
    client, server = gssapi_exchange(Rounds(rounds + bool(last)), ""), begun(Rounds(rounds, last=last))
    message = next(client)
    found = None
    while found is None:
        try:
            message = client.send(server.send(message))
        except StopIteration as ended:
            found = ended.value
    assert found == Accepted(Identity("User:alice"))


@pytest.mark.parametrize(
    ("context", "messages"),
    [
        (Rounds(1), [b"bad"]),
        (Rounds(1), [b"token", b"unsigned"]),
        (Rounds(1), [b"token", b"s\x02\0\0\0"]),
        (Rounds(1), [b"token", b"s\x01"]),
        (Rounds(1_000), [b"token"] * 12),
    ],
)
def test_who_is_refused(context: Rounds, messages: list[bytes]) -> None:
    server = begun(context)

    def talk() -> None:
        for message in messages:
            server.send(message)

    with pytest.raises(SaslRefusedError, match="invalid credentials with SASL mechanism GSSAPI"):
        talk()


def test_a_principal_without_a_user() -> None:
    context = Rounds(1)
    context.initiator = "mallory@S"
    server = begun(context)
    assert server.send(b"token") == b"s\x01\0\0\0"
    with pytest.raises(SaslRefusedError):
        server.send(b"s\x01\0\0\0alice")


def test_whom_a_client_wants_to_be_is_not_looked_at() -> None:
    server = begun(Rounds(1))
    server.send(b"token")
    with pytest.raises(StopIteration) as ended:
        server.send(b"s\x01\0\0\0mallory")
    assert ended.value.value == Accepted(Identity("User:alice"))


@pytest.mark.parametrize("offer", [b"s\x06\0\0\0", b"s\x01", b"unsigned"])
def test_a_broker_that_wants_something_else(offer: bytes) -> None:
    client = gssapi_exchange(Rounds(1), "")
    next(client)
    with pytest.raises(LoginFailedError):
        client.send(offer)
