"""GSSAPI with a man in the middle: a side refuses in its one agreed way, or every message came as it was sent.

The security context here is a small one of our own that authenticates every message, as Kerberos' does; tokens of the
real library are changed in `tests/integration/security/test_kerberos_input.py`.
"""

import hmac
from collections.abc import Callable, Generator
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.net.errors import LoginFailedError
from ottla.net.sasl.gssapi import GssFailedError, gssapi_exchange, gssapi_server
from ottla.net.sasl.server import Accepted, Identity, SaslRefusedError

PRINCIPAL: Final = "alice@R"
MESSAGES_MAX: Final = 40
_MAC_BYTES: Final = 8
_ROUNDS_SERVED: Final = 10

Tamper = Callable[[bytes, list[bytes]], bytes]
"""What becomes of a message on its way; the second argument is what went over the wire before."""


class Side:
    """One side of a context: complete after some tokens in each direction, and no message is like another."""

    initiator = PRINCIPAL

    def __init__(self, name: bytes, other: bytes, rounds: int) -> None:
        self._name, self._other, self._rounds = name, other, rounds
        self._sent = self._taken = 0

    @property
    def is_complete(self) -> bool:
        return self._taken >= self._rounds

    def step(self, token: bytes) -> bytes:
        if token or self._sent or self._name == b"server":
            self._check(token, b"token")
        if self._name == b"server" and self.is_complete:
            return self._made(b"token")
        return b"" if self.is_complete else self._made(b"token")

    def wrap(self, message: bytes) -> bytes:
        return self._made(message)

    def unwrap(self, message: bytes) -> bytes:
        return self._check(message, message[_MAC_BYTES:])

    def _made(self, message: bytes) -> bytes:
        self._sent += 1
        return _mac(self._name, self._sent, message) + message

    def _check(self, given: bytes, wanted: bytes) -> bytes:
        self._taken += 1
        if given != _mac(self._other, self._taken, wanted) + wanted:
            raise GssFailedError("not what the other side sent")
        return wanted


def _mac(name: bytes, number: int, message: bytes) -> bytes:
    return hmac.digest(b"ticket", b"%s %d %s" % (name, number, message), "sha256")[:_MAC_BYTES]


def unchanged(message: bytes, _: list[bytes]) -> bytes:
    return message


