"""Messages: structs with versions of their own that can be encoded and decoded.

A struct is declared like a dataclass, with the functions of `ottla.protocol.field` as defaults:

    class HeartbeatRequest(Request, api=ApiKey.HEARTBEAT, versions="0-4", flexible="4+"):
        group_id: str = string("0+")
        generation_id: int = int32("0+")
        member_id: str = string("0+")
        group_instance_id: str | None = string("3+", nullable="3+", default=None)

Instances are slotted, compare by value and are made with keywords; what is left out has Kafka's default. A version's
encoder and decoder are planned the first time that version is used (`ottla.protocol.codec`).
"""

from typing import Any, ClassVar, Self

from ottla.base.buffer import Buffer
from ottla.protocol.api_key import ApiKey
from ottla.protocol.codec import engine
from ottla.protocol.codec.plan import StructPlan
from ottla.protocol.errors import DecodeError, UnsupportedVersionError
from ottla.protocol.field import Records
from ottla.protocol.struct_type import Struct
from ottla.protocol.versions import NO_VERSIONS, VersionRange

__all__ = ["Message", "Request", "Response", "Struct"]


class Message(Struct):
    """A struct that travels or is stored by itself, in versions of its own."""

    valid_versions: ClassVar[VersionRange] = NO_VERSIONS
    flexible_versions: ClassVar[VersionRange] = NO_VERSIONS
    _plans: ClassVar[dict[int, StructPlan]]

    def __init_subclass__(cls, *, versions: str = "none", flexible: str = "none", **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.valid_versions = VersionRange.parse(versions)
        cls.flexible_versions = VersionRange.parse(flexible)
        cls._plans = {}

    def encode(self, version: int) -> bytes:
        """The message's bytes in `version`.

        Raises `EncodeError` for a value that does not fit its field and `UnsupportedVersionError` for a value that
        this version cannot carry and may not drop.
        """
        return engine.encode(((self.plan(version), self),))

    def encode_around(self, version: int) -> list[Records]:
        """The bytes in pieces: every `records` field is a piece of its own, the very object that was set.

        This is how batches leave without a copy, and file regions without being read.
        """
        return engine.encode_around(((self.plan(version), self),))

    @classmethod
    def decode(cls, buffer: Buffer, version: int) -> Self:
        """The message that fills `buffer`; bytes left over are an error."""
        message, position = cls.decode_from(buffer, 0, version)
        left = memoryview(buffer).nbytes - position
        if left:
            raise DecodeError(f"{left} bytes left over", path=cls.__name__, position=position)
        return message

    @classmethod
    def decode_from(cls, buffer: Buffer, position: int, version: int) -> tuple[Self, int]:
        """The message that starts at `position`, and the position behind it."""
        return engine.decode(cls.plan(version), buffer, position)

    @classmethod
    def decode_tolerantly(cls, buffer: Buffer, position: int, version: int) -> tuple[Self, int]:
        """Like `decode_from`; accepts everything that Apache Kafka accepts in a request (see `codec.tolerant`)."""
        return engine.decode_tolerantly(cls.plan(version), buffer, position)

    @classmethod
    def plan(cls, version: int) -> StructPlan:
        """How `version` is laid out; `UnsupportedVersionError` if there is no such version."""
        plan = cls._plans.get(version)
        if plan is None:
            if not cls.valid_versions.includes(version):
                raise UnsupportedVersionError(f"{cls.__name__} has versions {cls.valid_versions}, not {version}")
            plan = cls._plans[version] = StructPlan(cls, version, flexible=cls.is_flexible(version))
        return plan

    @classmethod
    def is_flexible(cls, version: int) -> bool:
        """Whether `version` uses compact lengths and tagged fields (KIP-482)."""
        return cls.flexible_versions.includes(version)


class Request(Message):
    """A client's message; `api` says which of Kafka's calls it is."""

    api: ClassVar[ApiKey]

    def __init_subclass__(cls, *, api: ApiKey, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.api = api


class Response(Message):
    """A server's answer to the request of the same `api` and version."""

    api: ClassVar[ApiKey]

    def __init_subclass__(cls, *, api: ApiKey, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.api = api
