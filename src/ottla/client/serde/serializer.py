"""The interfaces of serializers and deserializers, and their names in settings.

Both are objects with one method, or plain callables from value to bytes and back (`str.encode`, `bytes.decode`). An
object with `configure(settings)` hears the client's settings once. None stands for "no value" (a tombstone) and is what
serializers give for None.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, runtime_checkable

from ottla.client.record import Header


@runtime_checkable
class Serializer(Protocol):
    """Makes bytes of values."""

    def serialize(self, topic: str, headers: Sequence[Header], value: Any) -> bytes | None:
        """The value's bytes; `SerializationError` (or `TypeError`, `ValueError`) for one that has none."""
        ...


@runtime_checkable
class Deserializer(Protocol):
    """Makes values of bytes."""

    def deserialize(self, topic: str, headers: Sequence[Header], data: bytes | None) -> Any:
        """The value; `SerializationError` (or `TypeError`, `ValueError`) for bytes that mean none."""
        ...


Serialize = Callable[[str, Sequence[Header], Any], bytes | None]
Deserialize = Callable[[str, Sequence[Header], bytes | None], Any]

_KINDS: Final = ("string", "integer", "long", "short", "double", "float", "bytes", "uuid", "json", "void", "boolean")
_JAVA_PACKAGE: Final = "org.apache.kafka.common.serialization"
_MODULES: Final = {
    "string": "text",
    "json": "json_value",
    "uuid": "uuid_value",
    "bytes": "raw",
    "void": "raw",
    "boolean": "number",
}
_JAVA_NAMES: Final = {"uuid": ("UUID",), "bytes": ("ByteArray", "ByteBuffer", "Bytes")}


def known(role: str) -> dict[str, object]:
    """Names for the settings, ours and Java's; `role` is `Serializer` or `Deserializer`.

    >>> known("Serializer")["org.apache.kafka.common.serialization.LongSerializer"]
    'ottla.client.serde.number:LongSerde'
    """
    names: dict[str, object] = {}
    for kind in _KINDS:
        title = kind.capitalize()
        place = f"ottla.client.serde.{_MODULES.get(kind, 'number')}:{title}Serde"
        names[kind] = place
        for java in _JAVA_NAMES.get(kind, (title,)):
            names[f"{_JAVA_PACKAGE}.{java}{role}"] = place
    return names


def serialize_of(plugin: object) -> Serialize:
    """One way to call a serializer, whichever shape it has."""
    if isinstance(plugin, Serializer):
        return plugin.serialize
    if callable(plugin):
        function = plugin
        return lambda topic, headers, value: None if value is None else function(value)
    raise TypeError(f"{plugin!r} is no serializer: neither has it a method serialize, nor can it be called")


def deserialize_of(plugin: object) -> Deserialize:
    """One way to call a deserializer, whichever shape it has."""
    if isinstance(plugin, Deserializer):
        return plugin.deserialize
    if callable(plugin):
        function = plugin
        return lambda topic, headers, data: None if data is None else function(data)
    raise TypeError(f"{plugin!r} is no deserializer: neither has it a method deserialize, nor can it be called")
