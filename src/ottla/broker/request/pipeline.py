"""From a frame to a handler and back: the life of every request, and the end of those without an answer.

Implements `net.handler.FrameHandler`, one instance for each kind of listener. Nothing here knows what a call does.
Kafka's manners are kept: bytes that are no request, keys that are not served and versions that are not served close
the connection without an answer, except that ApiVersions is always answered, so that a client from the future learns
what it may say (KIP-511). Bytes behind a request are ignored.

`received` runs for every request, so it is straight and does nothing twice: see `route` for what is worked out once.
Requests that a lane takes reach it from compiled code, where there is a compiler (`_intake.pyx`).
"""

import logging
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ottla.base.accelerated import compiled_module
from ottla.broker.quota.client_quota import ClientQuotas
from ottla.broker.quota.metered_request import MeteredRequest, Metering
from ottla.broker.request.answerer import find_handler
from ottla.broker.request.api_table import ApiTable
from ottla.broker.request.client_session import ClientSession
from ottla.broker.request.refusal import refusing, wants_answer
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.route import Route, RouteKind
from ottla.protocol.api_key import ApiKey
from ottla.protocol.codec.engine import decode_tolerantly
from ottla.protocol.definition import Request
from ottla.protocol.errors import ApiError, DecodeError, ErrorCode, UnknownServerError
from ottla.protocol.frame import decode_request_header, encode_response
from ottla.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse

if TYPE_CHECKING:
    from ottla.base.metric import MetricRegistry
    from ottla.broker.security.admission import Admission
    from ottla.net.channel import Channel, Exchange

_log = logging.getLogger(__name__)

_HEAD: Final = struct.Struct(">hhih")
"""API key, version, correlation id, and how long the client id is: the same in every version of the header."""
_CLIENT_ID_AT: Final = _HEAD.size


