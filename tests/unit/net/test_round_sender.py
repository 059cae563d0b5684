"""Answers of a round leave whole, in part or not at all, and the sender says which; plain and compiled."""

import errno
import socket
import threading
from collections.abc import Iterator
from types import ModuleType

import pytest

from ottla.base.accelerated import compiled_module
from ottla.net import round_sender_plain

_COMPILED = compiled_module("ottla.net._round_sender")
TWINS = [round_sender_plain] if _COMPILED is None else [round_sender_plain, _COMPILED]
COUNTS = (0, 1, 5, 6, 7, 100)
"""Below and above what is worth a second thread."""

Pairs = list[tuple[socket.socket, socket.socket]]


@pytest.fixture(params=TWINS, ids=lambda twin: twin.__name__.rpartition(".")[2])
def twin(request: pytest.FixtureRequest) -> ModuleType:
    """The sender, plain or compiled."""
    module: ModuleType = request.param
    return module


@pytest.fixture
def pairs() -> Iterator[Pairs]:
    """As many connected sockets as the largest round has answers."""
    made = [socket.socketpair() for _ in range(max(COUNTS))]
    for ours, theirs in made:
        ours.setblocking(False)
        theirs.settimeout(60)
    yield made
    for pair in made:
        for end in pair:
            end.close()


def test_every_answer_reaches_its_own_client_round_after_round(twin: ModuleType, pairs: Pairs) -> None:
    sender = twin.RoundSender()
    for number in range(300):
        count = COUNTS[number % len(COUNTS)]
        for place in range(count):
            sender.add(place, pairs[place][0].fileno(), b"%d of %d;" % (place, number))
        sender.start()
        assert sender.finish() == []
        for place in range(count):
            assert pairs[place][1].recv(100) == b"%d of %d;" % (place, number)
    sender.close()


@pytest.mark.parametrize("others", [0, 50])
def test_what_a_socket_does_not_take_is_told(twin: ModuleType, pairs: Pairs, others: int) -> None:
    sender = twin.RoundSender()
    (slow, reader), (gone, peer), *rest = pairs
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
    peer.close()
    large = bytes(1_000_000)
    sender.add("slow", slow.fileno(), large)
    sender.add("gone", gone.fileno(), b"answer")
    for place in range(others):
        sender.add(place, rest[place][0].fileno(), b"answer")
    sender.start()
    [(owner, data, sent, error), lost] = sender.finish()
    assert (owner, data, error) == ("slow", large, 0)
    assert lost == ("gone", b"answer", 0, errno.EPIPE)
    assert 0 < sent < len(large)
    # A socket that is full takes nothing, which is no error.
    sender.add("slow", slow.fileno(), b"more")
    sender.start()
    assert sender.finish() == [("slow", b"more", 0, 0)]
    received = 0
    while received < sent:
        received += len(reader.recv(1_000_000))
    assert received == sent
    sender.close()


def test_no_thread_is_left_behind(twin: ModuleType, pairs: Pairs) -> None:
    before = set(threading.enumerate())
    sender = twin.RoundSender()
    for place, (ours, _) in enumerate(pairs):
        sender.add(place, ours.fileno(), b"answer")
    sender.start()
    assert sender.finish() == []
    sender.close()
    sender.close()
    assert set(threading.enumerate()) == before
