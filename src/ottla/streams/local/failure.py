"""Classifies failures: troubles of the cluster and full disks pass, all others go to the application's handler."""

from enum import Enum
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.errors import (
    CommitFailedError,
    KafkaTimeoutError,
    NoBrokersAvailableError,
    RetriableCommitFailedError,
)
from ottla.client.producer.transaction_error import TransactionAbortedError, TransactionFailedError
from ottla.protocol.errors import ApiError, ErrorCode
from ottla.streams.errors import StreamsError
from ottla.streams.state.errors import StateUnwritableError

_PASSING: Final = frozenset(
    {
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.UNKNOWN_PRODUCER_ID,
        ErrorCode.TRANSACTION_COORDINATOR_FENCED,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.MEMBER_ID_REQUIRED,
    }
)
_PASSING_KINDS: Final = (
    KafkaTimeoutError,
    CommitFailedError,
    RetriableCommitFailedError,
    NoBrokersAvailableError,
)


class UnknownTopicError(StreamsError):
    """The group's leader does not know a topic: another look at the cluster shows whether it is missing."""


class TasksLostError(StreamsError):
    """The group has given the tasks to other members: their open transaction must not be committed."""


class FailureResponse(Enum):
    """The answers of the function of `set_uncaught_exception_handler`, with Kafka Streams' names."""

    REPLACE_THREAD = "REPLACE_THREAD"
    SHUTDOWN_CLIENT = "SHUTDOWN_CLIENT"
    SHUTDOWN_APPLICATION = "SHUTDOWN_APPLICATION"


def is_passing(error: Exception) -> bool:
    """Whether a restart from the committed offsets mends the failure.

    >>> from ottla.client.errors import KafkaTimeoutError
    >>> is_passing(KafkaTimeoutError("no answer")), is_passing(ValueError("1"))
    (True, False)
    """
    if isinstance(error, (StateUnwritableError, UnknownTopicError, TasksLostError)):
        return True
    if isinstance(error, StreamsError) or not isinstance(error, OttlaError):
        return False
    if isinstance(error, (TransactionFailedError, TransactionAbortedError)):
        cause = error.__cause__
        return not isinstance(cause, Exception) or is_passing(cause)
    if isinstance(error, ApiError):
        return error.retriable or error.code in _PASSING
    return isinstance(error, _PASSING_KINDS)
