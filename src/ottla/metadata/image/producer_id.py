"""Which producer id the next broker that asks for a block of them gets."""

from ottla.protocol.metadata_log.producer_ids import ProducerIdsRecord


class ProducerIdsDelta:
    """The first id of the next block, as far as records were taken in."""

    __slots__ = ("next_id",)

    def __init__(self, next_id: int) -> None:
        self.next_id = next_id

    def replay(self, record: ProducerIdsRecord) -> None:
        """A block was given away."""
        self.next_id = record.next_producer_id
