"""Tokens of MIT's library, changed on their way: each side refuses them in its own error, and never ends.

Tickets are from a KDC. Every log-in has one change at a place that a seed chooses.
"""

import random
from collections.abc import Iterator

import pytest

from ottla.net.errors import LoginFailedError
from ottla.net.sasl.gssapi import gssapi_exchange, gssapi_server
from ottla.net.sasl.server import Accepted, Identity, SaslRefusedError, ServerExchange
from tests.kerberos.realm import NAME, Realm

SEED = 7
LOG_INS = 150
SERVICE = "kafka/localhost"


class Parties:
    """A service and a client with a ticket for it."""

    def __init__(self, realm: Realm) -> None:
        from ottla.net.kerberos.credential import Acceptor
        from ottla.net.kerberos.place import Place

        self._acceptor = Acceptor(Place(f"{SERVICE}@{NAME}", str(realm.keytab(SERVICE))))
        self._place = Place(f"alice@{NAME}", str(realm.keytab("alice")))

    def log_in(self, change: "Change") -> Accepted | None:
        """What the service makes of a log-in; None if either side refuses."""
        from ottla.net.kerberos.credential import initiate

        client = gssapi_exchange(initiate(self._place, "kafka", "localhost"), "")
        server = self.service()
        message = change.carried(next(client))
        try:
            while True:
                message = change.carried(client.send(change.carried(server.send(message))))
        except StopIteration as ended:
            accepted: Accepted = ended.value
            return accepted
        except (LoginFailedError, SaslRefusedError):
            return None

    def service(self) -> ServerExchange:
        server = gssapi_server(self._acceptor.context(), lambda principal: principal.partition("@")[0])
        next(server)
        return server


class Change:
    """Changes one message of a log-in, or none."""

    def __init__(self, dice: random.Random, message: int | None) -> None:
        self._dice, self._left = dice, message

    def carried(self, message: bytes) -> bytes:
        """The message as it arrives."""
        if self._left is None:
            return message
        self._left -= 1
        if self._left >= 0:
            return message
        self._left = None
        if not message:
            return self._dice.randbytes(3)
        at = self._dice.randrange(len(message))
        ways = (
            message[:at] + bytes([message[at] ^ 1 << self._dice.randrange(8)]) + message[at + 1 :],
            message[:at],
            message[:at] + self._dice.randbytes(8) + message[at:],
            self._dice.randbytes(at + 1),
            b"",
        )
        return self._dice.choice(ways)


@pytest.fixture(scope="module")
def parties(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parties]:
    with Realm(tmp_path_factory.mktemp("realm")) as found, pytest.MonkeyPatch.context() as patch:
        for name, value in found.environment.items():
            patch.setenv(name, value)
        yield Parties(found)


def test_changed_tokens_are_refused(parties: Parties) -> None:
    dice = random.Random(SEED)
    found = [parties.log_in(Change(dice, dice.randrange(4))) for _ in range(LOG_INS)]
    # Some bits of a ticket's outside are looked at by nobody: who gets in is the one whom the KDC named, and no other.
    assert {each.identity for each in found if each is not None} <= {Identity("User:alice")}
    assert sum(each is None for each in found) > LOG_INS * 0.9
    assert parties.log_in(Change(dice, None)) == Accepted(Identity("User:alice"))


def test_bytes_of_a_stranger_are_refused(parties: Parties) -> None:
    dice = random.Random(SEED)
    for length in (0, 1, 4, 60, 4_000, 70_000):
        server = parties.service()
        with pytest.raises(SaslRefusedError):
            server.send(dice.randbytes(length))


def test_a_log_in_is_not_repeated(parties: Parties) -> None:
    """What a listener on the wire heard is of no use: the service knows the ticket's message again."""
    heard: list[bytes] = []

    class Listening(Change):
        def carried(self, message: bytes) -> bytes:
            heard.append(message)
            return message

    assert parties.log_in(Listening(random.Random(SEED), None)) is not None
    server = parties.service()
    with pytest.raises(SaslRefusedError):
        server.send(heard[0])
