"""The result of `poll()`: a list of records, partition after partition."""

from collections.abc import Iterable

from ottla.client.consumer.fetch.record import Record
from ottla.client.record import OffsetAndMetadata, TopicPartition


class Records(list[Record]):
    """A plain list of records; those of one partition stand together and in order.

    >>> records = Records([Record("a", 0, 5), Record("a", 0, 6), Record("b", 1, 0)])
    >>> {str(partition): len(found) for partition, found in records.by_partition().items()}
    {'a-0': 2, 'b-1': 1}
    """

    __slots__ = ("positions",)

    def __init__(self, records: Iterable[Record] = ()) -> None:
        super().__init__(records)
        self.positions: dict[TopicPartition, OffsetAndMetadata] = {}
        """Where the consumer stands after them, where it said so."""

    def next_offsets(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The offsets to commit after these records, above all in `Producer.send_offsets_to_transaction`.

        Behind the last record of each partition, and behind what follows it and is not for users: transactions' ends.

        >>> Records([Record("a", 0, 5), Record("a", 0, 6)]).next_offsets()
        {TopicPartition(topic='a', partition=0): OffsetAndMetadata(offset=7, metadata='', leader_epoch=None)}
        """
        last = {TopicPartition(record.topic, record.partition): record for record in self}
        return {
            partition: OffsetAndMetadata(record.offset + 1, "", record.leader_epoch)
            for partition, record in last.items()
        } | self.positions

    def by_partition(self) -> dict[TopicPartition, list[Record]]:
        """The records below their partitions."""
        found: dict[TopicPartition, list[Record]] = {}
        topic, partition, current = "", -1, list[Record]()
        for record in self:
            if record.partition != partition or record.topic != topic:
                topic, partition = record.topic, record.partition
                current = found.setdefault(TopicPartition(topic, partition), [])
            current.append(record)
        return found

    @property
    def partitions(self) -> frozenset[TopicPartition]:
        """The partitions that records came from."""
        return frozenset(self.by_partition())

    def of(self, partition: TopicPartition) -> list[Record]:
        """The records of one partition."""
        return [
            record for record in self if record.partition == partition.partition and record.topic == partition.topic
        ]
