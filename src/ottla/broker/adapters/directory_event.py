"""Events of log directories, on their way to the controller (KIP-858): replication's `DirectoryEventPort`.

Where replicas live goes in AssignReplicasToDirs, one request at a time and up to so many replicas in each; a replica
that moved again before its turn is told of once, at its last place. What the controller refuses for now is told again.
Lost directories travel with the broker's heartbeats.
"""

import logging
from collections.abc import Callable
from itertools import islice
from typing import Final

from ottla.base.ids import Uuid
from ottla.broker.node.lifecycle import Channel, Scheduler
from ottla.protocol.definition import Response
from ottla.protocol.errors import ApiError, ErrorCode
from ottla.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    RequestDirectoryData,
    RequestPartitionData,
    RequestTopicData,
)

_log = logging.getLogger(__name__)

ASSIGNMENTS_PER_REQUEST_MAX: Final = 2250
"""The most entries of a request, as in Kafka: a controller can write them as one batch."""
_TIMEOUT_MS: Final = 30_000
_DELAY_S: Final = 0.02
_RETRY_DELAY_S: Final = 1.0
_OF_NO_CONCERN: Final = (
    ErrorCode.NONE,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
)
"""The controller knows, or the replica is not this broker's any more."""

Replica = tuple[Uuid, int]


class ControllerDirectoryEvents:
    """Tells the controller about directories. Loop thread only."""

    def __init__(
        self,
        broker: tuple[int, Callable[[], int]],
        on_failed: Callable[[Uuid], None],
        channel: Channel,
        loop: Scheduler,
        on_all_failed: Callable[[], None],
    ) -> None:
        """`broker` is this one's id, and how to learn its epoch."""
        self._node_id, self._broker_epoch = broker
        self._on_failed = on_failed
        self._channel = channel
        self._loop = loop
        self._on_all_failed = on_all_failed
        self._waiting: dict[Replica, Uuid] = {}
        self._in_flight: dict[Replica, Uuid] = {}
        self._is_scheduled = False

    def assign(self, topic_id: Uuid, partition: int, directory_id: Uuid) -> None:
        """The replica lives in that directory now."""
        self._waiting[topic_id, partition] = directory_id
        self._schedule(_DELAY_S)

    def failed(self, directory_id: Uuid | None, path: str) -> None:
        """A directory went offline."""
        _log.error("log directory %s is lost; the controller is told", path)
        if directory_id is not None:
            self._on_failed(directory_id)

    def all_failed(self) -> None:
        """No directory is left."""
        self._on_all_failed()

    def _schedule(self, delay_s: float) -> None:
        if not self._is_scheduled and not self._in_flight:
            self._is_scheduled = True
            self._loop.call_later(delay_s, self._send)

    def _send(self) -> None:
        self._is_scheduled = False
        self._in_flight = dict(islice(self._waiting.items(), ASSIGNMENTS_PER_REQUEST_MAX))
        if not self._in_flight:
            return
        for replica in self._in_flight:
            del self._waiting[replica]
        self._channel.send(self._request(), self._answered, timeout_ms=_TIMEOUT_MS)

    def _request(self) -> AssignReplicasToDirsRequest:
        found: dict[Uuid, dict[Uuid, list[RequestPartitionData]]] = {}
        for (topic_id, partition), directory_id in self._in_flight.items():
            topics = found.setdefault(directory_id, {})
            topics.setdefault(topic_id, []).append(RequestPartitionData(partition_index=partition))
        return AssignReplicasToDirsRequest(
            broker_id=self._node_id,
            broker_epoch=self._broker_epoch(),
            directories=[
                RequestDirectoryData(
                    id=directory_id,
                    topics=[
                        RequestTopicData(topic_id=topic_id, partitions=found) for topic_id, found in topics.items()
                    ],
                )
                for directory_id, topics in found.items()
            ],
        )

    def _answered(self, answer: Response | ApiError) -> None:
        asked, self._in_flight = self._in_flight, {}
        refused = asked
        if isinstance(answer, AssignReplicasToDirsResponse):
            refused = {
                (topic.topic_id, partition.partition_index): directory.id
                for directory in answer.directories
                for topic in directory.topics
                for partition in topic.partitions
                if partition.error_code not in _OF_NO_CONCERN
            }
        if refused:
            _log.info("the controller did not take where %d replicas live, telling again", len(refused))
            self._waiting = {**refused, **self._waiting}
        if self._waiting:
            self._schedule(_RETRY_DELAY_S if refused else _DELAY_S)
