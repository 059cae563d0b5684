"""A client over TLS, alone in its process: prepared requests out, answers in, as fast as OpenSSL goes.

`python -m tests.bench.tls_load produce|fetch PORT CA FRAME ERROR-AT SECONDS`: prints bytes and seconds as JSON.
"""

import json
import socket
import ssl
import sys
import time
from pathlib import Path

_IN_FLIGHT = 5
_PIECE_BYTES = 1 << 20


def main() -> None:
    """Runs the load."""
    work, port, authority, frame, error_at, seconds = sys.argv[1:]
    context = ssl.create_default_context(cafile=authority)
    request = Path(frame).read_bytes()
    with (
        socket.create_connection(("localhost", int(port))) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as sock,
    ):
        load = _Load(sock, int(error_at))
        start = time.perf_counter()
        while time.perf_counter() - start < float(seconds):
            sock.sendall(request)
            load.in_flight += 1
            if load.in_flight == _IN_FLIGHT:
                load.answer()
        while load.in_flight:
            load.answer()
        elapsed = time.perf_counter() - start
    moved = load.answers * len(request) if work == "produce" else load.received
    print(json.dumps({"bytes": moved, "seconds": elapsed}))


class _Load:
    def __init__(self, sock: ssl.SSLSocket, error_at: int) -> None:
        self._sock = sock
        self._error_at = error_at
        self._buffer = memoryview(bytearray(4 * _PIECE_BYTES))
        self.in_flight = self.answers = self.received = 0

    def answer(self) -> None:
        """Receives one, and looks whether it is a refusal."""
        size = int.from_bytes(self._exactly(4), "big")
        body = self._exactly(size)
        error = int.from_bytes(body[self._error_at : self._error_at + 2], "big")
        assert not error, f"refused with {error}"
        self.in_flight -= 1
        self.answers += 1
        self.received += size

    def _exactly(self, size: int) -> memoryview:
        done = 0
        while done < size:
            count = self._sock.recv_into(self._buffer[done:size])
            assert count, "the server closed the connection"
            done += count
        return self._buffer[:size]


if __name__ == "__main__":
    main()
