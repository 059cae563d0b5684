"""A schema's descriptors with their names resolved, as `protobuf` keeps them: what messages are made and read by.

Each schema has a pool of its own, since two versions of one file can't share one.
"""

from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from ottla.schema.error import InvalidSchemaError
from ottla.schema.protobuf.schema import ProtobufSchema


def descriptor_pool(schema: ProtobufSchema) -> DescriptorPool:
    """The pool of a schema. Raises `InvalidSchemaError` where `protobuf` refuses the descriptors."""
    pool = DescriptorPool()
    try:
        for file in (*schema.dependency_descriptors().values(), schema.descriptor()):
            _begin_enums_at_zero(file)
            pool.AddSerializedFile(file.SerializeToString())
    except TypeError as error:
        raise InvalidSchemaError(str(error)) from error
    return pool


def _begin_enums_at_zero(file: FileDescriptorProto) -> None:
    """Registries accept open enums that don't begin at 0, `protobuf` does not: its defaults need a name for 0."""
    if file.syntax not in ("proto3", "editions"):
        return
    for enum in file.enum_type:
        _begin_at_zero(enum)
    waiting: list[DescriptorProto] = list(file.message_type)
    while waiting:
        message = waiting.pop()
        waiting.extend(message.nested_type)
        for enum in message.enum_type:
            _begin_at_zero(enum)


def _begin_at_zero(enum: EnumDescriptorProto) -> None:
    if not enum.value or enum.value[0].number == 0:
        return
    values = list(enum.value)
    # The order of constants means nothing on the wire.
    first = next((value for value in values if value.number == 0), None)
    if first is None:
        first = type(values[0])(name=f"{enum.name}_0", number=0)
    else:
        values.remove(first)
    del enum.value[:]
    enum.value.extend([first, *values])
