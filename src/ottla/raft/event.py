"""The events of a quorum member: the inputs of `core.RaftCore.handle`, all in the past tense."""

from ottla.base.frozen import frozen
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ErrorCode


@frozen
class TimeElapsed:
    """The deadline that the core asked for has come."""


@frozen
class RequestReceived:
    """A request came; the answer is a `SendResponse` with the same `request_id`, perhaps later."""

    request_id: int
    request: Request
    api_version: int
    listener: str
    """The listener it came in on, which is the one whose addresses the asker can reach."""


@frozen
class ResponseReceived:
    """A node answered a `SendRequest`."""

    correlation_id: int
    source_id: int
    response: Response


@frozen
class RequestFailed:
    """A `SendRequest` got no answer: no connection, or UNSUPPORTED_VERSION because the peer has no such version."""

    correlation_id: int
    source_id: int
    error: ErrorCode


@frozen
class LogFlushed:
    """A `FlushLog` is done; how far is for the log port to say."""


@frozen
class CommitsApplied:
    """The listener is done with the last `ApplyCommitted` or `LoadSnapshot`."""


@frozen
class ResignRequested:
    """The listener gives up the leadership of `epoch`."""

    epoch: int


@frozen
class ShutdownRequested:
    """The node stops; a leader hands over first, as far as `timeout_ms` allows."""

    timeout_ms: int


Event = (
    TimeElapsed
    | RequestReceived
    | ResponseReceived
    | RequestFailed
    | LogFlushed
    | CommitsApplied
    | ResignRequested
    | ShutdownRequested
)
