"""The cluster as a client sees it: ask a node, know who leads what, find a coordinator.

The one thing that producers, consumers and admin clients are built on. It lives in one event loop, repeats nothing by
itself (whether a request may be repeated is for its sender to know), and owns every connection and task it starts:
after `close()` there are none.
"""

import asyncio
import itertools
import logging
import time
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from ottla.base.errors import OttlaError
from ottla.base.thread_owner import one_thread
from ottla.client.cluster.backoff import Backoff
from ottla.client.cluster.bootstrap import bootstrap_addresses, parse_bootstrap
from ottla.client.cluster.cluster_view import BrokerView, ClusterView, PartitionView, TopicView
from ottla.client.cluster.coordinator_lookup import CoordinatorKind, CoordinatorLookup
from ottla.client.cluster.diagnosis import first_request_refused
from ottla.client.cluster.metadata_refresh import MetadataRefresh
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.cluster.node_pool import NodePool, Purpose
from ottla.client.cluster.node_slot import SlotOptions
from ottla.client.cluster.recovery import Recovery
from ottla.client.cluster.retries import Retries, is_retriable
from ottla.client.cluster.topic_interest import TopicInterest
from ottla.client.config.kind import ClientKind, client_kind
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import ClosedError, FailedAttempt, KafkaTimeoutError, NoBrokersAvailableError
from ottla.client.metric.client_metric import ClientMetrics
from ottla.client.metric.node_sensor import NodeSensors
from ottla.client.security.connect_option import connect_options
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ErrorCode, NetworkError, UnknownTopicOrPartitionError, error_for
from ottla.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.messages.metadata import MetadataResponse

_log = logging.getLogger(__name__)
_numbers = itertools.count(1)

ANY_NODE: Final = -1
"""The least busy node."""
CONTROLLER: Final = -2
"""The broker that Metadata names as the controller; any broker forwards to the real one."""
_IDLE_CHECK_S_MAX: Final = 30.0

OnChange: TypeAlias = Callable[[ClusterView, ClusterView], None]
"""Hears the view before and after a change, in the event loop."""