def flipped(at: int) -> Tamper:
    def tamper(message: bytes, _: list[bytes]) -> bytes:
        if not message:
            return b"\0"
        place = at % (8 * len(message))
        return bytes(byte ^ (1 << place % 8) if index == place // 8 else byte for index, byte in enumerate(message))

    return tamper


def repeated(back: int) -> Tamper:
    return lambda message, before: before[-1 - back % len(before)] if before else message


TAMPERS = st.one_of(
    st.just(unchanged),
    st.integers(0, 1 << 12).map(flipped),
    st.integers(0, 5).map(repeated),
    st.integers(0, 12).map(lambda length: lambda message, _: message[:length]),
    st.binary(min_size=1, max_size=12).map(lambda more: lambda message, _: message + more),
    st.binary(max_size=24).map(lambda other: lambda _message, _before: other),
)


class Talk:
    """A log-in with a man in the middle."""

    def __init__(self, rounds: int, tampers: list[Tamper]) -> None:
        self._client = gssapi_exchange(Side(b"client", b"server", rounds), "")
        self._server = gssapi_server(Side(b"server", b"client", rounds), lambda name: name.partition("@")[0])
        self._tampers = iter(tampers)
        self._before: list[bytes] = []
        self.is_changed = False
        self.accepted: Accepted | None = None
        self.is_refused = False
        self.is_over_for_client = False

    def run(self) -> None:
        """Until one side ends. Anything but its own error is a fault."""
        next(self._server)
        message = self._carried(next(self._client))
        for _ in range(MESSAGES_MAX):
            try:
                answer = self._server.send(message)
            except StopIteration as ended:
                self.accepted = ended.value
                self._finish()
                return
            except SaslRefusedError:
                self.is_refused = True
                return
            try:
                message = self._carried(self._client.send(self._carried(answer)))
            except LoginFailedError:
                self.is_refused = True
                return
            except StopIteration:
                # A client is done only when it has heard that the broker accepts, which it did not say.
                raise AssertionError("the client ended first") from None
        raise AssertionError("neither side came to an end")

    def _finish(self) -> None:
        try:
            self._client.send(b"")
        except StopIteration:
            self.is_over_for_client = True

    def _carried(self, message: bytes) -> bytes:
        found = next(self._tampers, unchanged)(message, self._before)
        self.is_changed |= found != message
        self._before.append(message)
        return found


@given(rounds=st.integers(1, _ROUNDS_SERVED), tampers=st.lists(TAMPERS, max_size=8))
def test_a_man_in_the_middle_is_noticed(rounds: int, tampers: list[Tamper]) -> None:
    talk = Talk(rounds, tampers)
    talk.run()
    assert talk.is_refused is talk.is_changed
    if not talk.is_changed:
        assert talk.accepted == Accepted(Identity("User:alice"))
        assert talk.is_over_for_client


@given(rounds=st.integers(1, 100), messages=st.lists(st.binary(max_size=24), max_size=30))
def test_a_client_without_a_ticket(rounds: int, messages: list[bytes]) -> None:
    server = gssapi_server(Side(b"server", b"client", rounds), str)
    next(server)
    for message in messages:
        try:
            server.send(message)
        except SaslRefusedError:
            return
    assert not messages


@given(rounds=st.integers(1, 20), messages=st.lists(st.binary(max_size=24), max_size=30))
def test_a_broker_without_a_key(rounds: int, messages: list[bytes]) -> None:
    client = gssapi_exchange(Side(b"client", b"server", rounds), "")
    next(client)
    for message in messages:
        try:
            client.send(message)
        except LoginFailedError:
            return
    assert not messages


class Endless:
    """A context that is never complete, and takes everything."""

    is_complete = False
    initiator = PRINCIPAL

    def step(self, token: bytes) -> bytes:
        return b"more" + token[:1]

    def wrap(self, message: bytes) -> bytes:
        return message

    unwrap = wrap


def rounds_of(exchange: "Generator[bytes, bytes, Any]", error: type[Exception]) -> int:
    """How many messages are taken before the exchange gives up."""
    next(exchange)
    for count in range(MESSAGES_MAX):
        try:
            exchange.send(b"x")
        except error:
            return count
    return MESSAGES_MAX


def test_neither_side_goes_on_for_ever() -> None:
    assert rounds_of(gssapi_server(Endless(), str), SaslRefusedError) <= _ROUNDS_SERVED
    assert rounds_of(gssapi_exchange(Endless(), ""), LoginFailedError) <= _ROUNDS_SERVED


class Complete:
    """A context that is set up with the first token; what comes then is any bytes."""

    is_complete = False
    initiator = PRINCIPAL

    def step(self, _token: bytes) -> bytes:
        self.is_complete = True
        return b""

    def wrap(self, message: bytes) -> bytes:
        return message

    unwrap = wrap


@given(chosen=st.binary(max_size=300))
def test_whatever_a_client_chooses_there_is_no_security_layer(chosen: bytes) -> None:
    server = gssapi_server(Complete(), lambda name: name.partition("@")[0])
    next(server)
    assert server.send(b"token") == b"\x01\0\0\0"
    is_none = chosen[:1] == b"\x01" and len(chosen) >= 4
    with pytest.raises(StopIteration if is_none else SaslRefusedError) as ended:
        server.send(chosen)
    if is_none:
        assert ended.value.value == Accepted(Identity("User:alice"))


@given(offered=st.binary(max_size=300))
def test_whatever_a_broker_offers_no_layer_is_chosen(offered: bytes) -> None:
    context = Complete()
    client = gssapi_exchange(context, "alice")
    next(client)
    context.is_complete = True
    try:
        assert client.send(offered) == b"\x01\0\0\0alice"
        assert len(offered) == 4
    except LoginFailedError:
        assert len(offered) != 4 or not offered[0] & 1
