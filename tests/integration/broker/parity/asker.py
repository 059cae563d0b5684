"""A connection that says exactly what it is told: one request, its version, and whatever comes back, or nothing."""

from ottla.protocol.definition import Request, Response
from tests.kafka.wire import Wire

CLOSED = "closed"
"""The server closed the connection instead of answering."""
SILENT = "silent"
"""The server said nothing for `SILENCE_SECONDS`."""
SILENCE_SECONDS = 20.0


class Asker:
    """Asks a server; a connection that was closed is opened again for the next question."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._wire: Wire | None = None

    def close(self) -> None:
        """Hangs up."""
        if self._wire is not None:
            self._wire.socket.close()
            self._wire = None

    def ask(self, request: Request, version: int) -> Response | str:
        """The answer; or `CLOSED`, or `SILENT`."""
        if self._wire is None:
            self._wire = Wire(self._address, timeout=SILENCE_SECONDS)
        try:
            return self._wire.ask(request, version)
        except TimeoutError:
            self.close()
            return SILENT
        except ConnectionError:
            self.close()
            return CLOSED

    def answer(self, request: Request, version: int) -> Response:
        """As `ask`, where nothing but an answer will do."""
        answered = self.ask(request, version)
        assert isinstance(answered, Response), f"{request} v{version}: {answered}"
        return answered
