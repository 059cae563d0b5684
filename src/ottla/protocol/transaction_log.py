"""Transactions in `__transaction_state`.

One record per transactional id, written whole at each change of state: new id or epoch, partitions added, end
decided, end complete. A tombstone means that the id expired. `transaction_status` is 0 empty, 1 ongoing, 2 prepare
commit, 3 prepare abort, 4 complete commit, 5 complete abort, 6 dead, 7 prepare epoch fence; 6 and 7 are never
written. Once 2 or 3 is written the outcome can't change any more. `transaction_partitions` is null when empty.

v1 is flexible and needs transaction.version 1 (KIP-915, KIP-890). Its tagged fields serve transactions v2, where each
end raises the epoch: the ids before and after a change of producer id, so that a retried EndTxn can be told from a
zombie's; -1 if there are none.
"""

from ottla.protocol.coordinator_record import CoordinatorKey, CoordinatorLog, CoordinatorValue
from ottla.protocol.definition import Struct
from ottla.protocol.field import array, int8, int16, int32, int64, string


class TransactionLogKey(CoordinatorKey, type_id=0, versions="0"):
    transactional_id: str = string("0")


class PartitionsSchema(Struct):
    topic: str = string("0+")
    partition_ids: list[int] = array(int32, "0+")


class TransactionLogValue(CoordinatorValue, type_id=0, versions="0-1", flexible="1+"):
    producer_id: int = int64("0+")
    previous_producer_id: int = int64("1+", default=-1, tag=0)
    next_producer_id: int = int64("1+", default=-1, tag=1)
    producer_epoch: int = int16("0+")
    next_producer_epoch: int = int16("1+", default=-1, tag=3)
    transaction_timeout_ms: int = int32("0+")
    transaction_status: int = int8("0+")
    transaction_partitions: list[PartitionsSchema] | None = array(PartitionsSchema, "0+", nullable="0+")
    transaction_last_update_timestamp_ms: int = int64("0+")
    transaction_start_timestamp_ms: int = int64("0+")
    client_transaction_version: int = int16("1+", tag=2)


TRANSACTION_LOG = CoordinatorLog([(TransactionLogKey, TransactionLogValue)])
