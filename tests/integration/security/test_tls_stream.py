"""Connections over TLS under all that clients do to plain ones: pipelined, of all sizes, half closed, with new keys."""

import asyncio
import random
import shutil
import socket
import ssl
import subprocess
from functools import partial

import pytest

from ottla.net.channel import Exchange
from ottla.net.connection import ANONYMOUS
from ottla.net.handler import FrameHandler
from ottla.net.limits import ListenerLimits, ServerLimits
from ottla.net.listener import Listener
from ottla.net.security import ListenerSecurity
from ottla.net.tls.context import server_context
from ottla.net.tls.server import TlsServer
from ottla.net.tls.setting import TlsSettings
from tests.integration.client.certificate import Authority, require_openssl
from tests.integration.net.served import PATIENCE_S, Echo, Handler, Served, framed
from tests.integration.net.test_mixture import CLIENTS, FRAMES, SIZES, Mixed, answer_to

LARGE = bytes(range(256)) * 4_000


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    require_openssl()
    return Authority(tmp_path_factory.mktemp("tls"), "authority")


def listen(served: Served, handler: FrameHandler, authority: Authority, limits: ListenerLimits) -> Listener:
    settings = TlsSettings(keystore_location=str(authority.sign("localhost", "DNS:localhost").both))
    security = ListenerSecurity(tls=TlsServer(server_context(settings), (), ANONYMOUS), now_ms=lambda: 0)
    listener = Listener("TLS", "localhost", 0, handler, served.poller, limits, security)
    served.call(listener.start)
    served.listeners.append(listener)
    return listener


def client_context(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(authority.certificate))


async def converse(port: int, context: ssl.SSLContext, seed: int) -> None:
    """One client: writes all its frames while it checks the answers."""
    dice = random.Random(seed)
    frames = [dice.randbytes(dice.choice(SIZES)) for _ in range(FRAMES)]
    reader, writer = await asyncio.open_connection("localhost", port, ssl=context)

    async def write() -> None:
        for frame in frames:
            writer.write(framed(frame))
            await writer.drain()

    writing = asyncio.ensure_future(write())
    for number, frame in enumerate(frames):
        size = await reader.readexactly(4)
        answer = size + await reader.readexactly(int.from_bytes(size, "big"))
        assert answer == answer_to(frame), f"answer {number} of client {seed}"
    await writing
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize("queued_bytes_max", [-1, 300_000])
def test_every_request_is_answered_in_order_and_whole(authority: Authority, queued_bytes_max: int) -> None:
    handler = Mixed(queued_bytes_max)
    limits = ListenerLimits(exchanges_max=5, unread_bytes_max=100_000)
    with Served(handler, limits, ServerLimits(queued_bytes_max=queued_bytes_max)) as served:
        port = listen(served, handler, authority, limits).address[1]
        context = client_context(authority)

        async def all_of_them() -> None:
            await asyncio.gather(*(converse(port, context, number) for number in range(CLIENTS)))

        asyncio.run(all_of_them())
        for _ in range(CLIENTS):
            handler.next_disconnected()
        assert served.call(lambda: served.poller.memory.used_bytes) == 0


class Generous(Handler):
    """Answers with a megabyte."""

    def received(self, frame: memoryview, exchange: Exchange) -> None:
        exchange.answer([framed(LARGE)])


class Bare:
    """A client whose TLS and whose socket are closed apart from each other."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext) -> None:
        self.sock = sock
        self._received, self._sealed = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._received, self._sealed, server_hostname="localhost")
        self._until_done(self._tls.do_handshake)

    def send(self, data: bytes) -> None:
        self._tls.write(data)
        self._flush()

    def say_goodbye(self) -> None:
        with pytest.raises(ssl.SSLWantReadError):
            self._tls.unwrap()
        self._flush()

    def receive(self, size: int) -> bytes:
        found = bytearray()
        while len(found) < size:
            found += self._until_done(partial(self._tls.read, size - len(found)))
        return bytes(found)

    def _until_done(self, step):  # type: ignore[no-untyped-def]
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._flush()
                data = self.sock.recv(65_536)
                assert data, "closed by the server"
                self._received.write(data)
            else:
                self._flush()
                return result

    def _flush(self) -> None:
        if self._sealed.pending:
            self.sock.sendall(self._sealed.read())


@pytest.mark.parametrize("says_goodbye", [True, False])
def test_answers_reach_a_client_that_sends_no_more(authority: Authority, says_goodbye: bool) -> None:
    handler = Generous()
    with Served(handler) as served:
        listener = listen(served, handler, authority, ListenerLimits())
        with socket.create_connection(listener.address, timeout=PATIENCE_S) as sock:
            client = Bare(sock, client_context(authority))
            client.send(framed(b"x") * 8)
            if says_goodbye:
                client.say_goodbye()
            sock.shutdown(socket.SHUT_WR)
            for _ in range(8):
                assert client.receive(len(LARGE) + 4) == framed(LARGE)


def test_new_keys_for_both_sides(authority: Authority) -> None:
    """`openssl s_client` asks for them with the letter K."""
    require_openssl()
    openssl = shutil.which("openssl")
    assert openssl is not None
    handler = Echo()
    with Served(handler) as served:
        port = listen(served, handler, authority, ListenerLimits()).address[1]
        command = [openssl, "s_client", "-connect", f"localhost:{port}", "-CAfile", str(authority.certificate)]
        client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert client.stdin is not None
        assert client.stdout is not None
        assert client.stderr is not None
        with client, client.stdin, client.stdout, client.stderr:
            for word in (b"before", b"after1", b"after2"):
                client.stdin.write(framed(word))
                client.stdin.flush()
                until_seen(client.stdout, framed(word))
                client.stdin.write(b"K\n")
                client.stdin.flush()
                until_seen(client.stderr, b"KEYUPDATE")
            client.kill()


def until_seen(stream, wanted: bytes) -> None:  # type: ignore[no-untyped-def]
    seen = b""
    while wanted not in seen:
        part = stream.read1()
        assert part, seen
        seen += part
