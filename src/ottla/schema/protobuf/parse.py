"""The front door: from text to a Protobuf schema."""

from collections.abc import Mapping, Sequence

from ottla.schema.protobuf.schema import ProtobufSchema
from ottla.schema.protobuf.source import dependencies, parse_source
from ottla.schema.reference import Reference


def parse(text: str, references: Sequence[Reference], resolved: Mapping[str, str], *, strict: bool) -> ProtobufSchema:
    """The schema that .proto text, or a FileDescriptorProto in base64, describes; see `ottla.schema.parse`."""
    file = parse_source(text)
    schema = ProtobufSchema(file, references, dependencies(file, resolved))
    if strict:
        schema.validate()
    return schema
