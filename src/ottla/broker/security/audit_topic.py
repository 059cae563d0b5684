"""Audit lines into a topic of the cluster, a record each, as any client would write them.

A metadata listener: lines go to whichever partition of the topic has a leader, over the inter-broker listener and in
the node's name. They wait for the topic, for a leader and for answers; a batch that may have been written is written
again, so a line may come twice. Of what waits too long, lines about reads and writes are dropped and counted, and
those about changes go into the node's log: they are never lost. Loop thread only.
"""

import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.base.clock import Clock
from ottla.base.ids import Uuid
from ottla.base.log_limit import LimitedLog
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage
from ottla.protocol.errors import ApiError, ErrorCode
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.raft.identity import Node
from ottla.replication.ports import EventLoop

if TYPE_CHECKING:
    from ottla.broker.quorum.quorum_network import Peer
    from ottla.metadata.image.metadata_delta import MetadataDelta

_log = logging.getLogger(__name__)

LINES_MAX: Final = 10_000
"""So many lines wait at most."""
_BATCH_MAX: Final = 500
_LINGER_S: Final = 0.05
_PAUSE_S: Final = 1.0
"""After a failure."""
_TIMEOUT_MS: Final = 30_000


class AuditLine(NamedTuple):
    """A line that waits."""

    time_ms: int
    text: bytes
    is_change: bool


class AuditContext(NamedTuple):
    """The services that a topic's writer needs of its node."""

    loop: EventLoop
    clock: Clock
    listener: str
    """The name of the listener on which brokers reach each other."""
    connect: "Callable[[Node], Peer]"


class AuditTopic:
    """Writes lines into one topic."""

    def __init__(self, topic: str, around: AuditContext) -> None:
        self.topic: Final = topic
        self._around: Final = around
        self._image: MetadataImage = EMPTY_IMAGE
        self._waiting: Final[deque[AuditLine]] = deque()
        self._peer: tuple[Node, Peer] | None = None
        self._next_partition = 0
        self._is_busy = False
        """Whether something will look at what waits: a timer, or an answer that is under way."""
        self._is_closed = False
        self._complaints: Final = LimitedLog(_log, around.clock)

    def metadata_changed(self, _: "MetadataDelta", image: MetadataImage) -> None:
        """Leaders are those of the newest image."""
        self._image = image

    def add(self, line: AuditLine) -> None:
        """Takes a line."""
        if self._is_closed:
            _spill(line)
            return
        if len(self._waiting) >= LINES_MAX:
            self._make_room()
        self._waiting.append(line)
        if not self._is_busy:
            self._look_in(_LINGER_S)

    def close(self) -> None:
        """Writes no more into the topic: what waits is in the node's log, if it is about changes."""
        self._is_closed = True
        while self._waiting:
            _spill(self._waiting.popleft())
        self._disconnect()

    def _make_room(self) -> None:
        oldest = self._waiting.popleft()
        if oldest.is_change:
            _spill(oldest)
        else:
            self._complaints.warning("dropped", "audit lines about reads and writes wait too long and are dropped")

    def _look_in(self, seconds: float) -> None:
        self._is_busy = True
        loop = self._around.loop
        loop.call_at(loop.time() + seconds, self._send)

    def _send(self) -> None:
        self._is_busy = False
        if self._is_closed or not self._waiting:
            return
        target = self._target()
        if target is None:
            self._look_in(_PAUSE_S)
            return
        topic_id, index, node = target
        count = min(len(self._waiting), _BATCH_MAX)
        lines = [self._waiting[at] for at in range(count)]
        rows = [(at, line.time_ms, None, line.text, ()) for at, line in enumerate(lines)]
        records = write_batch(rows, BatchOptions())
        data = TopicProduceData(
            name=self.topic,
            topic_id=topic_id,
            partition_data=[PartitionProduceData(index=index, records=bytes(records))],
        )
        request = ProduceRequest(transactional_id=None, acks=-1, timeout_ms=_TIMEOUT_MS, topic_data=[data])

        def heard(answer: object) -> None:
            self._heard(answer, lines)

        self._is_busy = True
        self._connected(node).send(request, heard, timeout_ms=_TIMEOUT_MS)

    def _heard(self, answer: object, lines: list[AuditLine]) -> None:
        if self._is_closed:
            return
        code = _code_of(answer)
        if code is not ErrorCode.NONE:
            reason = code.name if code is not None else answer
            self._complaints.warning("refused", "audit lines wait for the topic %s: %s", self.topic, reason)
            self._look_in(_PAUSE_S)
            return
        for line in lines:
            # Some may have been dropped meanwhile, from the same end.
            if self._waiting and self._waiting[0] is line:
                self._waiting.popleft()
        self._is_busy = False
        if self._waiting:
            self._look_in(_LINGER_S)

    def _target(self) -> tuple[Uuid, int, Node] | None:
        """A partition that has a leader, and where that is; the next one each time."""
        topic = self._image.topics.topic(self.topic)
        if topic is None:
            self._complaints.warning("missing", "audit lines wait: there is no topic %s, create it", self.topic)
            return None
        for _ in topic.partitions:
            self._next_partition = (self._next_partition + 1) % len(topic.partitions)
            leader = topic.partitions[self._next_partition].leader
            broker = self._image.cluster.brokers.get(leader)
            for endpoint in () if broker is None else broker.listeners:
                if endpoint.name == self._around.listener:
                    return topic.id, self._next_partition, Node(leader, endpoint.host, endpoint.port)
        self._complaints.warning("leaderless", "audit lines wait: no partition of %s has a leader", self.topic)
        return None

    def _connected(self, node: Node) -> "Peer":
        if self._peer is not None and self._peer[0] == node:
            return self._peer[1]
        self._disconnect()
        self._peer = (node, self._around.connect(node))
        return self._peer[1]

    def _disconnect(self) -> None:
        if self._peer is not None:
            self._peer[1].close()
            self._peer = None


def _code_of(answer: object) -> ErrorCode | None:
    """The error code of a batch; None if the outcome is unknown."""
    if isinstance(answer, ProduceResponse):
        [topic] = answer.responses
        return ErrorCode(topic.partition_responses[0].error_code)
    return answer.code if isinstance(answer, ApiError) else None


def _spill(line: AuditLine) -> None:
    if line.is_change:
        _log.warning("not in the audit topic: %s", line.text.decode())
