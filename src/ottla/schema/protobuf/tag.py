"""Tags in Protobuf schemas: `tags` of the options `confluent.message_meta` and `confluent.field_meta`.

Messages are named from the top of the file, without the package; a field of a oneof by its message, or by its oneof.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from ottla.schema.parsed import ParsedSchema
from ottla.schema.protobuf.element import (
    Field,
    Literal,
    LiteralKind,
    Message,
    Option,
    OptionList,
    OptionMap,
    OptionValue,
)
from ottla.schema.protobuf.schema import ProtobufSchema
from ottla.schema.protobuf.text.writer import write
from ottla.schema.tag import Entity, EntityKind, TagChange

_META: Final = {EntityKind.RECORD: "confluent.message_meta", EntityKind.FIELD: "confluent.field_meta"}
_TAGS: Final = "tags"
T = TypeVar("T", Message, Field)


def tagged(schema: ParsedSchema) -> dict[Entity, tuple[str, ...]]:
    """The messages and fields with tags."""
    assert isinstance(schema, ProtobufSchema)
    found: dict[Entity, tuple[str, ...]] = {}
    for message in schema.file.messages:
        _collect(message, message.name, found)
    return found


def retagged(schema: ParsedSchema, change: TagChange) -> str:
    """The text with other tags. Raises InvalidSchemaError for a path that leads nowhere."""
    assert isinstance(schema, ProtobufSchema)
    messages = schema.file.messages
    for entity in change.entities():
        messages = _changed_in(messages, entity, entity.path.split("."), change)
    return write(replace(schema.file, messages=messages))


def _collect(message: Message, path: str, found: dict[Entity, tuple[str, ...]]) -> None:
    in_oneofs = [field for oneof in message.oneofs for field in oneof.fields]
    entities = [(Entity(path, EntityKind.RECORD), message.options)]
    entities += [(Entity(f"{path}.{each.name}", EntityKind.FIELD), each.options) for each in in_oneofs]
    entities += [(Entity(f"{path}.{each.name}", EntityKind.FIELD), each.options) for each in message.fields]
    for entity, options in entities:
        tags = _tags_of(_meta_of(options, entity.kind))
        if tags:
            found[entity] = tuple(tags)
    for inner in message.messages:
        _collect(inner, f"{path}.{inner.name}", found)


def _changed_in(
    messages: tuple[Message, ...], entity: Entity, path: Sequence[str], change: TagChange
) -> tuple[Message, ...]:
    def step(message: Message) -> Message:
        rest = path[1:]
        if not rest and not entity.is_field:
            return replace(message, options=_options(message.options, entity, change))
        if len(rest) == 1 and entity.is_field:
            return _with_field(message, entity, rest[0], change)
        if len(rest) == 2 and entity.is_field and any(each.name == rest[0] for each in message.oneofs):
            return _with_field_of_oneof(message, entity, (rest[0], rest[1]), change)
        return replace(message, messages=_changed_in(message.messages, entity, rest, change))

    return _replaced(messages, path[0] if path else "", entity, step)


def _with_field(message: Message, entity: Entity, name: str, change: TagChange) -> Message:
    if any(each.name == name for each in message.fields):
        fields = _replaced(message.fields, name, entity, lambda field: _field_changed(field, entity, change))
        return replace(message, fields=fields)
    for oneof in message.oneofs:
        if any(each.name == name for each in oneof.fields):
            return _with_field_of_oneof(message, entity, (oneof.name, name), change)
    raise entity.missing()


def _with_field_of_oneof(message: Message, entity: Entity, path: tuple[str, str], change: TagChange) -> Message:
    oneofs = tuple(
        replace(
            each, fields=_replaced(each.fields, path[1], entity, lambda field: _field_changed(field, entity, change))
        )
        if each.name == path[0]
        else each
        for each in message.oneofs
    )
    return replace(message, oneofs=oneofs)


def _replaced(values: tuple[T, ...], name: str, entity: Entity, change: Callable[[T], T]) -> tuple[T, ...]:
    """The values with the first of that name changed."""
    first = next((each for each in values if each.name == name), None)
    if first is None:
        raise entity.missing()
    return tuple(change(each) if each is first else each for each in values)


def _field_changed(field: Field, entity: Entity, change: TagChange) -> Field:
    return replace(field, options=_options(field.options, entity, change))


def _options(options: tuple[Option, ...], entity: Entity, change: TagChange) -> tuple[Option, ...]:
    """The options, with those about Confluent's `meta` put together in one."""
    name = _META[entity.kind]
    meta = _meta_of(options, entity.kind)
    tags = change.applied(entity, _tags_of(meta))
    if tags:
        meta[_TAGS] = OptionList(tuple(Literal(LiteralKind.STRING, tag) for tag in tags))
    else:
        meta.pop(_TAGS, None)
    others = [each for each in options if not _is_meta(each, name)]
    made = [Option(name, OptionMap(tuple(meta.items())), is_extension=True)] if meta else []
    return (*others, *made)


def _meta_of(options: Iterable[Option], kind: EntityKind) -> dict[str, OptionValue]:
    """The members of the option, however they were written."""
    members: dict[str, OptionValue] = {}
    for option in options:
        if not _is_meta(option, _META[kind]):
            continue
        value = option.value
        for name in reversed(option.path):
            value = OptionMap(((name, value),))
        for name, member in value.entries if isinstance(value, OptionMap) else ():
            members[name] = OptionList((*_items(members[name]), *_items(member))) if name in members else member
    return members


def _is_meta(option: Option, name: str) -> bool:
    return option.is_extension and option.name.removeprefix(".") == name


def _items(value: OptionValue) -> tuple[OptionValue, ...]:
    return value.items if isinstance(value, OptionList) else (value,)


def _tags_of(meta: dict[str, OptionValue]) -> list[str]:
    return [each.text for each in _items(meta[_TAGS]) if isinstance(each, Literal)] if _TAGS in meta else []