class Pipeline:
    """Decodes, dispatches, measures and refuses. `parts` is what handlers get: `BrokerParts` or `ControllerParts`."""

    def __init__(
        self,
        parts: object,
        table: ApiTable,
        metrics: "MetricRegistry",
        time: Callable[[], float],
        admission: "Admission | None" = None,
    ) -> None:
        """`time` gives seconds from any origin, as `loop.time` does; without `admission` every request is allowed."""
        self._parts = parts
        self._table = table
        self._metrics = metrics
        self._kind = RouteKind(table.is_controller, metrics, time, admission)
        self._time = time
        self._routes: dict[int, Route] = {}
        """By API key << 16 | version: the first four bytes of a request."""
        compiled = compiled_module("ottla.broker.request._intake")
        self.received: Callable[[memoryview, Exchange], None] = self._received
        """A whole request came in; it is answered through the exchange, now or later, or its connection closed."""
        if compiled is not None:
            self.received = compiled.Intake(self._routes, self._received, self._failed_in_lane).received
        self._metering_quotas: ClientQuotas | None = None
        """The quotas, while there are any."""

    def follow_quotas(self, quotas: ClientQuotas) -> None:
        """Counts what requests use while any client has a quota; lanes, which don't count, are closed meanwhile."""

        def changed() -> None:
            self._metering_quotas = quotas if quotas.is_active else None
            for route in self._routes.values():
                self._open_lane(route)

        quotas.watch(changed)
        changed()

    def _open_lane(self, route: Route) -> None:
        route.lane = None
        if self._metering_quotas is not None:
            return
        served = self._table.served[route.api]
        make = getattr(find_handler(self._table.handlers, route.api, served.answerer), "lane", None)
        if make is not None:
            route.lane = make(self._parts, route)

    def connected(self, connection: "Channel") -> None:
        """A connection was accepted."""
        connection.session = ClientSession()

    def disconnected(self, connection: "Channel") -> None:
        """A connection is gone; what is still answered to it is dropped by its exchanges."""
        if isinstance(connection.session, ClientSession):
            connection.session.close()

    def _received(self, frame: memoryview, exchange: "Exchange") -> None:
        try:
            key, version, correlation_id, length = _HEAD.unpack_from(frame)
        except struct.error:
            exchange.close(f"a request of {len(frame)} bytes has no room for a header")
            return
        route = self._routes.get(key << 16 | version)
        if route is None:
            route = self._resolve(key, version, frame, exchange)
            if route is None:
                return
        if route.lane is not None:
            try:
                if route.lane.take(frame, correlation_id, length, exchange):
                    return
            except Exception as error:  # noqa: BLE001 - see `_failed`
                self._failed_in_lane(frame, exchange, error)
                return
        try:
            if length > 0:
                position = _CLIENT_ID_AT + length
                client_id = str(frame[_CLIENT_ID_AT:position], "utf-8", "replace")
            else:
                position = _CLIENT_ID_AT
                client_id = ""
            if route.has_tags:
                # No header has tagged fields yet: one zero byte.
                position = position + 1 if frame[position] == 0 else decode_request_header(frame)[1]
            metered = None
            if self._metering_quotas is None:
                context = RequestContext(route, correlation_id, client_id, exchange)
            else:
                metering = Metering(self._metering_quotas, len(frame))
                context = metered = MeteredRequest(route, correlation_id, client_id, exchange, metering)
            requests = route.requests
            count = requests.value = requests.value + 1
            if not count % route.sampled_every:
                context.started = self._time()
            if (
                route.prepared is not None
                and metered is None
                and self._answer_prepared(route, context, frame[position:])
            ):
                return
            request = decode_tolerantly(route.request_plan, frame, position, route.elements_max)[0]
        except (DecodeError, IndexError) as error:
            exchange.close(f"malformed {route.api.name} request of version {version}: {error}")
            return
        # As `dispatch`, which would be one call more for every request.
        try:
            if metered is not None:
                metered.handle(self._parts, request)
                return
            response = route.handle(self._parts, context, request)
            if response is not None:
                context.answer(response)
        except Exception as error:  # noqa: BLE001 - see `_failed`
            self._failed(context, request, error)

    def dispatch(self, context: RequestContext, request: Request) -> None:
        """Has a request handled that came in another way, and answered whatever comes of it."""
        try:
            response = context.route.handle(self._parts, context, request)
            if response is not None:
                context.answer(response)
        except Exception as error:  # noqa: BLE001 - see `_failed`
            self._failed(context, request, error)

    def route(self, api: ApiKey, version: int) -> Route | None:
        """The route of a call in a version, for requests that come in another way; None if it is not served."""
        known = self._routes.get(api << 16 | version)
        if known is not None:
            return known
        served = self._table.served.get(api)
        if served is None or not served.versions.includes(version):
            return None
        handler = find_handler(self._table.handlers, api, served.answerer)
        made = Route(api, version, handler, served, self._kind)
        self._open_lane(made)
        self._routes[api << 16 | version] = made
        return made

    def _answer_prepared(self, route: Route, context: RequestContext, body: memoryview) -> bool:
        assert route.prepared is not None
        prepared = route.prepared(self._parts, context, body)
        if prepared is None:
            return False
        context.answer_encoded(prepared)
        return True

    def _resolve(self, key: int, version: int, frame: memoryview, exchange: "Exchange") -> Route | None:
        """The route of a call's first request; None if it was refused."""
        try:
            api = ApiKey(key)
        except ValueError:
            exchange.close(f"unknown API key {key}")
            return None
        route = self.route(api, version)
        if route is None:
            served = self._table.served.get(api)
            if served is None:
                exchange.close(f"{api.name} is not served on this listener")
            elif api is ApiKey.API_VERSIONS:
                self._answer_unsupported(frame, exchange)
            else:
                exchange.close(f"{api.name} version {version} is not served, only {served.versions}")
        return route

    def _answer_unsupported(self, frame: memoryview, exchange: "Exchange") -> None:
        """Answers a version of ApiVersions that we don't know: in version 0, that we don't."""
        try:
            header = decode_request_header(frame)[0]
        except DecodeError as error:
            exchange.close(f"malformed header of an ApiVersions request: {error}")
            return
        versions = self._table.served[ApiKey.API_VERSIONS].versions
        own = ApiVersion(api_key=int(ApiKey.API_VERSIONS), min_version=versions.lowest, max_version=versions.highest)
        response = ApiVersionsResponse(error_code=int(ErrorCode.UNSUPPORTED_VERSION), api_keys=[own])
        exchange.answer([encode_response(response, 0, correlation_id=header.correlation_id)])

    def _failed(self, context: RequestContext, request: Request, error: Exception) -> None:
        """Answers what a handler raised. This is one of the three places where nothing may get past: a mistake in one
        handler costs one answer and one line in the log, and not the broker."""
        if not isinstance(error, ApiError):
            _log.error(
                "unexpected error in %s v%d from %s",
                context.api.name,
                context.version,
                context.connection.id,
                exc_info=error,
            )
            error = UnknownServerError()
        self._refuse(context, request, error)

    def _failed_in_lane(self, frame: memoryview, exchange: "Exchange", error: Exception) -> None:
        """Answers an error of a lane, which has not decoded the request."""
        header, position = decode_request_header(frame)
        route = self._routes[header.request_api_key << 16 | header.request_api_version]
        context = RequestContext(route, header.correlation_id, header.client_id or "", exchange)
        self._failed(context, route.decode(frame, position), error)

    def _refuse(self, context: RequestContext, request: Request, error: ApiError) -> None:
        self._metrics.counter(
            "kafka_network_requestmetrics_errors_total",
            "Requests refused as a whole, by call and error.",
            request=context.api.name.title().replace("_", ""),
            error=error.code.name,
        ).add()
        if context.exchange.is_done:
            return
        if not wants_answer(request):
            context.close(f"{error.code.name} in a request that wants no answer")
            return
        response = context.in_turns(refusing(request, context.version, error))
        if response is not None:
            context.answer(response)
