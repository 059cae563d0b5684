"""Which logs on this broker's disks belong to it: those that the cluster's metadata places here.

A topic may have been deleted, or a replica moved away, while the broker was down. Its log is put aside, not deleted.
"""

from ottla.base.ids import Uuid
from ottla.metadata.image.topic import TopicsImage
from ottla.storage.topic_partition import TopicPartition


class StrayLogs:
    """Judges logs by an image that holds everything committed."""

    def __init__(self, node_id: int, topics: TopicsImage) -> None:
        self._node_id = node_id
        self._topics = topics

    def is_stray(self, partition: TopicPartition, topic_id: Uuid | None) -> bool:
        """Whether the log of `partition`, made for the topic of that id, is nothing of this broker's.

        A log without an id was made, and never written to: it may be taken for that of the topic of its name.
        """
        known_id = self._topics.ids.get(partition.topic)
        if known_id is None or (topic_id is not None and topic_id != known_id):
            return True
        found = self._topics.partition(known_id, partition.partition)
        return found is None or self._node_id not in found.replicas
