"""The base of every record of the metadata log."""

from typing import Any, ClassVar

from ottla.protocol.definition import Message


class MetadataRecord(Message):
    """A fact that the controller wrote down; `type_id` is its number in the frame (see `log`)."""

    type_id: ClassVar[int]

    def __init_subclass__(cls, *, type_id: int, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.type_id = type_id
