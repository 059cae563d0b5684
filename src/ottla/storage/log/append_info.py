"""The options of an append, and its result."""

from typing import NamedTuple

from ottla.base.frozen import frozen
from ottla.protocol.errors import ApiError
from ottla.protocol.records.validation import AppendOrigin, AppendRules, Validated
from ottla.storage.producer_state.verification import VerificationEntry

NO_LOG_APPEND_TIME = -1


@frozen
class Checked:
    """The result of checking a batch ahead, on another thread, by the rules that its topic had then."""

    rules: AppendRules
    outcome: Validated | ApiError


@frozen
class AppendOptions:
    """The options of an append as the leader."""

    origin: AppendOrigin = AppendOrigin.CLIENT
    verification: VerificationEntry | None = None
    """The receipt from `Log.start_verification`, for a batch that opens a transaction."""
    verify_transactions: bool = True
    """`transaction.partition.verification.enable`."""
    checked: Checked | None = None
    """Of the one batch that is appended, if it was checked ahead."""
    transaction_version: int = 0
    """Of the coordinator that wrote the markers (KIP-1228); data batches don't need it."""


FROM_CLIENT = AppendOptions()
FROM_COORDINATOR = AppendOptions(origin=AppendOrigin.COORDINATOR)


class AppendInfo(NamedTuple):
    """The result of an append."""

    first_offset: int
    last_offset: int
    max_timestamp: int
    log_append_time: int
    """What a Produce answer says: the time of appending on topics that use it, else -1; of a repeated batch its
    largest timestamp."""
    log_start_offset: int
    size_bytes: int
    """Bytes written; 0 for a repeat."""

    @property
    def is_duplicate(self) -> bool:
        """Whether the batch was in the log already, so that nothing was written."""
        return self.size_bytes == 0
