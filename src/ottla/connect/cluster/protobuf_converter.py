"""The Protobuf converter by Confluent's class name: messages of schemas that no code was generated for."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, EncodeError
from google.protobuf.message_factory import GetMessageClass

from ottla.client.registry.value import SchemaText
from ottla.client.serde.schema import framing
from ottla.client.serde.schema.protobuf_class import MessageClasses
from ottla.client.serde.schema.reader import Written
from ottla.client.serde.schema.writer import NamedSchema
from ottla.connect.cluster.registry_converter import RegistryConverter, remembered
from ottla.connect.config.definition import ConfigDef
from ottla.connect.converter.protobuf_message import filler
from ottla.connect.converter.protobuf_option import OPTION_KEYS, ProtobufOption
from ottla.connect.converter.protobuf_reading import Reading, reading
from ottla.connect.converter.protobuf_schema import to_protobuf
from ottla.connect.data.schema import Schema, SchemaAndValue
from ottla.connect.errors import DataError
from ottla.schema.error import InvalidSchemaError
from ottla.schema.protobuf.descriptor.pool import descriptor_pool
from ottla.schema.protobuf.message_index import indexes_of
from ottla.schema.schema_type import SchemaType


class ProtobufConverter(RegistryConverter):
    """Protobuf."""

    java_name = "io.confluent.connect.protobuf.ProtobufConverter"
    is_columnar = True
    schema_type = SchemaType.PROTOBUF
    word = "Protobuf"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        *RegistryConverter.config_def.keys.values(),
        *OPTION_KEYS,
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._option = ProtobufOption()
        self._classes: MessageClasses
        self._messages: Final[dict[tuple[SchemaText, tuple[int, ...]], tuple[Any, Reading]]] = {}

    def configure(self, given: Mapping[str, str], *, is_key: bool) -> None:
        """Reads the settings."""
        super().configure(given, is_key=is_key)
        self._option = ProtobufOption.of(
            {key.name: key.parse(given[key.name]) for key in OPTION_KEYS if key.name in given}
        )
        self._classes = MessageClasses(self._reader.registry)

    def _described(self, schema: Schema) -> tuple[str, NamedSchema, Any]:
        made = to_protobuf(schema, self._option)
        try:
            text = made.schema.canonical_text
            descriptor = descriptor_pool(made.schema).FindMessageTypeByName(made.name)
            indexes = indexes_of(made.schema.file, made.name)
        except (InvalidSchemaError, KeyError) as error:
            raise DataError(f"Invalid protobuf schema definition: {error}") from error
        message_class: Any = GetMessageClass(descriptor)
        fill = filler(schema, descriptor, self._option)

        def encode(value: Any, other: SchemaText | None) -> bytes:
            message = message_class()
            fill(message, value)
            try:
                found: bytes = message.SerializeToString()
            except EncodeError as error:
                raise DataError(str(error)) from error
            return found

        return text, NamedSchema(SchemaText(text, self.schema_type, ()), made.name, indexes), encode

    def _decoded(self, written: Written) -> SchemaAndValue:
        indexes, payload = framing.read_indexes(written.payload)
        message_class, (schema, read) = remembered(
            self._messages, (written.schema, indexes), lambda: self._reading(written.schema, indexes)
        )
        try:
            return SchemaAndValue(schema, read(message_class.FromString(bytes(payload))))
        except DecodeError as error:
            raise DataError(f"the record does not follow {written.label}: {error}") from error

    def _reading(self, schema: SchemaText, indexes: tuple[int, ...]) -> tuple[Any, Reading]:
        found: Any = self._classes.at(schema, indexes)
        pool: DescriptorPool = found.DESCRIPTOR.file.pool
        return found, reading(found.DESCRIPTOR, pool, self._option)
