"""The definition of a pipeline: a value that any client may write to the topic of specs, under the pipeline's name.

The JSON is the interface: fields that are not known are kept out of the value, missing ones have defaults, and a record
that can't be understood is an error that names the field. Pure.
"""

import enum
import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, TypeVar

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen

_E = TypeVar("_E", bound=enum.StrEnum)
_NAME_CHARACTERS_MAX: Final = 200


class InvalidSpecError(OttlaError, ValueError):
    """A pipeline that can't be one; the text names the field."""


class Wanted(enum.StrEnum):
    """The wanted state of a pipeline."""

    RUNNING = "running"
    PAUSED = "paused"
    """Not running, to be resumed where it stopped."""
    STOPPED = "stopped"
    """Not running, and its position may be changed."""


class Isolation(enum.StrEnum):
    """Whom a pipeline shares a runner with."""

    SHARED = "shared"
    OWN = "own"
    """Shares its runner with no pipeline: it is heavy, or runs code of users."""


@frozen(kw_only=True)
class PipelineSpec:
    """One pipeline."""

    name: str
    kind: str
    definition: Mapping[str, Any] = field(default_factory=dict)
    """The settings for the kind."""
    version: int = 1
    """Goes up with each change of the definition."""
    wanted: Wanted = Wanted.RUNNING
    isolation: Isolation = Isolation.SHARED
    checkpoint: str = ""
    """The directory below the root of checkpoints; a new one makes the pipeline begin anew."""
    restart: int = 0
    """Goes up with each restart that a user asks for."""
    part_restarts: Mapping[str, int] = field(default_factory=dict)
    """The same for parts of the pipeline, such as a connector's tasks, by their numbers: the others go on."""
    owner: str = ""
    """Whose control processes look after it, such as those of a Connect cluster; empty: `ottla pipelines run`."""

    @property
    def place(self) -> str:
        """The directory of its checkpoint, relative to the root."""
        return self.checkpoint or f"{self.name}/1"

    def to_json(self) -> bytes:
        """The record's value.

        >>> PipelineSpec.from_json("p", PipelineSpec(name="p", kind="copy").to_json())
        PipelineSpec(name='p', kind='copy', definition={}, version=1, wanted=<Wanted.RUNNING: 'running'>, \
isolation=<Isolation.SHARED: 'shared'>, checkpoint='', restart=0, part_restarts={}, owner='')
        """
        fields = {
            "kind": self.kind,
            "definition": dict(self.definition),
            "version": self.version,
            "wanted": self.wanted.value,
            "isolation": self.isolation.value,
            "checkpoint": self.checkpoint,
            "restart": self.restart,
            "part_restarts": dict(self.part_restarts),
            "owner": self.owner,
        }
        return json.dumps(fields, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, name: str, value: bytes) -> "PipelineSpec":
        """Reads a record; raises `InvalidSpecError` for an invalid one."""
        try:
            fields = json.loads(value)
        except ValueError as error:
            raise InvalidSpecError(f"pipeline {name!r}: its spec is not JSON: {error}") from None
        if not isinstance(fields, dict):
            raise InvalidSpecError(f"pipeline {name!r}: its spec has to be a JSON object")
        read = _Fields(name, fields)
        spec = cls(
            name=name,
            kind=read.text("kind", None),
            definition=read.object("definition"),
            version=read.number("version", 1),
            wanted=read.one_of("wanted", Wanted.RUNNING),
            isolation=read.one_of("isolation", Isolation.SHARED),
            checkpoint=read.text("checkpoint", ""),
            restart=read.number("restart", 0),
            part_restarts=read.numbers("part_restarts"),
            owner=read.text("owner", ""),
        )
        check_name(name)
        check_place(name, spec.place)
        return spec


def check_name(name: str) -> None:
    """`InvalidSpecError` for a name that is no name."""
    if not name or len(name) > _NAME_CHARACTERS_MAX or not name.isprintable():
        raise InvalidSpecError(f"{name[:_NAME_CHARACTERS_MAX]!r} can't be a pipeline's name")


def check_place(name: str, place: str) -> None:
    """`InvalidSpecError` for a checkpoint that would be outside of the root: specs come over the network."""
    parts = place.split("/")
    if place.startswith("/") or "\\" in place or "\0" in place or any(part in {"", ".", ".."} for part in parts):
        raise InvalidSpecError(f"pipeline {name!r}: the checkpoint {place!r} is no directory below the root")


class _Fields:
    """The fields of a record, each of the type that it has to be."""

    def __init__(self, name: str, fields: Mapping[str, Any]) -> None:
        self._name: Final = name
        self._fields: Final = fields

    def text(self, key: str, default: str | None) -> str:
        found = self._fields.get(key, default)
        if not isinstance(found, str) or (default is None and not found):
            raise self._wrong(key, "a text")
        return found

    def number(self, key: str, default: int) -> int:
        found = self._fields.get(key, default)
        if not isinstance(found, int) or isinstance(found, bool):
            raise self._wrong(key, "a whole number")
        return found

    def object(self, key: str) -> Mapping[str, Any]:
        found = self._fields.get(key, {})
        if not isinstance(found, dict):
            raise self._wrong(key, "a JSON object")
        return found

    def numbers(self, key: str) -> Mapping[str, int]:
        found = self.object(key)
        if not all(isinstance(each, int) and not isinstance(each, bool) for each in found.values()):
            raise self._wrong(key, "an object of whole numbers")
        return found

    def one_of(self, key: str, default: _E) -> _E:
        kind = type(default)
        try:
            return kind(self._fields.get(key, default))
        except ValueError:
            raise self._wrong(key, f"one of {', '.join(kind)}") from None

    def _wrong(self, key: str, wanted: str) -> InvalidSpecError:
        return InvalidSpecError(f"pipeline {self._name!r}: {key!r} has to be {wanted}")
