"""The follower's side of a fetch session (KIP-227): what the leader knows already is not said again.

The first request of a session names everything; the next ones only what changed, and what is not wanted any more. A
leader that does not know the session, or not at this epoch, gets everything again.

    wanted [a@5 b@9] → full [a@5 b@9], then [a@7 b@9] → [a@7], then [a@7] → [], forget b
"""

from collections.abc import Sequence
from typing import Final

from ottla.base.ids import Uuid
from ottla.protocol.messages.fetch import FetchPartition, FetchTopic, ForgottenTopic
from ottla.replication.follower.leader_endpoint import ReplicaFetch, TopicIdPartition

_NO_SESSION: Final = 0
_FULL_EPOCH: Final = 0
_EPOCH_MAX: Final = 2**31 - 1


class ReplicaSession:
    """One session with one leader."""

    def __init__(self, partition_max_bytes: int) -> None:
        self.id = _NO_SESSION
        self.epoch = _FULL_EPOCH
        self._partition_max_bytes = partition_max_bytes
        self._known: dict[TopicIdPartition, ReplicaFetch] = {}

    def topics(self, wanted: Sequence[ReplicaFetch]) -> tuple[list[FetchTopic], list[ForgottenTopic]]:
        """The content of the next request: new and changed partitions, and those to be forgotten."""
        now = {TopicIdPartition(one.topic_id, one.partition): one for one in wanted}
        if self.epoch == _FULL_EPOCH:
            self._known = {}
        changed: dict[Uuid, FetchTopic] = {}
        for key, one in now.items():
            if self._known.get(key) != one:
                topic = changed.get(one.topic_id)
                if topic is None:
                    topic = changed[one.topic_id] = FetchTopic(topic=one.topic, topic_id=one.topic_id)
                topic.partitions.append(self._partition(one))
        forgotten: dict[Uuid, ForgottenTopic] = {}
        for key, one in self._known.items():
            if key not in now:
                gone = forgotten.get(one.topic_id)
                if gone is None:
                    gone = forgotten[one.topic_id] = ForgottenTopic(topic=one.topic, topic_id=one.topic_id)
                gone.partitions.append(one.partition)
        self._known = now
        return list(changed.values()), list(forgotten.values())

    def answered(self, session_id: int) -> None:
        """The leader took the request; without a session of its own it wants to hear everything each time."""
        if session_id == _NO_SESSION:
            self.reset()
            return
        self.id = session_id
        self.epoch = 1 if self.epoch == _EPOCH_MAX else self.epoch + 1

    def reset(self) -> None:
        """The next request names everything."""
        self.id, self.epoch = _NO_SESSION, _FULL_EPOCH
        self._known = {}

    def _partition(self, one: ReplicaFetch) -> FetchPartition:
        return FetchPartition(
            partition=one.partition,
            current_leader_epoch=one.current_leader_epoch,
            fetch_offset=one.fetch_offset,
            last_fetched_epoch=one.last_fetched_epoch,
            log_start_offset=one.log_start_offset,
            partition_max_bytes=self._partition_max_bytes,
        )