@one_thread
class ClusterClient:
    """Connections to a cluster and what is known of it. All methods belong to the event loop that ran `start`."""

    def __init__(self, settings: ClientSettings) -> None:
        self.settings: Final = settings
        self.client_id: Final = settings.string("client.id") or f"ottla-{next(_numbers)}"
        self.view = ClusterView()
        """The cluster as it is known now; a new object after each change."""
        self.backoff: Final = Backoff.of_retries(settings)
        """The pauses between attempts of the same request."""
        self.metrics: Final = ClientMetrics(settings, self.client_id)
        """The metrics of the client; owners add their own."""
        self.request_timeout_ms: Final = settings.integer("request.timeout.ms")
        parse_bootstrap(settings)  # raises early what can't be an address
        self._sensors: Final = NodeSensors(self.metrics)
        self._interest: Final = TopicInterest(may_create=_may_create(settings))
        self._listeners: Final[list[OnChange]] = []
        self._recovery: Final = Recovery(settings)
        self._metadata_at = time.monotonic()
        self._idle_check: asyncio.TimerHandle | None = None
        self._pool: NodePool | None = None
        self._refresh: MetadataRefresh
        self._coordinators: CoordinatorLookup

    async def start(self, *, timeout_ms: int = 0) -> None:
        """Connects to a bootstrap address and learns who the brokers are; tries for `timeout_ms`, at least once each.

        Raises `NoBrokersAvailableError`, which names every address and why it failed, or `AuthenticationFailedError`.
        """
        loop = asyncio.get_running_loop()
        options = SlotOptions.of(self.settings, connect_options(self.settings, self.client_id))
        pool = self._pool = NodePool(await bootstrap_addresses(self.settings), options, self._sensors)
        self._refresh = MetadataRefresh(
            self._ask_or_recover, self.backoff, self.settings.integer("metadata.max.age.ms")
        )
        self._coordinators = CoordinatorLookup(self._ask_coordinator, self._learn, self.backoff)
        deadline = loop.time() + timeout_ms / 1000
        try:
            await self._bootstrap_until(deadline)
        except BaseException:
            self._pool = None
            await pool.close()
            raise
        self._refresh.start()
        self._check_idle()

    async def close(self) -> None:
        """Ends every connection and task; requests in flight fail. May be called again."""
        if self._idle_check is not None:
            self._idle_check.cancel()
        if self._pool is not None:
            await self._refresh.close()
            await self._coordinators.close()
            await self._pool.close()
            self._pool = None
            # Transports tell their protocols in a later round that they are gone.
            await asyncio.sleep(0)

    async def request(
        self,
        node_id: int,
        request: Request,
        *,
        timeout_ms: int | None = None,
        version: int | None = None,
        purpose: Purpose = Purpose.MAIN,
    ) -> Response:
        """Asks a node, `ANY_NODE` or the `CONTROLLER`, once; connects first if need be.

        Raises `NetworkError` (no connection, or lost), `RequestTimedOutError`, `KafkaTimeoutError` (no connection in
        time), `NoBrokersAvailableError`, all of them retriable; `AuthenticationFailedError`, `UnsupportedVersionError`.
        What the answer says inside, throttling apart, is for the caller to look at.
        """
        loop = asyncio.get_running_loop()
        timeout_ms = self.request_timeout_ms if timeout_ms is None else timeout_ms
        deadline = loop.time() + timeout_ms / 1000
        connection = await self._connection_until(node_id, purpose, deadline, timeout_ms)
        left_ms = max(1, round((deadline - loop.time()) * 1000))
        response = await connection.ask(request, timeout_ms=left_ms, version=version)
        connection.throttle(getattr(response, "throttle_time_ms", 0))
        return response

    async def connection(self, node_id: int, *, purpose: Purpose = Purpose.MAIN) -> NodeConnection:
        """The connection to a node, `ANY_NODE` or the `CONTROLLER`, made if need be; for callers that pipeline.

        Raises as `request` does. A connection that was lost is not repaired: ask for it again.
        """
        pool = self._opened()
        if node_id == CONTROLLER:
            node_id = self.view.controller_id
        if node_id >= 0:
            return await pool.connection(node_id, purpose)
        knew_brokers = pool.knows_brokers
        trouble = pool.unreachable() if self._recovery.may_rebootstrap else None
        if trouble is None:
            try:
                return await pool.any_connection()
            except NoBrokersAvailableError as error:
                if not knew_brokers or not self._recovery.may_rebootstrap:
                    raise
                trouble = error
        if pool.knows_brokers:  # else another caller, who heard the same, has gone back already
            self._log_rebootstrap("no known broker can be reached", trouble)
            await pool.rebootstrap()
            # Until the metadata names the brokers anew, none of them can be asked for by its id.
            self._refresh.soon()
        return await pool.any_connection()

    def ready_connection(self, node_id: int, *, purpose: Purpose = Purpose.MAIN) -> NodeConnection | None:
        """The connection to a node if it can be used right now: no wait, no task."""
        return None if self._pool is None else self._pool.ready(node_id, purpose)

    async def coordinator(self, kind: CoordinatorKind, key: str, *, timeout_ms: int | None = None) -> int:
        """The broker that coordinates a group or transactional id; ask it on `Purpose.COORDINATOR`.

        Raises `KafkaTimeoutError`, or what the brokers refuse with.
        """
        self._opened()
        timeout_ms = self.request_timeout_ms if timeout_ms is None else timeout_ms
        return await self._coordinators.find(kind, key, timeout_ms)

    def forget_coordinator(self, kind: CoordinatorKind, key: str) -> None:
        """The coordinator said that it is none, or is gone: the next `coordinator` asks again."""
        if self._pool is not None:
            self._coordinators.forget(kind, key)

    @property
    def metadata_age_s(self) -> float:
        """The age of the metadata."""
        return time.monotonic() - self._metadata_at

    def want_topics(self, names: Iterable[str]) -> None:
        """Keeps these topics in the view, too; asks for those that are new."""
        if self._interest.add(names):
            self._refresh_now()

    def want_only_topics(self, names: Iterable[str]) -> None:
        """Keeps exactly these topics in the view."""
        if self._interest.set(names):
            self._refresh_now()

    def unwant_topics(self, names: Iterable[str]) -> None:
        """Lets these topics leave the view."""
        self._interest.remove(names)

    def want_all_topics(self) -> None:
        """Keeps all topics in the view that there are; `want_only_topics` ends that."""
        if self._interest.add_all():
            self._refresh_now()

    def refresh_soon(self) -> None:
        """Refreshes metadata after a moment, once, however often it is called until then."""
        if self._pool is not None:
            self._refresh.soon()

    async def refresh(self, *, timeout_ms: int | None = None) -> ClusterView:
        """Asks a broker now and returns what is known then; repeats for `timeout_ms`.

        Raises `KafkaTimeoutError` with the last trouble as its cause, or `AuthenticationFailedError`.
        """
        self._opened()
        timeout_ms = self.request_timeout_ms if timeout_ms is None else timeout_ms
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                return await self._refresh.wait()
        except TimeoutError:
            last = self._refresh.last_error
            because = f": {last}" if last is not None else ""
            raise KafkaTimeoutError(f"no metadata within {timeout_ms} ms{because}") from last

    async def topic(self, name: str, *, timeout_ms: int) -> TopicView:
        """A topic with all its partitions; waits until it is known.

        Raises `UnknownTopicOrPartitionError` if it does not appear in time, what the broker refuses with
        (`InvalidTopicError`, `TopicAuthorizationFailedError`), or `KafkaTimeoutError`.
        """
        loop = asyncio.get_running_loop()
        deadline, failures = loop.time() + timeout_ms / 1000, 0
        self._interest.add((name,))
        while (found := self.view.topics.get(name)) is None:
            left_ms = round((deadline - loop.time()) * 1000)
            error = self.view.errors.get(name)
            if failures and error is not None and not error.retriable:
                raise type(error)(f"{name}: {error}")
            if failures and left_ms <= 0:
                raise UnknownTopicOrPartitionError(
                    f"there is no topic {name!r} after {timeout_ms} ms: create it first, or check its spelling"
                )
            if failures:
                await asyncio.sleep(min(self.backoff.delay_ms(failures - 1), max(0, left_ms)) / 1000)
            await self.refresh(timeout_ms=max(1, left_ms))
            failures += 1
        return found

    def on_change(self, callback: OnChange) -> None:
        """`callback` hears of every change of the view."""
        self._listeners.append(callback)

    def leader_changed(
        self, topic: str, partition: int, leader: int, leader_epoch: int, endpoints: Iterable[BrokerView] = ()
    ) -> bool:
        """An answer named a partition's new leader (KIP-951); whether that was news. Older epochs are ignored."""
        known = self.view.partition(topic, partition)
        if known is None or leader < 0 or leader_epoch <= known.leader_epoch:
            return False
        brokers = [broker for broker in endpoints if broker.id == leader]
        if not brokers and leader not in self.view.brokers:
            return False
        changed = PartitionView(partition, leader, leader_epoch, known.replicas, known.isr, known.offline)
        self._publish(self.view.with_leader(topic, changed, brokers))
        return True

    def _refresh_now(self) -> None:
        if self._pool is not None:
            self._refresh.now()

    def _opened(self) -> NodePool:
        if self._pool is None:
            raise ClosedError("the client is not connected: start() it first, or it was closed")
        return self._pool

    async def _bootstrap_until(self, deadline: float) -> None:
        retries = Retries(self.backoff, deadline)
        while True:
            try:
                await self._ask_metadata()
            except OttlaError as error:
                if not is_retriable(error) or not await retries.wait():
                    if isinstance(error, NetworkError):
                        # Connected, and sent away at the first request: a listener that wants SASL does so.
                        raise NoBrokersAvailableError([FailedAttempt(*first_request_refused(error))]) from error
                    raise
            else:
                return

    async def _connection_until(
        self, node_id: int, purpose: Purpose, deadline: float, timeout_ms: int
    ) -> NodeConnection:
        if node_id >= 0:
            ready = self.ready_connection(node_id, purpose=purpose)
            if ready is not None and not ready.throttled_ms:
                return ready
        try:
            async with asyncio.timeout_at(deadline):
                connection = await self.connection(node_id, purpose=purpose)
                if connection.throttled_ms:
                    await asyncio.sleep(connection.throttled_ms / 1000)
                return connection
        except TimeoutError as error:
            whom = str(self.view.brokers.get(node_id, "any broker"))
            raise KafkaTimeoutError(f"no connection to {whom} within {timeout_ms} ms") from error

    async def _ask_or_recover(self) -> ClusterView:
        try:
            view = await self._ask_metadata()
        except OttlaError as error:
            if not self._recovery.is_due(error, asyncio.get_running_loop().time()):
                raise
            self._log_rebootstrap("metadata can't be had", error)
            await self._opened().rebootstrap()
            view = await self._ask_metadata()
        self._recovery.answered()
        return view

    def _log_rebootstrap(self, because: str, error: OttlaError) -> None:
        level = logging.WARNING if self._recovery.is_news(error, asyncio.get_running_loop().time()) else logging.DEBUG
        _log.log(level, "%s: rebootstrapping, since %s: %s", self.client_id, because, error)

    async def _ask_metadata(self) -> ClusterView:
        """The question for what is wanted, and the answer published; a cluster of another kind asks otherwise."""
        asked = self._interest.names
        response = await self.request(ANY_NODE, self._interest.question())
        assert isinstance(response, MetadataResponse)
        if response.error_code != ErrorCode.NONE:
            raise error_for(response.error_code)
        self._publish(self.view.applied(response, asked))
        self._metadata_at = time.monotonic()
        return self.view

    async def _ask_coordinator(
        self, request: Callable[[int], FindCoordinatorRequest], timeout_ms: int
    ) -> FindCoordinatorResponse:
        connection = await self.connection(ANY_NODE)
        version = connection.version_of(ApiKey.FIND_COORDINATOR)
        response = await connection.ask(request(version), timeout_ms=timeout_ms, version=version)
        assert isinstance(response, FindCoordinatorResponse)
        return response

    def _learn(self, broker: BrokerView) -> None:
        """Adds a broker that a response names; after a rebootstrap the pool may lack one that the view still has."""
        if broker.id not in self.view.brokers or not self._opened().knows(broker.id):
            known = self.view.brokers.get(broker.id)
            self._publish(self.view.with_broker(broker._replace(rack=known.rack) if known else broker))

    def _publish(self, view: ClusterView) -> None:
        before, self.view = self.view, view
        self._opened().update(view.brokers.values())
        for listener in self._listeners:
            listener(before, view)

    def _check_idle(self) -> None:
        idle_ms = self.settings.integer("connections.max.idle.ms")
        if idle_ms < 0:
            return
        self._opened().close_idle(idle_ms)
        after_s = min(max(idle_ms / 1000, 0.1), _IDLE_CHECK_S_MAX)
        self._idle_check = asyncio.get_running_loop().call_later(after_s, self._check_idle)


def _may_create(settings: ClientSettings) -> bool:
    """Whether asking for a topic may create it: a consumer's setting, a producer's habit, never an admin's."""
    if client_kind(settings) is ClientKind.CONSUMER:
        return settings.boolean("allow.auto.create.topics")
    return client_kind(settings) is ClientKind.PRODUCER
