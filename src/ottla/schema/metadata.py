"""The metadata of a schema: tags by path, properties, and the names of the properties that are secret.

A value with Confluent's field names in JSON. Keys and tags are sorted as Java sorts strings, because the GUID of a
schema is a digest over them in that order.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from ottla.base.frozen import frozen
from ottla.base.java.order import sort_key
from ottla.schema.error import InvalidMetadataError

T = TypeVar("T")
VERSION_PROPERTY: Final = "confluent:version"
"""The property in which a schema carries the number of its version."""


@frozen
class Metadata:
    """Tags, properties and sensitive property names, each sorted.

    >>> Metadata.from_json({"properties": {"owner": "billing"}, "tags": {"Order.card": ["PCI", "PII"]}})
    Metadata(tags=(('Order.card', ('PCI', 'PII')),), properties=(('owner', 'billing'),), sensitive=())
    """

    tags: tuple[tuple[str, tuple[str, ...]], ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    sensitive: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        tags: Mapping[str, Iterable[str]] | None = None,
        properties: Mapping[str, str] | None = None,
        sensitive: Iterable[str] = (),
    ) -> "Metadata":
        """From ordinary collections, in any order."""
        return cls(
            tags=sorted_items({path: sorted_set(values) for path, values in (tags or {}).items()}),
            properties=sorted_items(properties or {}),
            sensitive=sorted_set(sensitive),
        )

    @classmethod
    def from_json(cls, value: object, path: str = "metadata") -> "Metadata":
        """From decoded JSON; fields that are absent or null are empty, unknown ones are ignored."""
        fields = read_object(value, path)
        return cls.of(
            tags=read_map(fields.get("tags"), f"{path}.tags", read_strings),
            properties=read_map(fields.get("properties"), f"{path}.properties", read_string),
            sensitive=read_strings(fields.get("sensitive") or [], f"{path}.sensitive"),
        )

    def to_json(self) -> dict[str, object]:
        """Confluent's JSON, without what is empty."""
        fields: dict[str, object] = {
            "tags": {path: list(values) for path, values in self.tags},
            "properties": dict(self.properties),
            "sensitive": list(self.sensitive),
        }
        return {name: value for name, value in fields.items() if value}

    @property
    def property_by_name(self) -> dict[str, str]:
        """The properties, to look one up."""
        return dict(self.properties)


def with_version(metadata: Metadata | None, version: int) -> Metadata:
    """With the version's number among the properties."""
    metadata = metadata or Metadata()
    return replace(metadata, properties=sorted_items(metadata.property_by_name | {VERSION_PROPERTY: str(version)}))


def without_version(metadata: Metadata) -> Metadata:
    """Without the version's number."""
    return replace(metadata, properties=tuple(each for each in metadata.properties if each[0] != VERSION_PROPERTY))


def merge_metadata(base: Metadata | None, winner: Metadata | None) -> Metadata | None:
    """Both together; where both have a key, `winner`'s value counts.

    A registry merges thrice: `merge(merge(default, request), override)`.
    """
    if base is None or winner is None:
        return winner if base is None else base
    return Metadata(
        tags=sorted_items(dict(base.tags) | dict(winner.tags)),
        properties=sorted_items(dict(base.properties) | dict(winner.properties)),
        sensitive=sorted_set(base.sensitive + winner.sensitive),
    )


def sorted_items(values: Mapping[str, T]) -> tuple[tuple[str, T], ...]:
    """The items by key, as Java sorts strings."""
    return tuple(sorted(values.items(), key=lambda item: sort_key(item[0])))


def sorted_set(values: Iterable[str]) -> tuple[str, ...]:
    """Each value once, as Java sorts strings."""
    return tuple(sorted(set(values), key=sort_key))


def read_object(value: object, path: str) -> dict[str, object]:
    """A JSON object, or an error that names the place."""
    if not isinstance(value, dict):
        raise InvalidMetadataError("an object is expected", path)
    return value


def read_map(value: object, path: str, read: Callable[[object, str], T]) -> dict[str, T]:
    """A JSON object whose values `read` understands; null is empty."""
    if value is None:
        return {}
    return {key: read(item, f"{path}.{key}") for key, item in read_object(value, path).items()}


def read_string(value: object, path: str) -> str:
    """A string. Numbers and booleans are taken as their JSON text, which is what Confluent's registry does."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    raise InvalidMetadataError("a string is expected", path)


def read_strings(value: object, path: str) -> tuple[str, ...]:
    """A list of strings."""
    if not isinstance(value, list):
        raise InvalidMetadataError("a list is expected", path)
    return tuple(read_string(item, f"{path}[{index}]") for index, item in enumerate(value))
