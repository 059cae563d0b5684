"""Keeps the fetch buffer filled: one fetch in flight per node, sent as soon as there is room for what it may bring.

Runs in the event loop, whether or not the user polls. A partition is asked for ahead of the user's position while less
than two fetches of it wait; a node with a partition that has no room is not asked at all: a request for its other
partitions might wait at the broker for data while the full one is emptied, and would hold it up. What a request that
waits there does not ask for is fetched beside it (`side_fetch`).
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from ottla.base.errors import OttlaError
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.base.thread_owner import one_thread
from ottla.client.cluster.backoff import Backoff
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.node_pool import Purpose
from ottla.client.consumer.errors import FetchBrokenError
from ottla.client.consumer.fetch.fetch_answer import FetchAnswers, Sent
from ottla.client.consumer.fetch.fetch_buffer import FailedFetch, FetchBuffer
from ottla.client.consumer.fetch.fetch_option import FetchOptions
from ottla.client.consumer.fetch.fetch_session import LAST_VERSION_BY_NAME, FetchSession, FetchTarget
from ottla.client.consumer.fetch.side_fetch import SideFetch
from ottla.client.consumer.subscription_state import PartitionState, SubscriptionState
from ottla.client.errors import AuthenticationFailedError
from ottla.client.record import TopicPartition
from ottla.protocol.definition import Response
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.fetch import FetchRequest, FetchResponse

_log = logging.getLogger(__name__)

_FETCHES_AHEAD: Final = 2
_HURRY_BYTES: Final = 65_536
"""With more than this at hand the user is busy, and the next fetch is what is late."""
_END_TIMEOUT_MS: Final = 500
"""How long closing waits for nodes to take notice."""
_SESSION_ERRORS: Final = frozenset(
    {
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
    }
)


@dataclass(slots=True)
class _Node:
    """The fetches from one node."""

    side: SideFetch
    session: FetchSession = field(default_factory=FetchSession)
    waiting: dict[TopicPartition, Sent] = field(default_factory=dict)
    task: asyncio.Task[None] | None = None
    is_asked: bool = False
    failures: int = 0
    retry_at_s: float = 0.0


@one_thread
class Fetcher:
    """Fetches all that is assigned and fetchable."""

    def __init__(
        self, cluster: ClusterClient, subscription: SubscriptionState, answers: FetchAnswers, options: FetchOptions
    ) -> None:
        self.waits_for_room = False
        """Whether the user's calls should wake the fetcher after they have taken something; read by any thread."""
        self._cluster: Final = cluster
        self._subscription: Final = subscription
        self._answers: Final = answers
        self._buffer: Final[FetchBuffer] = answers.buffer
        self._options: Final = options
        self._backoff: Final[Backoff] = cluster.backoff
        self._loop: Final = asyncio.get_running_loop()
        self._nodes: Final[dict[int, _Node]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._is_scheduled = False
        self._is_closed = False

    def wake(self) -> None:
        """Something changed: partitions, positions, leaders, or room in the buffer."""
        if not self._is_scheduled and not self._is_closed:
            self._is_scheduled = True
            self._loop.call_soon(self._send_all)

    async def close(self) -> None:
        """Ends all fetches, and tells the nodes to forget their sessions: there is room for few (KIP-227)."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        tasks = [node.task for node in self._nodes.values() if node.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, *(node.side.close() for node in self._nodes.values()), return_exceptions=True)
        await asyncio.gather(*(self._end_session(node_id, node) for node_id, node in self._nodes.items()))

    async def _end_session(self, node_id: int, node: _Node) -> None:
        """Not on the main purpose, where a fetch may be waiting for records."""
        if node.session.is_open and not node.failures:
            request = self._options.request(node.session.end(), max_wait_ms=0)
            with contextlib.suppress(OttlaError):
                await self._cluster.request(node_id, request, timeout_ms=_END_TIMEOUT_MS, purpose=Purpose.COORDINATOR)

    def _send_all(self) -> None:
        self._is_scheduled = False
        if self._is_closed:
            return
        now_s = self._loop.time()
        wanted, full = self._wanted(now_s)
        self.waits_for_room = bool(full)
        for node_id, targets in wanted.items():
            node = self._nodes.get(node_id) or self._new_node(node_id)
            if node_id in full:
                continue
            sent = self._sent(targets)
            if node.is_asked:
                node.side.begin(sent, node.waiting)
                continue
            if node.side.brings(sent):
                continue
            if node.retry_at_s > now_s:
                self._wake_at(node.retry_at_s)
                continue
            try:
                self._fetch(node_id, node, targets)
            except Exception as error:  # noqa: BLE001 - the same: a request that can't be made
                node.is_asked = False
                self._broke(node_id, node, error)
                self._wake_at(node.retry_at_s)

    def _new_node(self, node_id: int) -> _Node:
        def side_ended(cause: BaseException | None) -> None:
            if isinstance(cause, Exception):
                self._broke(node_id, node, cause)
            self.wake()

        side = SideFetch(node_id, self._cluster, self._answers, self._options, side_ended)
        node = self._nodes[node_id] = _Node(side)
        return node

    def _sent(self, targets: dict[TopicPartition, FetchTarget]) -> dict[TopicPartition, Sent]:
        assigned = self._subscription.assigned
        return {key: Sent(assigned[key], assigned[key].version, target) for key, target in targets.items()}

    def _wanted(self, now_s: float) -> tuple[dict[int, dict[TopicPartition, FetchTarget]], set[int]]:
        """The partitions to fetch from each node, and the nodes that have a partition without room."""
        wanted: dict[int, dict[TopicPartition, FetchTarget]] = {}
        full: set[int] = set()
        room = self._buffer.buffered_bytes < self._options.max_bytes
        ahead = _FETCHES_AHEAD * self._options.partition_bytes_max
        for partition, state in self._subscription.assigned.items():
            position = state.fetch_position
            if position is None or not state.is_fetchable:
                continue
            if state.retry_at_s > now_s:
                self._wake_at(state.retry_at_s)
                continue
            node_id, epoch, topic_id = self._place(partition, state, now_s)
            if node_id < 0:
                self._cluster.refresh_soon()
                continue
            if epoch != state.validated_epoch:
                # A new leader: the user's next call compares the position with its log first (KIP-320).
                continue
            if not room or state.buffered_bytes >= ahead:
                full.add(node_id)
            target = FetchTarget(position.offset, epoch, topic_id, self._options.partition_bytes_max)
            wanted.setdefault(node_id, {})[partition] = target
        return wanted, full

    def _place(self, partition: TopicPartition, state: PartitionState, now_s: float) -> tuple[int, int, Uuid]:
        """The node to fetch from: the leader, or the replica that it prefers (KIP-392)."""
        view = self._cluster.view
        topic = view.topics.get(partition.topic)
        found = None if topic is None else topic.partitions.get(partition.partition)
        if topic is None or found is None:
            return -1, -1, ZERO_UUID
        replica = state.read_replica
        if replica is not None:
            if now_s < state.read_replica_until_s and replica in view.brokers and replica not in found.offline:
                return replica, found.leader_epoch, topic.id
            state.read_replica = None
        return found.leader if found.leader in view.brokers else -1, found.leader_epoch, topic.id

    def _wake_at(self, when_s: float) -> None:
        if self._timer is None or self._timer.cancelled() or self._timer.when() > when_s:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(when_s, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        self.wake()

    def _fetch(self, node_id: int, node: _Node, targets: dict[TopicPartition, FetchTarget]) -> None:
        """Asks a node: straight away if it is connected, which saves the answer some turns of the loop."""
        session = node.session.request(targets)
        sent = node.waiting = self._sent(targets)
        started_s = self._loop.time()

        def done(result: Response | Exception) -> None:
            node.is_asked, node.task = False, None
            node.side.waiting_ended()
            if self._is_closed:
                return
            latency_s = self._loop.time() - started_s
            try:
                self._hear(node_id, node, sent, result)
            except Exception as error:  # noqa: BLE001 - whatever it is, reading must not end without a word
                self._broke(node_id, node, error)
            if not isinstance(result, Exception):
                # Counted while the user's thread is on its way.
                self._answers.metrics.fetched(latency_s, getattr(result, "throttle_time_ms", 0))
            if self._buffer.buffered_bytes > _HURRY_BYTES:
                self._send_all()
            else:
                # One turn of the loop later, so that the user's thread gets to run in between.
                self.wake()

        request = self._options.request(session)
        version = None if session.uses_topic_ids else LAST_VERSION_BY_NAME
        connection = self._cluster.ready_connection(node_id)
        node.is_asked = True
        if connection is None or connection.throttled_ms:
            node.task = self._loop.create_task(self._connect_and_ask(node_id, request, version, done))
        else:

            def answered(result: Response | OttlaError) -> None:
                connection.throttle(getattr(result, "throttle_time_ms", 0))
                done(result)

            connection.send(request, answered, timeout_ms=self._timeout_ms, version=version)

    async def _connect_and_ask(
        self, node_id: int, request: FetchRequest, version: int | None, done: Callable[[Response | Exception], None]
    ) -> None:
        try:
            result = await self._cluster.request(node_id, request, timeout_ms=self._timeout_ms, version=version)
        except Exception as error:  # noqa: BLE001 - what is unforeseen goes to the user
            done(error)
        else:
            done(result)

    @property
    def _timeout_ms(self) -> int:
        """The broker may wait for records before it answers at all."""
        return max(self._options.request_timeout_ms, self._options.max_wait_ms + 1000)

    def _hear(self, node_id: int, node: _Node, sent: dict[TopicPartition, Sent], result: Response | Exception) -> None:
        if isinstance(result, OttlaError):
            self._failed(node_id, node, result)
        elif isinstance(result, Exception):
            raise result
        else:
            assert isinstance(result, FetchResponse)
            self._answered(node, sent, result)

    def _answered(self, node: _Node, sent: dict[TopicPartition, Sent], response: FetchResponse) -> None:
        code = response.error_code
        if code != ErrorCode.NONE:
            if code in _SESSION_ERRORS:
                node.session.forget()
            else:
                node.session.failed()
                _log.warning("a fetch was refused as a whole: %s", ErrorCode(code).name)
            if code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR:
                self._cluster.refresh_soon()
            self._back_off(node)
            return
        node.failures = 0
        node.session.answered(response.session_id)
        self._answers.apply(sent, response)

    def _failed(self, node_id: int, node: _Node, error: OttlaError) -> None:
        """The node can't be reached or does not answer: who leads may have changed."""
        _log.debug("fetch from broker %d: %s", node_id, error)
        node.session.failed()
        for state in self._subscription.assigned.values():
            if state.read_replica == node_id:
                state.read_replica = None
        self._back_off(node)
        self._cluster.refresh_soon()
        if isinstance(error, AuthenticationFailedError):
            self._answers.put(FailedFetch(error))

    def _broke(self, node_id: int, node: _Node, cause: Exception) -> None:
        """Tells the user's next poll, and tries again after a pause."""
        error = FetchBrokenError(f"fetching from broker {node_id} met with something unforeseen: {cause!r}")
        error.__cause__ = cause
        node.session.failed()
        self._back_off(node)
        self._answers.put(FailedFetch(error))

    def _back_off(self, node: _Node) -> None:
        node.retry_at_s = self._loop.time() + self._backoff.delay_ms(node.failures) / 1000
        node.failures += 1
