"""ListTransactions (key 66): lists the transactional ids that a broker coordinates (KIP-664).

Sent by admin clients to every broker, since each knows only its own. Empty filters let everything pass; states that
the broker doesn't know come back in `unknown_state_filters`. v1 keeps those open for longer than `duration_filter`
ms, negative for all (KIP-994); v2 filters ids by a regular expression, null or empty for all (KIP-1152).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, int64, string


class ListTransactionsRequest(Request, api=ApiKey.LIST_TRANSACTIONS, versions="0-2", flexible="0+"):
    state_filters: list[str] = array(string, "0+")
    producer_id_filters: list[int] = array(int64, "0+")
    duration_filter: int = int64("1+", default=-1)
    transactional_id_pattern: str | None = string("2+", nullable="2+", default=None)


class TransactionState(Struct):
    transactional_id: str = string("0+")
    producer_id: int = int64("0+")
    transaction_state: str = string("0+")


class ListTransactionsResponse(Response, api=ApiKey.LIST_TRANSACTIONS, versions="0-2", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    unknown_state_filters: list[str] = array(string, "0+")
    transaction_states: list[TransactionState] = array(TransactionState, "0+")
