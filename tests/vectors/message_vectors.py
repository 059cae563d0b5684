"""Reads the message vectors, and turns the JSON of Kafka's converters into our objects."""

import base64
import importlib
import json
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ottla.protocol
from ottla.base.ids import Uuid
from ottla.protocol.definition import Message, Struct
from ottla.protocol.struct_type import Field, Kind
from ottla.protocol.versions import NO_VERSIONS

ROOT = Path(__file__).parent
NOT_OURS = {"ProducerSnapshot", "QuorumStateData"}
"""Files of the storage and raft layers, which are not messages on a wire or in a log."""


@dataclass(frozen=True)
class Vector:
    """One message in one version, as bytes and as values."""

    version: int
    variant: str
    encoded: bytes
    expected: Message


def message_files() -> list[Path]:
    """The vector file of every message."""
    files = [*ROOT.glob("messages/*.jsonl"), *ROOT.glob("records/*/*.jsonl")]
    return sorted(path for path in files if path.stem not in NOT_OURS)


def message_types() -> dict[str, type[Message]]:
    """Every message class of `ottla.protocol`, by name."""
    found: dict[str, type[Message]] = {}
    for module in pkgutil.walk_packages(ottla.protocol.__path__, "ottla.protocol."):
        if ".records" in module.name or ".compression" in module.name or module.name.rsplit(".", 1)[-1].startswith("_"):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, Message) and value.valid_versions != NO_VERSIONS:
                found[value.__name__] = value
    return found


def head(path: Path) -> dict[str, Any]:
    """The first line: which versions Kafka has."""
    with path.open() as lines:
        found: dict[str, Any] = json.loads(next(lines))
    return found


def vectors(path: Path, message: type[Message]) -> Iterator[Vector]:
    """All vectors of a message."""
    with path.open() as lines:
        next(lines)
        for line in lines:
            row = json.loads(line)
            expected = from_json(message, row["value"])
            for pointer, records in row.get("records", {}).items():
                holder, name = _resolve(expected, pointer)
                setattr(holder, name, bytes.fromhex(records))
            for pointer, tags in row.get("unknownTags", {}).items():
                holder, name = _resolve(expected, f"{pointer}/unknownTags")
                setattr(holder, name, {int(tag): bytes.fromhex(raw) for tag, raw in tags.items()})
            yield Vector(row["version"], row["variant"], bytes.fromhex(row["hex"]), expected)


def from_json(struct: type[Struct], values: dict[str, Any]) -> Any:
    """Our object for what Kafka's JSON converter wrote; fields that it leaves out have their defaults."""
    remaining = {_folded(name): value for name, value in values.items()}
    arguments = {}
    for name, field in struct.definition.items():
        if _folded(name) in remaining:
            arguments[name] = _value(field, field.kind, remaining.pop(_folded(name)))
    assert not remaining, f"{struct.__name__} has no {sorted(remaining)}"
    return struct(**arguments)


def _value(field: Field, kind: Kind, value: Any) -> Any:
    if value is None:
        return None
    if kind is Kind.ARRAY:
        assert field.element is not None
        return [_value(field, field.element, item) for item in value]
    if kind is Kind.STRUCT:
        assert field.struct is not None
        return from_json(field.struct, value)
    if kind is Kind.UUID:
        return Uuid.parse(value)
    if kind is Kind.BYTES:
        return base64.b64decode(value)
    return value


def _resolve(root: Any, pointer: str) -> tuple[Any, str]:
    """The object and attribute that a JSON pointer such as `/topics/0/unknownTags` names."""
    *steps, last = pointer.strip("/").split("/")
    for step in steps:
        root = root[int(step)] if isinstance(root, list) else getattr(root, _attribute(root, step))
    return root, _attribute(root, last)


def _attribute(struct: Struct, name: str) -> str:
    return next(own for own in [*struct.definition, "unknown_tags"] if _folded(own) == _folded(name))


def _folded(name: str) -> str:
    return name.replace("_", "").lower()
