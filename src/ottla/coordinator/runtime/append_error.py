"""The client's errors when the coordinator's own log refused: the log's errors mean nothing to it.

It asks elsewhere after NOT_COORDINATOR, and here again after COORDINATOR_NOT_AVAILABLE.
"""

from typing import Final

from ottla.protocol.errors import (
    ApiError,
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    ErrorCode,
    NotCoordinatorError,
    UnknownServerError,
)

_SEEN_BY_CLIENT: Final[dict[ErrorCode, type[ApiError]]] = {
    ErrorCode.NETWORK_EXCEPTION: CoordinatorLoadInProgressError,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: CoordinatorNotAvailableError,
    ErrorCode.NOT_ENOUGH_REPLICAS: CoordinatorNotAvailableError,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: CoordinatorNotAvailableError,
    ErrorCode.REQUEST_TIMED_OUT: CoordinatorNotAvailableError,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: NotCoordinatorError,
    ErrorCode.KAFKA_STORAGE_ERROR: NotCoordinatorError,
    ErrorCode.MESSAGE_TOO_LARGE: UnknownServerError,
    ErrorCode.RECORD_LIST_TOO_LARGE: UnknownServerError,
    ErrorCode.INVALID_FETCH_SIZE: UnknownServerError,
}


def seen_by_client(error: ApiError) -> ApiError:
    """The error to answer with when an append failed with `error`; a fenced producer, say, hears just that.

    >>> from ottla.protocol.errors import NotLeaderOrFollowerError
    >>> seen_by_client(NotLeaderOrFollowerError()).code.name
    'NOT_COORDINATOR'
    """
    other = _SEEN_BY_CLIENT.get(error.code)
    return error if other is None else other()
