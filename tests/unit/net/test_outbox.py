"""What a socket takes of an answer, in any portion: nothing lost, nothing twice."""

import socket
from collections.abc import Sequence
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.net.outbox import Outbox

PIECES = st.lists(
    st.one_of(
        st.binary(max_size=50),
        st.binary(max_size=50).map(bytearray),
        st.binary(max_size=50).map(memoryview),
    ),
    max_size=150,
)


class Portions:
    """A socket that takes as much at a time as it was told to, and then nothing until asked again."""

    def __init__(self, portions: list[int]) -> None:
        self.taken = bytearray()
        self._portions = portions
        self._turn = 0

    def as_socket(self) -> socket.socket:
        return cast(socket.socket, self)

    def sendmsg(self, buffers: Sequence[bytes | bytearray | memoryview], _ancillary: tuple[()], _flags: int) -> int:
        count = self._portions[self._turn % len(self._portions)]
        self._turn += 1
        if not count:
            raise BlockingIOError
        data = b"".join(buffers)[:count]
        self.taken += data
        return len(data)


@given(pieces=PIECES, portions=st.lists(st.integers(0, 400), min_size=1, max_size=10).filter(any))
def test_everything_leaves_in_order(pieces: list[bytes | bytearray | memoryview], portions: list[int]) -> None:
    outbox, sock = Outbox(), Portions(portions)
    outbox.pieces += pieces
    expected = b"".join(pieces)
    while outbox.pieces:
        assert outbox.unread_bytes == len(expected) - len(sock.taken)
        outbox.write(sock.as_socket())
    assert bytes(sock.taken) == expected
    assert outbox.unread_bytes == 0


def test_a_socket_that_is_gone_says_so() -> None:
    class Gone(Portions):
        def sendmsg(self, buffers: Sequence[bytes | bytearray | memoryview], _ancillary: tuple[()], _flags: int) -> int:
            raise BrokenPipeError

    outbox = Outbox()
    outbox.pieces.append(b"answer")
    with pytest.raises(BrokenPipeError):
        outbox.write(Gone([1]).as_socket())
