"""Everything at once: clients that pipeline frames of all sizes, answers of all kinds, early, late and out of order."""

import asyncio
import hashlib
import random
import tempfile
import threading
from typing import IO

import pytest

from ottla.net.channel import Exchange
from ottla.net.limits import ListenerLimits, ServerLimits
from ottla.net.piece import Piece
from tests.integration.net.served import Handler, Served, framed, receive_frame

CLIENTS = 6
FRAMES = 60
SIZES = (1, 20, 20, 20, 500, 20_000, 33_000, 270_000, 1_200_000)


class Region:
    """A file that holds one answer."""

    position = 0

    def __init__(self, content: bytes) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the answer has left
        self._file.write(content)
        self._file.flush()
        self._length = len(content)

    def fileno(self) -> int:
        return self._file.fileno()

    def __len__(self) -> int:
        return self._length

    def __del__(self) -> None:
        self._file.close()


class Mixed(Handler):
    """Answers with the frame's digest and up to half a megabyte after it, in whatever way the dice say."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.dice = random.Random(seed)

    def received(self, frame: memoryview, exchange: Exchange) -> None:
        pieces = self._pieces(answer_to(bytes(frame)))
        if self.dice.random() < 0.5:
            exchange.answer(pieces)
            return
        if self.dice.random() < 0.7:
            exchange.proceed()
        if self.dice.random() < 0.05:
            exchange.connection.throttle(5)
        asyncio.get_running_loop().call_later(self.dice.random() * 0.005, exchange.answer, pieces)

    def _pieces(self, answer: bytes) -> list[Piece]:
        cut = self.dice.randrange(4, len(answer))
        kind = self.dice.randrange(4)
        if kind == 0:
            return [answer[:cut], Region(answer[cut:])]
        if kind == 1:
            return [Region(answer[:cut]), memoryview(answer)[cut:]]
        if kind == 2:
            return [bytearray(answer[:cut]), answer[cut:]]
        return [answer]


def answer_to(frame: bytes) -> bytes:
    """What a frame is answered with: no two alike."""
    digest = hashlib.sha256(frame).digest()
    return framed(digest * (1 + (digest[0] << digest[1] % 7)))


def converse(served: Served, seed: int, failures: list[str]) -> None:
    """One client: writes all its frames while it checks the answers."""
    dice = random.Random(seed)
    frames = [dice.randbytes(dice.choice(SIZES)) for _ in range(FRAMES)]
    with served.connect() as sock:
        stream = b"".join(map(framed, frames))
        writer = threading.Thread(target=sock.sendall, args=(stream,))
        writer.start()
        for number, frame in enumerate(frames):
            if framed(receive_frame(sock)) != answer_to(frame):
                failures.append(f"answer {number} of client {seed}")
                break
        writer.join()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("queued_bytes_max", [-1, 300_000])
def test_every_request_is_answered_in_order_and_whole(seed: int, queued_bytes_max: int) -> None:
    handler, failures = Mixed(seed), list[str]()
    limits = ListenerLimits(exchanges_max=5, unread_bytes_max=100_000)
    with Served(handler, limits, ServerLimits(queued_bytes_max=queued_bytes_max)) as served:
        clients = [
            threading.Thread(target=converse, args=(served, seed * 100 + number, failures)) for number in range(CLIENTS)
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        assert not failures
        for _ in range(CLIENTS):
            handler.next_disconnected()
        assert served.call(lambda: served.poller.memory.used_bytes) == 0
