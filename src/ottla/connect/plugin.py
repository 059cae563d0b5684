"""Finds connectors, converters, transforms and predicates by name.

A name is Kafka's class name, its last part (`FileStreamSource`, `Cast$Value`), the name of an entry point of the group
`ottla.connectors`, `ottla.converters`, `ottla.transforms` or `ottla.predicates`, or `module:Class`.
"""

import importlib
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Final, TypeVar

from ottla.connect.config.connector_key import SINK, SOURCE
from ottla.connect.config.definition import ConfigDef
from ottla.connect.connector import Connector, SinkConnector, SourceConnector
from ottla.connect.connectors.directory_source import DirectorySourceConnector
from ottla.connect.connectors.file_sink import FileStreamSinkConnector
from ottla.connect.connectors.file_source import FileStreamSourceConnector
from ottla.connect.converter.catalogue import CONVERTERS, HEADER_CONVERTERS
from ottla.connect.converter.converter import Converter
from ottla.connect.errors import ConnectError, NotFoundError
from ottla.connect.transform.catalogue import PREDICATES, TRANSFORMS
from ottla.connect.transform.predicate import Predicate
from ottla.connect.transform.transform import Transform

T = TypeVar("T")
Make = Callable[[], T]

CONNECTORS: Final[dict[str, Make[Connector]]] = {
    "org.apache.kafka.connect.file.FileStreamSourceConnector": FileStreamSourceConnector,
    "org.apache.kafka.connect.file.FileStreamSinkConnector": FileStreamSinkConnector,
    "ottla.connect.DirectorySourceConnector": DirectorySourceConnector,
}
_FAR_CONNECTORS: Final = {
    "ottla.connect.TopicSourceConnector": "ottla.connect.cluster.topic_source:TopicSourceConnector"
}
"""Those that reach a cluster or a registry: loaded when they are used, since all else here only computes."""
_REGISTRY: Final = "ottla.connect.cluster.registry_converter"
_FAR_CONVERTERS: Final = {
    "io.confluent.connect.avro.AvroConverter": f"{_REGISTRY}:AvroConverter",
    "io.confluent.connect.json.JsonSchemaConverter": f"{_REGISTRY}:JsonSchemaConverter",
    "io.confluent.connect.protobuf.ProtobufConverter": "ottla.connect.cluster.protobuf_converter:ProtobufConverter",
}


