"""One version of one call, with everything about it that is worked out once: layouts, handler, metrics.

A route is made at the first request of its kind and then found with a single look-up. It encodes answers, so that a
response may come from anywhere: the handler's return, a purgatory, the controller.
"""

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from ottla.base.buffer import Buffer
from ottla.broker.request.answerer import Handle, Handler, Prepared
from ottla.broker.request.api_table import ServedApi
from ottla.broker.request.request_limit import elements_max
from ottla.protocol.api_key import ApiKey
from ottla.protocol.catalog import request_type, response_type
from ottla.protocol.codec import engine
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import Records
from ottla.protocol.frame import request_header_version, response_header_version

if TYPE_CHECKING:
    from ottla.base.metric import MetricRegistry
    from ottla.broker.security.admission import Admission
    from ottla.net.channel import Exchange

_SIZE_AND_ID: Final = struct.Struct(">ii")
_SIZE_AND_ID_AND_NO_TAGS: Final = struct.Struct(">iix")
_JOINED_BYTES_MAX: Final = 16 * 1024
"""Up to here copying a body behind its header is cheaper than sending two pieces."""

_BUSY_APIS: Final = frozenset({ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.OFFSET_COMMIT})
_NEVER_LONG: Final = frozenset({ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.SHARE_FETCH, ApiKey.FETCH_SNAPSHOT})
"""Calls whose answers are not looked at: they are the busiest, or carry records, which are not encoded."""
_BUSY_SAMPLED_EVERY: Final = 16
"""Of calls that come by the thousand this many have one that is timed."""


class Lane(Protocol):
    """A short way for the requests that are like most. A handler module's `lane(parts, route)` makes one."""

    def take(self, frame: memoryview, correlation_id: int, client_id_bytes: int, exchange: "Exchange") -> bool:
        """Serves the request, or leaves it untouched and says False."""
        ...


class RouteKind(NamedTuple):
    """The common part of all routes of one kind of listener."""

    is_controller: bool
    metrics: "MetricRegistry"
    time: Callable[[], float]
    """Seconds from anywhere, as an event loop counts them."""
    admission: "Admission | None" = None
    """Decides which requests pass; None if every request is allowed."""


class Route:
    """The way of requests of one call and version: how they are read, handled and answered."""

    __slots__ = (
        "_head",
        "_head_bytes",
        "admission",
        "api",
        "elements_max",
        "handle",
        "has_tags",
        "is_controller",
        "lane",
        "may_be_long",
        "prepared",
        "request_plan",
        "requests",
        "response_plan",
        "sampled_every",
        "throttle",
        "time",
        "times_ms",
        "version",
    )

    def __init__(self, api: ApiKey, version: int, handler: Handler, served: ServedApi, kind: "RouteKind") -> None:
        self.api = api
        self.version = version
        self.is_controller = kind.is_controller
        self.time = kind.time
        self.throttle = served.throttle
        self.admission = kind.admission
        self.handle: Handle = handler.handle
        if kind.admission is not None and served.right.operations:
            self.handle = kind.admission.guard(served.right, api, self.handle)
        self.prepared: Prepared | None = getattr(handler, "prepared", None)
        self.request_plan = request_type(api).plan(version)
        self.response_plan = response_type(api).plan(version)
        self.may_be_long = api not in _NEVER_LONG
        """Whether answers may have to be encoded in turns with other requests."""
        self.has_tags = request_header_version(api, version) == 2
        """Whether the request's header ends with tagged fields."""
        self._head = _SIZE_AND_ID_AND_NO_TAGS if response_header_version(api, version) else _SIZE_AND_ID
        self._head_bytes = self._head.size - 4
        name = api.name.title().replace("_", "")
        self.requests = kind.metrics.counter(
            "kafka_network_requestmetrics_requests_total",
            "Requests received, by call and version.",
            request=name,
            version=str(version),
        )
        self.times_ms = kind.metrics.histogram(
            "kafka_network_requestmetrics_totaltimems",
            "Milliseconds from receiving a request to handing over its answer; of the busiest calls a sample.",
            request=name,
        )
        self.elements_max = elements_max(api)
        """How many elements the arrays of a request may have."""
        self.lane: Lane | None = None
        """Serves plain requests before they are decoded, if there is one."""
        self.sampled_every = _BUSY_SAMPLED_EVERY if api in _BUSY_APIS else 1
        """Which share of the requests is timed."""

    def decode(self, frame: Buffer, position: int) -> Request:
        """The request whose body begins there; bytes behind it are ignored."""
        request: Request = engine.decode_tolerantly(self.request_plan, frame, position, self.elements_max)[0]
        return request

    def encode(self, correlation_id: int, response: Response) -> list[Records]:
        """The whole frame of a response, in pieces around its records."""
        pieces = engine.encode_around(((self.response_plan, response),))
        if len(pieces) == 1 and isinstance(pieces[0], bytes):
            return self.frame(correlation_id, pieces[0])
        size = self._head_bytes
        for piece in pieces:
            size += piece.nbytes if isinstance(piece, memoryview) else len(piece)
        first = pieces[0]
        head = self._head.pack(size, correlation_id)
        if isinstance(first, bytes) and len(first) <= _JOINED_BYTES_MAX:
            pieces[0] = head + first
        else:
            pieces.insert(0, head)
        return pieces

    def frame(self, correlation_id: int, body: bytes) -> list[Records]:
        """The whole frame of a response whose body is encoded already."""
        head = self._head.pack(self._head_bytes + len(body), correlation_id)
        return [head + body] if len(body) <= _JOINED_BYTES_MAX else [head, body]

    def measure(self, started: float) -> None:
        """A request that was received at `started` is answered."""
        self.times_ms.record((self.time() - started) * 1000.0)
