"""What is given to OpenSSL: in pieces of a size, the same again until it is taken, and nothing twice."""

import os
import socket
from pathlib import Path
from typing import Any, cast

import pytest

from ottla.net.errors import RegionEndedError
from ottla.net.tls.outbox import TlsOutbox


class Taker:
    """Takes whole pieces, as often as it may; insists on the same piece after it refused it."""

    def __init__(self, turns: int) -> None:
        self.turns = turns
        self.taken = bytearray()
        self.sizes: list[int] = []
        self._refused: bytes | None = None

    def send(self, data: Any) -> int:
        assert self._refused is None or bytes(data) == self._refused
        if not self.turns:
            self._refused = bytes(data)
            raise BlockingIOError
        self.turns -= 1
        self._refused = None
        self.taken += data
        self.sizes.append(len(data))
        return len(data)

    @property
    def socket(self) -> socket.socket:
        return cast(socket.socket, self)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "records"
    path.write_bytes(os.urandom(300_000))
    return path


class Region:
    """A stretch of a file."""

    def __init__(self, path: Path, position: int, count: int) -> None:
        self.position = position
        self._count = count
        self._file = path.open("rb")

    def fileno(self) -> int:
        return self._file.fileno()

    def __len__(self) -> int:
        return self._count

    def close(self) -> None:
        self._file.close()


def drain(outbox: TlsOutbox, taker: Taker, turns: tuple[int, ...]) -> None:
    """Writes until all is gone, the socket taking so many pieces in each turn."""
    for turn in range(1_000):
        if not outbox.pieces:
            return
        taker.turns = turns[turn % len(turns)]
        before = len(taker.taken)
        assert outbox.write(taker.socket) == len(taker.taken) - before
    raise AssertionError("it never ends")


@pytest.mark.parametrize("turns", [(1_000,), (0, 1), (1, 0, 3)])
def test_buffers_and_regions_leave_in_order(file: Path, turns: tuple[int, ...]) -> None:
    records = file.read_bytes()
    first, second = Region(file, 100, 200_000), Region(file, 0, 10)
    pieces = [b"head", bytearray(b"er"), first, b"", memoryview(records), b"a", second, b"b"]
    outbox, taker = TlsOutbox(), Taker(0)
    outbox.pieces += pieces
    expected = b"header" + records[100:200_100] + records + b"a" + records[:10] + b"b"
    assert outbox.unread_bytes == len(expected)
    drain(outbox, taker, turns)
    assert bytes(taker.taken) == expected
    assert outbox.unread_bytes == 0
    assert max(taker.sizes) <= 65_536
    for region in (first, second):
        region.close()


def test_small_answers_share_a_record(file: Path) -> None:
    outbox, taker = TlsOutbox(), Taker(100)
    region = Region(file, 0, 1_000)
    outbox.pieces += [b"a"] * 50 + [region]
    outbox.write(taker.socket)
    assert taker.sizes == [1_050]
    region.close()


def test_what_another_thread_did_not_get_rid_of_comes_first_again(file: Path) -> None:
    outbox, taker = TlsOutbox(), Taker(1)
    region = Region(file, 0, 150_000)
    outbox.pieces += [region]
    taken = outbox.take()
    assert not outbox.pieces
    taken.write(taker.socket)
    outbox.pieces.append(b"later")
    outbox.put_back(taken)
    assert outbox.unread_bytes == 150_005 - 65_536
    drain(outbox, taker, (1,))
    assert bytes(taker.taken) == file.read_bytes()[:150_000] + b"later"
    region.close()


def test_a_file_that_ends_early(file: Path) -> None:
    outbox = TlsOutbox()
    region = Region(file, 299_000, 5_000)
    outbox.pieces.append(region)
    with pytest.raises(RegionEndedError):
        outbox.write(Taker(10).socket)
    region.close()