class Plugins:
    """All that can be named.

    >>> plugins = Plugins()
    >>> type(plugins.connector("FileStreamSource")).__name__
    'FileStreamSourceConnector'
    >>> plugins.transform("HoistField$Key").java_name
    'org.apache.kafka.connect.transforms.HoistField$Key'
    """

    def connector(self, name: str) -> Connector:
        """A new connector; `NotFoundError` if nothing has that name."""
        known = self.connectors()
        for candidate in (name, f"{name}Connector"):
            found = _by_name(candidate, known)
            if found is not None:
                return found()
        made = _foreign(name, Connector)
        if made is None:
            listed = ", ".join(sorted(known))
            raise NotFoundError(
                f"Failed to find any class that implements Connector and which name matches {name}, "
                f"available connectors are: {listed}"
            )
        return made()

    def connectors(self) -> dict[str, Make[Connector]]:
        """Every connector that is installed, by its class name."""
        far = {name: _loader(value, Connector) for name, value in _FAR_CONNECTORS.items()}
        return {**CONNECTORS, **far, **_entries("ottla.connectors", Connector)}

    def converter(self, name: str) -> Converter:
        """A new converter of keys or values."""
        return _found(name, {**CONVERTERS, **_far_converters(), **_entries("ottla.converters", Converter)}, Converter)

    def header_converter(self, name: str) -> Converter:
        """A new converter of headers."""
        known = {**HEADER_CONVERTERS, **_far_converters(), **_entries("ottla.converters", Converter)}
        return _found(name, known, Converter)

    def transform(self, name: str) -> Transform:
        """A new transform."""
        return _found(name, {**TRANSFORMS, **_entries("ottla.transforms", Transform)}, Transform)

    def predicate(self, name: str) -> Predicate:
        """A new predicate."""
        return _found(name, {**PREDICATES, **_entries("ottla.predicates", Predicate)}, Predicate)

    def names(self, kind: str) -> list[str]:
        """The class names of `converter`, `header_converter`, `transformation` or `predicate`, as REST lists them.

        >>> Plugins().names("predicate")[0]
        'org.apache.kafka.connect.transforms.predicates.HasHeaderKey'
        """
        return sorted(self._of(kind))

    def has(self, name: str) -> bool:
        """Whether there is a class of that name, of any kind."""
        kinds = ("connector", "converter", "header_converter", "transformation", "predicate")
        return any(_by_name(name, self._of(kind)) is not None for kind in kinds)

    def _of(self, kind: str) -> Mapping[str, Make[Connector | Converter | Transform | Predicate]]:
        if kind == "connector":
            return dict(self.connectors())
        if kind == "transformation":
            return {**TRANSFORMS, **_entries("ottla.transforms", Transform)}
        if kind == "predicate":
            return {**PREDICATES, **_entries("ottla.predicates", Predicate)}
        if kind == "header_converter":
            return {**HEADER_CONVERTERS, **_entries("ottla.converters", Converter)}
        return {**CONVERTERS, **_far_converters(), **_entries("ottla.converters", Converter)}

    @staticmethod
    def class_name(plugin: Transform | Predicate | Converter) -> str:
        """The class name for error messages: Kafka's, or `module.Class` in Python."""
        return plugin.java_name or f"{type(plugin).__module__}.{type(plugin).__qualname__}"


def definition_of(name: str) -> ConfigDef:
    """The settings that a class defines; `sink` and `source` are what every connector has."""
    if name in ("sink", "source"):
        return SINK if name == "sink" else SOURCE
    makers: Mapping[str, Make[Connector | Converter | Transform | Predicate]] = {
        **CONNECTORS, **HEADER_CONVERTERS, **TRANSFORMS, **PREDICATES,
    }  # fmt: skip
    return makers[name]().config_def


def _found(name: str, known: Mapping[str, Make[T]], kind: type[T]) -> T:
    made = _by_name(name.strip(), known) or _foreign(name.strip(), kind)
    if made is None:
        raise NotFoundError(f"Class {name} could not be found.")
    return made()


def _by_name(name: str, known: Mapping[str, Make[T]]) -> Make[T] | None:
    if name in known:
        return known[name]
    # The last part alone, as long as only one class has it.
    short = [full for full in known if full.rpartition(".")[2] == name]
    return known[short[0]] if len(short) == 1 else None


def _foreign(name: str, kind: type[T]) -> Make[T] | None:
    module, colon, attribute = name.partition(":")
    if not colon:
        return None
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ImportError as error:
        raise ConnectError(f"{module} cannot be imported: {error}") from error
    if not isinstance(found, type) or not issubclass(found, kind):
        raise ConnectError(f"{name} is no subclass of {kind.__module__}.{kind.__qualname__}")
    return found


def _entries(group: str, kind: type[T]) -> dict[str, Make[T]]:
    """Classes of installed packages, loaded when they are made."""
    return {entry.name: _loader(entry.value, kind) for entry in entry_points(group=group)}


def _far_converters() -> dict[str, Make[Converter]]:
    return {name: _loader(value, Converter) for name, value in _FAR_CONVERTERS.items()}


def _loader(value: str, kind: type[T]) -> Make[T]:
    def make() -> T:
        found = _foreign(value, kind)
        if found is None:
            raise ConnectError(f"{value} is no entry point of the form module:Class")
        return found()

    return make


__all__ = ["CONNECTORS", "Plugins", "SinkConnector", "SourceConnector", "definition_of"]
