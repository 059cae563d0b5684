"""A thread that encrypts stays with its reader for a moment, and not where other connections want it."""

import socket
import ssl
import threading
from collections.abc import Iterator

import pytest

from ottla.base.buffer import Buffer
from ottla.net.tls.outbox import TlsOutbox
from ottla.net.tls.server import TlsServer
from ottla.net.tls.socket import TlsSocket

SIZE = 4_000_000


class Open(TlsSocket):
    """Does not encrypt; counts how often the kernel did not take all."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), memoryview(bytearray(1)))
        self.refusals = 0
        self.is_full = threading.Event()

    def seal(self, data: Buffer) -> bytes:
        return bytes(data)

    def push(self, sealed: Buffer) -> int:
        sent = 0
        try:
            sent = super().push(sealed)
        finally:
            if sent < len(sealed):
                self.refusals += 1
                self.is_full.set()
        return sent


@pytest.fixture
def pair() -> Iterator[tuple[Open, socket.socket]]:
    ours, theirs = socket.socketpair()
    with theirs, Open(ours) as sock:
        yield sock, theirs


@pytest.fixture
def tls() -> Iterator[TlsServer]:
    server = TlsServer(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), (), "User:ANONYMOUS")
    yield server
    server.close()


def filled() -> TlsOutbox:
    outbox = TlsOutbox()
    outbox.pieces.append(bytes(SIZE))
    return outbox


def read_all(sock: socket.socket, begin: threading.Event | None = None) -> None:
    left = SIZE
    assert begin is None or begin.wait(30)
    while left:
        left -= len(sock.recv(65_536))


def test_a_reader_gets_all_of_it(tls: TlsServer, pair: tuple[Open, socket.socket]) -> None:
    ours, theirs = pair
    outbox = filled()
    # It reads nothing before the socket is full: a quick one may leave nothing to wait for.
    reader = threading.Thread(target=read_all, args=(theirs, ours.is_full))
    reader.start()
    # A reader that the system keeps waiting has the loop come back, as in a node.
    while outbox.pieces:
        tls.write(outbox, ours)
    reader.join()
    assert ours.refusals


def test_one_who_does_not_read_is_left_to_the_loop(tls: TlsServer, pair: tuple[Open, socket.socket]) -> None:
    ours, _ = pair
    outbox = filled()
    tls.write(outbox, ours)
    assert outbox.pieces
    assert ours.refusals == 1


def test_a_thread_that_others_want_waits_for_nobody(tls: TlsServer, pair: tuple[Open, socket.socket]) -> None:
    ours, theirs = pair
    may_end, heard = threading.Event(), threading.Semaphore(0)
    for _ in range(3):
        tls.run(may_end.wait, lambda _: heard.release())
    outbox = filled()
    reader = threading.Thread(target=read_all, args=(theirs,))
    reader.start()
    visits = 0
    while outbox.pieces:
        visits += 1
        tls.write(outbox, ours)
        assert ours.refusals <= visits
    reader.join()
    may_end.set()
    for _ in range(3):
        assert heard.acquire(timeout=30)
