"""A connection without a network: what is answered on it is kept for looking at."""

from collections.abc import Callable, Sequence

from ottla.broker.request.client_session import ClientSession
from ottla.protocol.api_key import ApiKey
from ottla.protocol.catalog import response_type
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import Records
from ottla.protocol.frame import decode_response, encode_request


class RecordedConnection:
    """As much of `ottla.net.connection.Connection` as handlers see."""

    def __init__(self, listener: str = "PLAINTEXT") -> None:
        self.peer = ("192.0.2.7", 40000)
        self.local = ("192.0.2.1", 9092)
        self.listener = listener
        self.id = "192.0.2.1:9092-192.0.2.7:40000-1"
        self.session: object | None = ClientSession()
        self.closed_with: str | None = None
        self.principal = "User:ANONYMOUS"
        self.principal_is_token = False
        self.throttled_ms: list[int] = []

    def throttle(self, ms: int) -> None:
        self.throttled_ms.append(ms)

    @property
    def is_open(self) -> bool:
        return self.closed_with is None


class RecordedExchange:
    """One request: `answer` joins the pieces, file slices are read."""

    def __init__(self, connection: RecordedConnection | None = None) -> None:
        self.connection = connection or RecordedConnection()
        self.frame: bytes | None = None
        self.pieces: Sequence[Records] = ()
        self.has_no_answer = False
        self.may_proceed = False

    @property
    def is_done(self) -> bool:
        return self.frame is not None or self.has_no_answer or not self.connection.is_open

    def answer(self, pieces: Sequence[Records]) -> None:
        assert not self.is_done
        self.pieces = pieces
        self.frame = b"".join(piece.read() if hasattr(piece, "read") else bytes(piece) for piece in pieces)  # type: ignore[arg-type]

    def no_answer(self) -> None:
        assert not self.is_done
        self.has_no_answer = True

    def proceed(self) -> None:
        self.may_proceed = True

    def after_others(self, callback: Callable[[], None]) -> None:
        """There are no others."""
        callback()

    def close(self, reason: str) -> None:
        self.connection.closed_with = reason

    def response(self, api: ApiKey, version: int) -> Response:
        """The answer, decoded; its size and correlation id are as they have to be."""
        assert self.frame is not None, self.connection.closed_with
        assert int.from_bytes(self.frame[:4], "big") == len(self.frame) - 4
        correlation_id, response = decode_response(self.frame[4:], api, version)
        assert correlation_id == CORRELATION_ID
        assert isinstance(response, response_type(api))
        return response


CORRELATION_ID = 4711


def frame_of(request: Request, version: int, client_id: str | None = "probe") -> bytearray:
    """The request as it comes from the network: writable, without its size."""
    encoded = encode_request(request, version, correlation_id=CORRELATION_ID, client_id=client_id)
    return bytearray(encoded[4:])
