"""Errors of a transactional producer, beside the brokers' refusals."""

from ottla.client.errors import ClientError, InvalidStateError
from ottla.protocol.errors import ApiError, ErrorCode, ProducerFencedError, error_for


class TransactionAbortedError(ClientError):
    """The record was not sent: its transaction failed or was aborted first; `__cause__` is why, if known."""


class TransactionStateError(InvalidStateError):
    """A transactional call at the wrong time, such as `begin_transaction` inside of a transaction."""


class TransactionFailedError(ClientError):
    """Something of the transaction failed, which is the `__cause__`: only `abort_transaction` is possible now."""


FATAL_CODES = frozenset(
    {
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
        ErrorCode.TRANSACTIONAL_ID_NOT_FOUND,
        ErrorCode.INVALID_TRANSACTION_TIMEOUT,
    }
)
"""After these a producer is of no use any more."""

OUTDATED_CODES = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_TXN_STATE})
"""A partition's leader refuses a write with these also where `transaction.timeout.ms` has passed. Only the coordinator
knows whether that is all: it lets the producer abort and go on then (transactions v2), as a fenced one may not."""


def outdated(error: ApiError, transactional_id: str) -> ApiError:
    """A refusal with one of `OUTDATED_CODES` in words that say what to do."""
    return error_for(
        error.code,
        "the transaction took longer than transaction.timeout.ms, or another producer with transactional.id "
        f"{transactional_id!r} has started since: abort_transaction() tells which",
    )


def explained(error: ApiError, transactional_id: str) -> ApiError:
    """A fatal refusal in words that say what to do; a producer with an old epoch is a fenced one."""
    if error.code in (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH):
        return ProducerFencedError(
            f"another producer with transactional.id {transactional_id!r} has started since, or the transaction took "
            "longer than transaction.timeout.ms: this producer can't go on; close it, and make a new one only if no "
            "other instance shall use the id"
        )
    if error.code is ErrorCode.INVALID_TXN_STATE:
        return error_for(
            error.code,
            f"the coordinator has no such transaction of transactional.id {transactional_id!r} any more: it may have "
            "taken longer than transaction.timeout.ms and be aborted; close this producer, and make a new one",
        )
    return error
