"""The records that coordinators keep in internal topics, and their frame.

A key's bytes are its type (int16) and the message in version 0; a value's are its version (int16) and the message in
that version. A key without a value is a tombstone: the coordinator forgot what the key names.
"""

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

from ottla.base.buffer import Buffer
from ottla.protocol.definition import Message
from ottla.protocol.errors import DecodeError


class CoordinatorKey(Message):
    """The key of a coordinator's record; `type_id` is the number before it."""

    type_id: ClassVar[int]

    def __init_subclass__(cls, *, type_id: int, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.type_id = type_id


class CoordinatorValue(Message):
    """The value of a coordinator's record; `type_id` is that of its key."""

    type_id: ClassVar[int]

    def __init_subclass__(cls, *, type_id: int, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.type_id = type_id


class CoordinatorRecord(NamedTuple):
    """A key with its value, or with None for a tombstone; `version` is that of the value, -1 without one."""

    key: CoordinatorKey
    value: CoordinatorValue | None
    version: int


class CoordinatorLog:
    """The record types of one internal topic, and the way between them and bytes."""

    def __init__(self, pairs: Iterable[tuple[type[CoordinatorKey], type[CoordinatorValue]]]) -> None:
        self.types = {key.type_id: (key, value) for key, value in pairs}

    @staticmethod
    def encode_key(key: CoordinatorKey) -> bytes:
        """The key of a log record."""
        return key.type_id.to_bytes(2, "big") + key.encode(key.valid_versions.highest)

    @staticmethod
    def encode_value(value: CoordinatorValue, version: int) -> bytes:
        """The value of a log record."""
        return version.to_bytes(2, "big") + value.encode(version)

    def decode(self, key: Buffer, value: Buffer | None) -> CoordinatorRecord:
        """Decodes a log record; raises `DecodeError` for an unknown type or version."""
        type_id = _int16(key, "coordinator key")
        if type_id not in self.types:
            raise DecodeError(f"unknown record type {type_id}", path="coordinator key", position=0)
        key_type, value_type = self.types[type_id]
        decoded_key, _ = key_type.decode_from(key, 2, key_type.valid_versions.highest)
        if value is None:
            return CoordinatorRecord(decoded_key, None, -1)
        version = _int16(value, value_type.__name__)
        if not value_type.valid_versions.includes(version):
            known = value_type.valid_versions
            raise DecodeError(f"version {version}, known are {known}", path=value_type.__name__, position=0)
        decoded_value, _ = value_type.decode_from(value, 2, version)
        return CoordinatorRecord(decoded_key, decoded_value, version)


def _int16(buffer: Buffer, path: str) -> int:
    if len(buffer) < 2:
        raise DecodeError("needs 2 bytes for the number in front", path=path, position=0)
    return int.from_bytes(buffer[:2], "big", signed=True)
