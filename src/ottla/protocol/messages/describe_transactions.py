"""DescribeTransactions (key 65): shows the state of transactions (KIP-664).

Sent by admin clients to the transaction coordinators of the ids. An empty list describes none. `topics` are the
partitions of the current transaction; while it is ending, those still without a marker. An id that the coordinator
doesn't know gets TRANSACTIONAL_ID_NOT_FOUND.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, int64, string


class DescribeTransactionsRequest(Request, api=ApiKey.DESCRIBE_TRANSACTIONS, versions="0", flexible="0+"):
    transactional_ids: list[str] = array(string, "0+")


class TopicData(Struct):
    topic: str = string("0+")
    partitions: list[int] = array(int32, "0+")


class TransactionState(Struct):
    error_code: int = int16("0+")
    transactional_id: str = string("0+")
    transaction_state: str = string("0+")
    transaction_timeout_ms: int = int32("0+")
    transaction_start_time_ms: int = int64("0+")
    producer_id: int = int64("0+")
    producer_epoch: int = int16("0+")
    topics: list[TopicData] = array(TopicData, "0+")


class DescribeTransactionsResponse(Response, api=ApiKey.DESCRIBE_TRANSACTIONS, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    transaction_states: list[TransactionState] = array(TransactionState, "0+")
