"""Commits the offsets of finished micro-batches to a consumer group, so that any tool shows the query's lag.

The group has no members, and the query never starts from it (its checkpoint says where it is). When
Spark asks for the next batch, every batch before it is finished and recorded in the checkpoint: that is the moment.
Spark's own `commit` comes later, when the next batch is planned, which without new records is never.
"""

import logging
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.client.record import OffsetAndMetadata
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.option.offset_json import PartitionOffsets

if TYPE_CHECKING:
    from ottla.client.admin.blocking_admin import Admin

_log = logging.getLogger(__name__)


class GroupOffsets:
    """The offsets of one group."""

    def __init__(self, group_id: str, note: str = "") -> None:
        """`note` is the metadata of each offset."""
        self._group_id: Final = group_id
        self._note: Final = note
        self._committed: PartitionOffsets = {}

    def commit(self, offsets: PartitionOffsets, admin: "Admin") -> None:
        """Commits what has changed.

        What passes is tried again with the next batch; what does not (no permission, members that are alive) raises
        `OptionError`.
        """
        changed = {part: offset for part, offset in offsets.items() if self._committed.get(part) != offset}
        if not changed:
            return
        try:
            noted = {part: OffsetAndMetadata(offset, self._note) for part, offset in changed.items()}
            admin.alter_consumer_group_offsets(self._group_id, noted)
        except OttlaError as error:
            if not getattr(error, "retriable", False):
                raise OptionError("group.id", f"offsets can't be committed to {self._group_id!r}: {error}") from error
            _log.warning("offsets can't be committed to group %s for now: %s", self._group_id, error)
        else:
            self._committed.update(changed)
