"""Writes a follower's Fetch requests within its session with the leader (`ottla.protocol.fetch_session`).

Topics are named by id alone, so a topic made anew is another one.
"""

from collections.abc import Sequence

from ottla.base.ids import Uuid
from ottla.protocol.fetch_session import SessionReader
from ottla.protocol.messages.fetch import FetchPartition, FetchTopic, ForgottenTopic
from ottla.replication.follower.leader_endpoint import ReplicaFetch, TopicIdPartition


class ReplicaSession(SessionReader[TopicIdPartition, ReplicaFetch]):
    """One session with one leader."""

    def __init__(self, partition_max_bytes: int) -> None:
        super().__init__()
        self._partition_max_bytes = partition_max_bytes

    def topics(self, wanted: Sequence[ReplicaFetch]) -> tuple[list[FetchTopic], list[ForgottenTopic]]:
        """The fields of the next request: partitions that are new or changed, and those to forget."""
        changed, gone = self.changes({TopicIdPartition(one.topic_id, one.partition): one for one in wanted})
        topics: dict[Uuid, FetchTopic] = {}
        for one in changed.values():
            topic = topics.get(one.topic_id)
            if topic is None:
                topic = topics[one.topic_id] = FetchTopic(topic=one.topic, topic_id=one.topic_id)
            topic.partitions.append(self._partition(one))
        forgotten: dict[Uuid, ForgottenTopic] = {}
        for one in gone.values():
            left = forgotten.get(one.topic_id)
            if left is None:
                left = forgotten[one.topic_id] = ForgottenTopic(topic=one.topic, topic_id=one.topic_id)
            left.partitions.append(one.partition)
        return list(topics.values()), list(forgotten.values())

    def _partition(self, one: ReplicaFetch) -> FetchPartition:
        return FetchPartition(
            partition=one.partition,
            current_leader_epoch=one.current_leader_epoch,
            fetch_offset=one.fetch_offset,
            last_fetched_epoch=one.last_fetched_epoch,
            log_start_offset=one.log_start_offset,
            partition_max_bytes=self._partition_max_bytes,
        )
