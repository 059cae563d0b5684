"""One task's transaction: that of the client, with Spark's option in an error, and the note of a micro-batch in it."""

from ottla.client.producer.bulk.transaction_handle import TransactionHandle
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.sink.decision_offset import CONTROL_TOPIC
from ottla.protocol.errors import InvalidTransactionTimeoutError


class SinkTransaction(TransactionHandle):
    """The transaction of one transactional id, begun by this task (`begin`) or by another process (`identity`)."""

    async def begin(self, timeout_ms: int) -> None:
        """Takes the id over: aborts what an earlier task left open, which can't write or commit any more."""
        try:
            await super().begin(timeout_ms)
        except InvalidTransactionTimeoutError:
            raise OptionError(
                "kafka.transaction.timeout.ms",
                f"{timeout_ms}: the brokers allow less, see their setting transaction.max.timeout.ms",
            ) from None

    async def mark_written(self, group: str, batch_id: int, timeout_ms: int) -> None:
        """Makes the note that the micro-batch is written part of it: true if, and as soon as, it is committed."""
        await self.send_offsets(group, {TopicPartition(CONTROL_TOPIC, 0): OffsetAndMetadata(batch_id)}, timeout_ms)
