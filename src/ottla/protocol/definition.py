"""What a message is: a class with typed fields, one for all its versions.

A struct is declared like a dataclass, with the functions of `ottla.protocol.field` as defaults:

    class HeartbeatRequest(Request, api=ApiKey.HEARTBEAT, versions="0-4", flexible="4+"):
        group_id: str = string("0+")
        generation_id: int = int32("0+")
        member_id: str = string("0+")
        group_instance_id: str | None = string("3+", nullable="3+", default=None)

Instances are slotted, compare by value and are made with keywords; what is left out has Kafka's default. A version's
encoder and decoder are planned the first time that version is used (`ottla.protocol.codec`).
"""

import operator
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from ottla.base.buffer import Buffer
from ottla.protocol.api_key import ApiKey
from ottla.protocol.codec import engine
from ottla.protocol.codec.plan import StructPlan
from ottla.protocol.errors import DecodeError, UnsupportedVersionError
from ottla.protocol.field import EMPTY_ARRAY, NEW_STRUCT, Field, Records
from ottla.protocol.versions import NO_VERSIONS, VersionRange


class StructType(type):
    """Turns the declared fields into slots and keeps their definitions in `definition`."""

    definition: dict[str, Field]

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> "StructType":
        fields = {key: value for key, value in namespace.items() if isinstance(value, Field)}
        for key, field in fields.items():
            field.name = key
            del namespace[key]
        namespace["__slots__"] = (*namespace.pop("__extra_slots__", ()), *fields)
        namespace["definition"] = {key: field for base in bases for key, field in _definition(base).items()} | fields
        namespace["__init__"] = _first_init
        return super().__new__(mcs, name, bases, namespace, **options)


def _definition(struct: type) -> dict[str, Field]:
    found: dict[str, Field] = getattr(struct, "definition", {})
    return found


def _first_init(self: "Struct", **values: Any) -> None:
    """The first instance of a class compiles the class's real constructor: most classes never need one."""
    type(self)._compile_constructor()
    type(self).__init__(self, **values)


@dataclass_transform(kw_only_default=True)
class StructBase(metaclass=StructType):
    """Carries the transform, so that type checkers give every struct below a typed constructor."""


class Struct(StructBase):
    """A group of fields, nested in a message or a message itself."""

    definition: ClassVar[dict[str, Field]]

    if TYPE_CHECKING:
        unknown_tags: dict[int, bytes] | None = None
        """Tagged fields that this version of us doesn't know: kept, and written back."""
    else:
        __extra_slots__ = ("unknown_tags",)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def _compile_constructor(cls) -> None:
        scope: dict[str, Any] = {"UNSET": EMPTY_ARRAY}
        parameters, body = [], []
        for name, field in cls.definition.items():
            if field.default is EMPTY_ARRAY or field.default is NEW_STRUCT:
                scope[f"new_{name}"] = list if field.default is EMPTY_ARRAY else field.struct
                parameters.append(f"{name}=UNSET")
                body.append(f"    self.{name} = new_{name}() if {name} is UNSET else {name}")
            else:
                scope[f"default_{name}"] = field.default
                parameters.append(f"{name}=default_{name}")
                body.append(f"    self.{name} = {name}")
        star = "*, " if parameters else ""
        source = f"def __init__(self, {star}{', '.join([*parameters, 'unknown_tags=None'])}):\n"
        source += "\n".join([*body, "    self.unknown_tags = unknown_tags"])
        exec(compile(source, f"<constructor of {cls.__name__}>", "exec"), scope)
        constructor = scope["__init__"]
        constructor.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = constructor  # type: ignore[method-assign]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        values = operator.attrgetter("unknown_tags", *self.definition)
        return bool(values(self) == values(other))

    def __repr__(self) -> str:
        shown = [
            f"{name}={'***' if field.secret else _shown(getattr(self, name))}"
            for name, field in self.definition.items()
            if not field.is_default(getattr(self, name))
        ]
        if self.unknown_tags:
            shown.append(f"unknown_tags={self.unknown_tags!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _shown(value: object) -> str:
    """As `repr`, but a view of records says how long it is and not where it lies."""
    return f"<{value.nbytes} bytes>" if isinstance(value, memoryview) else repr(value)


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
        """As `decode_from`, with everything accepted that Apache Kafka accepts in a request (see `codec.tolerant`)."""
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
    """What a client sends; `api` says which of Kafka's calls it is."""

    api: ClassVar[ApiKey]

    def __init_subclass__(cls, *, api: ApiKey, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.api = api


class Response(Message):
    """What a server answers to the request of the same `api` and version."""

    api: ClassVar[ApiKey]

    def __init_subclass__(cls, *, api: ApiKey, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.api = api
