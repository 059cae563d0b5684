"""The outcome of an operation: records for the log, and the response once they are committed."""

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Final, Generic, TypeVar

from ottla.base.frozen import frozen
from ottla.protocol.errors import ApiError, ErrorCode, PolicyViolationError
from ottla.protocol.metadata_log.log import VersionedRecord

R = TypeVar("R")

RECORDS_PER_BATCH_MAX: Final = 10_000
"""The largest atomic batch, and so the most that one request of a user may change."""


@frozen
class ControllerResult(Generic[R]):
    """Records and a response. A read has no records.

    Up to `RECORDS_PER_BATCH_MAX` records are one atomic batch. More are only written for what the cluster does of
    itself (a broker fenced, a broker's unclean return), in a metadata transaction; requests of users are refused.
    """

    response: R
    records: Sequence[VersionedRecord] = ()
    after_append: Callable[[int], None] | None = field(default=None, compare=False)
    """Called with the offset of the last record, or of the last one before if there are none."""


def bounded(records: Sequence[VersionedRecord]) -> Sequence[VersionedRecord]:
    """`records`, unless a user's request asked for more than fits an atomic batch."""
    if len(records) > RECORDS_PER_BATCH_MAX:
        raise PolicyViolationError("Unable to perform excessively large batch operation.")
    return records


def message_of(error: ApiError) -> str | None:
    """The message that goes with an error in a response: none if it says no more than the code does."""
    generic = error.message == error.default_message or error.code == ErrorCode.UNKNOWN_SERVER_ERROR
    return None if generic else error.message
