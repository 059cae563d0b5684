"""What is encrypted: in pieces of a size, each once, and none before the one before has left."""

import os
from pathlib import Path
from typing import Any

import pytest

from ottla.net.errors import RegionEndedError
from ottla.net.tls.outbox import TlsOutbox
from ottla.net.tls.socket import TlsSocket


class Taker(TlsSocket):
    """Seals nothing; takes whole pieces, as often as it may, and the start of the next one."""

    def __init__(self, turns: int) -> None:
        # No socket of the kernel's: nothing is opened.
        self.turns = turns
        self.taken = bytearray()
        self.sizes: list[int] = []
        self._sealed_bytes = 0

    def seal(self, data: Any) -> bytes:
        assert self._sealed_bytes == len(self.taken), "all that was sealed before has left"
        self._sealed_bytes += len(data)
        self.sizes.append(len(data))
        return bytes(data)

    def push(self, sealed: Any) -> int:
        if self.turns < 0:
            raise BlockingIOError
        part = sealed if self.turns else sealed[: len(sealed) // 2]
        self.turns -= 1
        self.taken += part
        return len(part)


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
        assert outbox.write(taker) == len(taker.taken) - before
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
    assert max(taker.sizes) <= 131_072
    for region in (first, second):
        region.close()


def test_small_answers_share_a_record(file: Path) -> None:
    outbox, taker = TlsOutbox(), Taker(100)
    region = Region(file, 0, 1_000)
    outbox.pieces += [b"a"] * 50 + [region]
    outbox.write(taker)
    assert taker.sizes == [1_050]
    region.close()


def test_what_another_thread_did_not_get_rid_of_comes_first_again(file: Path) -> None:
    outbox, taker = TlsOutbox(), Taker(1)
    region = Region(file, 0, 150_000)
    outbox.pieces += [region]
    taken = outbox.take()
    assert not outbox.pieces
    assert taken.write(taker) == 131_072 + 9_464
    outbox.pieces.append(b"later")
    outbox.put_back(taken)
    assert outbox.unread_bytes == 9_464 + 5
    drain(outbox, taker, (1,))
    assert bytes(taker.taken) == file.read_bytes()[:150_000] + b"later"
    region.close()


def test_a_file_that_ends_early(file: Path) -> None:
    outbox = TlsOutbox()
    region = Region(file, 299_000, 5_000)
    outbox.pieces.append(region)
    with pytest.raises(RegionEndedError):
        outbox.write(Taker(10))
    region.close()
