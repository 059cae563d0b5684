"""A file without what extensions add to it: custom options, extension ranges and `extend`.

Confluent's own options stay: its clients act on them.
"""

from collections.abc import Sequence
from dataclasses import replace

from ottla.schema.protobuf.element import EnumType, Field, File, Message, OneOf, Option, Service

_KEPT = "confluent."


def without_extensions(file: File) -> File:
    """The file as a reader sees it that knows no extensions."""
    return replace(
        file,
        options=_options(file.options),
        messages=tuple(map(_message, file.messages)),
        enums=tuple(map(_enum, file.enums)),
        services=tuple(map(_service, file.services)),
        extends=(),
    )


def _options(options: Sequence[Option]) -> tuple[Option, ...]:
    return tuple(one for one in options if not one.is_extension or one.name.startswith(_KEPT))


def _message(message: Message) -> Message:
    return replace(
        message,
        options=_options(message.options),
        fields=tuple(map(_field, message.fields)),
        oneofs=tuple(map(_oneof, message.oneofs)),
        groups=tuple(replace(one, fields=tuple(map(_field, one.fields))) for one in message.groups),
        messages=tuple(map(_message, message.messages)),
        enums=tuple(map(_enum, message.enums)),
        extensions=(),
        extends=(),
    )


def _field(field: Field) -> Field:
    return replace(field, options=_options(field.options))


def _oneof(oneof: OneOf) -> OneOf:
    return replace(oneof, options=_options(oneof.options), fields=tuple(map(_field, oneof.fields)))


def _enum(enum: EnumType) -> EnumType:
    constants = tuple(replace(one, options=_options(one.options)) for one in enum.constants)
    return replace(enum, options=_options(enum.options), constants=constants)


def _service(service: Service) -> Service:
    rpcs = tuple(replace(one, options=_options(one.options)) for one in service.rpcs)
    return replace(service, options=_options(service.options), rpcs=rpcs)
