"""The server's half of TLS on one listener: the context of the moment, who its clients are, and threads for the work.

The context may be replaced at any time: connections that come after that see the new certificate, open ones live on.
Handshakes and large writes run on two threads of their own, so that the loop only ever hears of their results. A write
waits on its thread for a reader that is about to take more, as long as no other connection wants the thread: each
way back to the loop costs more than a moment of sleep.
"""

import select
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

from ottla.base.errors import OttlaError
from ottla.net.tls.certificate import CertificateError, read_certificate
from ottla.net.tls.outbox import TlsOutbox
from ottla.net.tls.principal_rule import PrincipalRule, mapped
from ottla.net.tls.socket import RECEIVED_BYTES_MAX, TlsSocket

_THREADS: Final = 2
_READER_MS_MAX: Final = 5
"""So long a write waits for its reader; one that is slower has the loop wait for it."""
_VISIT_BYTES_MAX: Final = 8_388_608
"""What is written before the loop has the connection again, and may read from it."""
_NOT_TLS: Final = frozenset({"HTTP_REQUEST", "WRONG_VERSION_NUMBER", "HTTPS_PROXY_REQUEST", "UNKNOWN_PROTOCOL"})
"""What OpenSSL calls bytes that are something else."""

T = TypeVar("T")


class NobodyError(OttlaError):
    """A certificate that stands for no user."""


class TlsServer:
    """The context and rules of a listener's encrypted connections."""

    def __init__(self, context: ssl.SSLContext, rules: Sequence[PrincipalRule], anonymous: str) -> None:
        self._rules: Final = rules
        self._anonymous: Final = anonymous
        self._workers: Final = ThreadPoolExecutor(_THREADS, "tls")
        self._lock: Final = threading.Lock()
        self._place: Final = memoryview(bytearray(RECEIVED_BYTES_MAX))
        self._jobs = 0
        """What is under way or waits for a thread."""
        self.context = context
        """For connections from now on."""

    def wrap(self, sock: socket.socket) -> TlsSocket:
        """Encrypts an accepted socket; the handshake is still to come."""
        return TlsSocket(sock, self.context, self._place)

    def run(self, work: Callable[[], T], done: Callable[[Callable[[], T]], None]) -> None:
        """Does `work` on a thread; `done` hears, on that thread, how to get the result."""

        def finished(future: Future[T]) -> None:
            with self._lock:
                self._jobs -= 1
            done(future.result)

        with self._lock:
            self._jobs += 1
        self._workers.submit(work).add_done_callback(finished)

    def write(self, outbox: TlsOutbox, sock: TlsSocket) -> None:
        """Writes what the reader takes; on a thread. Raises as `TlsOutbox.write`."""
        written = outbox.write(sock)
        while outbox.pieces and written < _VISIT_BYTES_MAX and self._jobs <= _THREADS and _takes_more(sock):
            written += outbox.write(sock)

    def principal(self, sock: TlsSocket) -> str:
        """The client's principal. Raises `NobodyError` if the rules make no user of the certificate."""
        der = sock.certificate
        if der is None:
            return self._anonymous
        try:
            subject = read_certificate(der).subject
        except CertificateError as error:
            raise NobodyError(str(error)) from error
        name = mapped(subject, self._rules)
        if name is None:
            raise NobodyError(f"no rule of ssl.principal.mapping.rules applies to {subject}")
        return f"User:{name}"

    def close(self) -> None:
        """Ends the threads; what is under way ends by itself."""
        self._workers.shutdown(wait=False)


def is_no_tls(error: BaseException) -> bool:
    """Whether the other side spoke something else than TLS."""
    return isinstance(error, ssl.SSLError) and error.reason in _NOT_TLS


def _takes_more(sock: socket.socket) -> bool:
    """Whether the reader makes room within a moment."""
    poll = select.poll()
    poll.register(sock, select.POLLOUT)
    return bool(poll.poll(_READER_MS_MAX))
