"""A request whose client has quotas: what it uses is counted, and if that is too much, its client is told to wait.

The answer leaves at once and says how long; the connection is not read from for that time, so that clients which don't
look at the answer wait, too. Produce counts the bytes of the request, Fetch those of the answer, every call the time
that the broker worked on it. If several quotas are exceeded the longest wait counts. What nodes say to each other is
never held up.

Unlike Apache Kafka a fetch that is over the quota is not read and thrown away: a client that has to wait is answered
without records before anything is read, and otherwise gets no more than is left, or one batch.
"""

from time import perf_counter
from typing import Any, Final, NamedTuple

from ottla.broker.quota.bucket import Bucket
from ottla.broker.quota.client_quota import ClientQuotas
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.route import Route
from ottla.broker.request.throttle import ThrottleKind
from ottla.net.channel import Exchange
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import Records

_FULL_PERCENT: Final = 100.0
_METADATA_THROTTLE_SINCE: Final = 3
"""From here on the body of Metadata, the one answer that is kept encoded, begins with the time to wait."""


class Metering(NamedTuple):
    """The collaborators of metering."""

    quotas: ClientQuotas
    request_bytes: int


class MeteredRequest(RequestContext):
    """A request whose use of the broker is counted."""

    __slots__ = ("_entitlement", "_is_exempt", "_quotas", "_request_bytes", "_started_s", "_worked_s")

    def __init__(
        self, route: Route, correlation_id: int, client_id: str, exchange: Exchange, metering: Metering
    ) -> None:
        super().__init__(route, correlation_id, client_id, exchange)
        quotas = metering.quotas
        self._quotas: Final = quotas
        self._entitlement: Final = quotas.of(self.principal.partition(":")[2], client_id)
        self._request_bytes: Final = metering.request_bytes
        self._is_exempt = route.throttle.kind is ThrottleKind.BETWEEN_NODES
        self._started_s: Final = perf_counter()
        self._worked_s: float | None = None
        """How long the handler took, once it has returned without an answer."""

    def handle(self, parts: Any, request: Request) -> None:
        """Has the request handled."""
        response = self.route.handle(parts, self, request)
        if response is not None:
            self.answer(response)
        else:
            self._worked_s = perf_counter() - self._started_s

    def exempt_from_quotas(self) -> None:
        self._is_exempt = True

    @property
    def fetch_throttle_ms(self) -> int:
        bucket = self._entitlement.fetch
        return 0 if bucket is None or self._is_exempt else bucket.throttle_ms(self._quotas.now_ms)

    def fetch_bytes_max(self, asked: int) -> int:
        bucket = self._entitlement.fetch
        if bucket is None or self._is_exempt:
            return asked
        return max(min(asked, int(bucket.left(self._quotas.now_ms))), 1)

    def answer(self, response: Response) -> None:
        pieces = self.route.encode(self.correlation_id, response)
        wait_ms = self._use(self._bytes_of(pieces))
        if wait_ms and hasattr(response, "throttle_time_ms"):
            response.throttle_time_ms = max(wait_ms, response.throttle_time_ms)
            pieces = self.route.encode(self.correlation_id, response)
        self._leave(pieces, wait_ms)

    def answer_encoded(self, body: bytes) -> None:
        wait_ms = self._use(0)
        if wait_ms and self.api is ApiKey.METADATA and self.version >= _METADATA_THROTTLE_SINCE:
            body = wait_ms.to_bytes(4, "big") + body[4:]
        self._leave(self.route.frame(self.correlation_id, body), wait_ms)

    def no_answer(self) -> None:
        wait_ms = self._use(0)
        super().no_answer()
        self._mute(wait_ms)

    def _leave(self, pieces: list[Records], wait_ms: int) -> None:
        self.exchange.answer(pieces)
        if self.started is not None:
            self.route.measure(self.started)
        self._mute(wait_ms)

    def _mute(self, wait_ms: int) -> None:
        if wait_ms:
            self.connection.throttle(wait_ms)

    def _bytes_of(self, pieces: list[Records]) -> int:
        if self.route.throttle.kind is not ThrottleKind.FETCH:
            return 0
        return sum(piece.nbytes if isinstance(piece, memoryview) else len(piece) for piece in pieces)

    def _use(self, response_bytes: int) -> int:
        """Counts what the request used; how long its client has to wait."""
        if self._is_exempt:
            return 0
        worked_s = perf_counter() - self._started_s if self._worked_s is None else self._worked_s
        wait_ms = self._charge(self._entitlement.request, worked_s * _FULL_PERCENT)
        if self.route.throttle.kind is ThrottleKind.PRODUCE:
            return max(wait_ms, self._charge(self._entitlement.produce, self._request_bytes))
        if self.route.throttle.kind is ThrottleKind.FETCH:
            return max(wait_ms, self._charge(self._entitlement.fetch, response_bytes))
        return wait_ms

    def _charge(self, bucket: Bucket | None, amount: float) -> int:
        if bucket is None:
            return 0
        now_ms = self._quotas.now_ms
        bucket.record(amount, now_ms)
        wait_ms = bucket.throttle_ms(now_ms)
        if wait_ms:
            bucket.waited(wait_ms, now_ms)
        return wait_ms
