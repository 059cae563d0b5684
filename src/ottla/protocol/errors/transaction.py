"""Errors of idempotent producers and of transactions."""

from ottla.protocol.errors.api_error import ApiError
from ottla.protocol.errors.code import ErrorCode


class OutOfOrderSequenceNumberError(ApiError):
    code = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    default_message = "The broker received an out of order sequence number."


class DuplicateSequenceNumberError(ApiError):
    code = ErrorCode.DUPLICATE_SEQUENCE_NUMBER
    default_message = "The broker received a duplicate sequence number."


class InvalidProducerEpochError(ApiError):
    code = ErrorCode.INVALID_PRODUCER_EPOCH
    default_message = "Producer attempted to produce with an old epoch."


class InvalidTxnStateError(ApiError):
    code = ErrorCode.INVALID_TXN_STATE
    default_message = "The producer attempted a transactional operation in an invalid state."


class InvalidProducerIdMappingError(ApiError):
    code = ErrorCode.INVALID_PRODUCER_ID_MAPPING
    default_message = (
        "The producer attempted to use a producer id which is not currently assigned to its transactional id."
    )


class InvalidTransactionTimeoutError(ApiError):
    code = ErrorCode.INVALID_TRANSACTION_TIMEOUT
    default_message = (
        "The transaction timeout is larger than the maximum value allowed by the broker (as configured by "
        "transaction.max.timeout.ms)."
    )


class ConcurrentTransactionsError(ApiError):
    code = ErrorCode.CONCURRENT_TRANSACTIONS
    default_message = (
        "The producer attempted to update a transaction while another concurrent operation on the same "
        "transaction was ongoing."
    )
    retriable = True


class TransactionCoordinatorFencedError(ApiError):
    code = ErrorCode.TRANSACTION_COORDINATOR_FENCED
    default_message = (
        "Indicates that the transaction coordinator sending a WriteTxnMarker is no longer the current "
        "coordinator for a given producer."
    )


class UnknownProducerIdError(ApiError):
    code = ErrorCode.UNKNOWN_PRODUCER_ID
    default_message = (
        "This exception is raised by the broker if it could not locate the producer metadata associated with "
        "the producerId in question. This could happen if, for instance, the producer's records were deleted "
        "because their retention time had elapsed. Once the last records of the producerId are removed, the "
        "producer's metadata is removed from the broker, and future appends by the producer will return this "
        "exception."
    )


class ProducerFencedError(ApiError):
    code = ErrorCode.PRODUCER_FENCED
    default_message = "There is a newer producer with the same transactionalId which fences the current one."


class TransactionalIdNotFoundError(ApiError):
    code = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    default_message = "The transactionalId could not be found."


class TransactionAbortableError(ApiError):
    code = ErrorCode.TRANSACTION_ABORTABLE
    default_message = (
        "The server encountered an error with the transaction. The client can abort the transaction to "
        "continue using this transactional ID."
    )
