"""Records that a query should have read and that are gone: an error, or a warning and going on.

Gone are records that were deleted before they were read (retention, DeleteRecords), partitions whose topic was
deleted, and everything when a topic was made anew under its name. Gaps are none of these: compaction and transactions
leave offsets without records.
"""

import logging

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen

_log = logging.getLogger(__name__)

_ADVICE = (
    "Set the option failOnDataLoss to false to go on with what is left, or start with a new checkpoint "
    "and startingOffsets of your choice."
)


class DataLossError(OttlaError):
    """Records are gone, and `failOnDataLoss` is true."""


@frozen
class DataLoss:
    """The query's reaction to lost data: fails, or warns."""

    fails: bool

    def report(self, what: str) -> None:
        """Raises `DataLossError`, or logs a warning, as `failOnDataLoss` says."""
        if self.fails:
            raise DataLossError(f"{what}. Some records may have been missed. {_ADVICE}")
        _log.warning("%s. Some records may have been missed; going on, since failOnDataLoss is false", what)
