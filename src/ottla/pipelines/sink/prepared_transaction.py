"""A transaction that was written and not ended: who began it, so that another process can end it.

As text, where the decision about a micro-batch is kept: one entry for each of Spark's partitions.

>>> text = transactions_to_text({0: ProducerIdentity(4000, 7), 12: ProducerIdentity(4001, 0)})
>>> text, transactions_from_text(text)[12]
('0:4000:7,12:4001:0', ProducerIdentity(producer_id=4001, epoch=0))
"""

from collections.abc import Mapping

from ottla.base.frozen import frozen
from ottla.client.producer.sequence import ProducerIdentity
from ottla.pipelines.sink.errors import SinkError

PreparedTransactions = dict[int, ProducerIdentity]
"""By Spark's partition id."""


@frozen
class SinkQuery:
    """A streaming query that writes exactly once: its id, which lies in its checkpoint, and the user's prefix."""

    prefix: str
    query_id: str

    def transactional_id(self, partition_id: int) -> str:
        """Of the task that writes one of Spark's partitions, in every micro-batch."""
        return f"{self.prefix}-{self.query_id}-{partition_id}"

    @property
    def decision_group(self) -> str:
        """The group whose offset says which micro-batch was decided last."""
        return f"{self.prefix}-sink-{self.query_id}"

    def written_group(self, partition_id: int) -> str:
        """The group whose offset says which micro-batch of a partition is committed; part of its transaction."""
        return f"{self.prefix}-sink-{self.query_id}-{partition_id}"


def transactions_to_text(transactions: Mapping[int, ProducerIdentity]) -> str:
    """Sorted, so that the same transactions give the same text."""
    return ",".join(f"{number}:{found.producer_id}:{found.epoch}" for number, found in sorted(transactions.items()))


def transactions_from_text(text: str) -> PreparedTransactions:
    """Raises `SinkError` for text of another origin."""
    found: PreparedTransactions = {}
    for entry in text.split(",") if text else ():
        parts = entry.split(":")
        try:
            number, producer_id, epoch = (int(part) for part in parts)
        except ValueError:
            raise SinkError(f"{text!r} is no list of transactions: were the group's offsets changed by hand?") from None
        found[number] = ProducerIdentity(producer_id, epoch)
    return found
