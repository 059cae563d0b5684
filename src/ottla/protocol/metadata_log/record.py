"""The base of every record of the metadata log, and the record that says nothing."""

from typing import Any, ClassVar

from ottla.protocol.definition import Message


class MetadataRecord(Message):
    """A fact that the controller wrote down; `type_id` is its number in the frame (see `log`)."""

    type_id: ClassVar[int]

    def __init_subclass__(cls, *, type_id: int, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.type_id = type_id


class NoOpRecord(MetadataRecord, type_id=20, versions="0", flexible="0+"):
    """Changes nothing, and shows that the controller is alive (KIP-835).

    The active controller writes one every metadata.max.idle.interval.ms (500 by default), so that the log moves, and
    lag and trouble of the quorum show, even when nothing changes. It has no fields and isn't in snapshots.
    """
