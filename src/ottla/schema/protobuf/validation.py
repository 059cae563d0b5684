"""The checks that a new schema must pass beyond grammar: what a descriptor could not be built from.

As in Confluent's registry, and less strict than protoc: an enum of proto3 may start with any number, two enums may have
constants of one name, and an import that nothing uses may be missing.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

from ottla.schema.error import InvalidSchemaError
from ottla.schema.protobuf.element import SCALARS, EnumType, Field, File, Group, MapType, Message
from ottla.schema.protobuf.scope import Scope

_MAP_KEYS: Final = SCALARS - {"double", "float", "bytes"}


def validate(scope: Scope) -> None:
    """Raises InvalidSchemaError for the first thing that is wrong."""
    _Validator(scope).file(scope.file)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class _Validator:
    """Walks a file; `inside` is the scope in which names are looked for."""

    def __init__(self, scope: Scope) -> None:
        self._scope: Final = scope

    def file(self, file: File) -> None:
        inside = self._scope.root()
        extensions = [field for extend in file.extends for field in extend.fields]
        kinds: tuple[Sequence[_Named], ...] = (file.messages, file.enums, file.services, extensions)
        _unique(_names(kinds), self._scope.package)
        for message in file.messages:
            self._message(message, (*inside, message.name))
        for enum in file.enums:
            _enum(enum, inside)
        for extend in file.extends:
            self._extend(extend.name, extend.fields, inside)
        for service in file.services:
            _unique([rpc.name for rpc in service.rpcs], ".".join((*inside, service.name)))
            for rpc in service.rpcs:
                self._is_message(rpc.request, inside)
                self._is_message(rpc.response, inside)

    def _message(self, message: Message, inside: tuple[str, ...]) -> None:
        full_name = ".".join(inside)
        groups = [*message.groups, *(group for oneof in message.oneofs for group in oneof.groups)]
        fields = [*message.fields, *(field for oneof in message.oneofs for field in oneof.fields)]
        extensions = [field for extend in message.extends for field in extend.fields]
        kinds: tuple[Sequence[_Named], ...]
        kinds = (fields, message.oneofs, groups, message.messages, message.enums, extensions)
        _unique(_names(kinds), full_name)
        _unique_numbers([*fields, *groups], full_name)
        for field in fields:
            self._field(field, inside)
        for group in groups:
            self._group(group, (*inside, group.name))
        for nested in message.messages:
            self._message(nested, (*inside, nested.name))
        for enum in message.enums:
            _enum(enum, inside)
        for extend in message.extends:
            self._extend(extend.name, extend.fields, inside)

    def _group(self, group: Group, inside: tuple[str, ...]) -> None:
        _unique([field.name for field in group.fields], ".".join(inside))
        _unique_numbers(group.fields, ".".join(inside))
        for field in group.fields:
            self._field(field, inside)

    def _extend(self, name: str, fields: Iterable[Field], inside: tuple[str, ...]) -> None:
        self._is_message(name, inside)
        for field in fields:
            self._field(field, inside)

    def _field(self, field: Field, inside: tuple[str, ...]) -> None:
        place = ".".join((*inside, field.name))
        if isinstance(field.type, MapType):
            if field.type.key not in _MAP_KEYS:
                raise InvalidSchemaError(f"a map may not have keys of type {field.type.key}", place)
            self._is_type(field.type.value, inside)
        else:
            self._is_type(field.type, inside)
            if field.default is not None:
                self._default(field, field.type, inside)

    def _default(self, field: Field, type_: str, inside: tuple[str, ...]) -> None:
        place = ".".join((*inside, field.name))
        if field.label == "repeated":
            raise InvalidSchemaError("Repeated fields cannot have default values.", place)
        if type_ in SCALARS:
            return
        found = self._scope.type(type_, inside)
        if found is None or not isinstance(found.element, EnumType):
            raise InvalidSchemaError("Messages can't have default values.", place)
        assert field.default is not None
        if all(constant.name != field.default.text for constant in found.element.constants):
            raise InvalidSchemaError(f'Unknown enum default value: "{field.default.text}"', place)

    def _is_type(self, name: str, inside: tuple[str, ...]) -> None:
        if name not in SCALARS and self._scope.resolve(name, inside) is None:
            raise InvalidSchemaError(f"Could not resolve type: {name}", ".".join(inside))

    def _is_message(self, name: str, inside: tuple[str, ...]) -> None:
        found = self._scope.type(name, inside)
        if found is None:
            raise InvalidSchemaError(f"Could not resolve type: {name}", ".".join(inside))
        if isinstance(found.element, EnumType):
            raise InvalidSchemaError(f'"{name}" is not a message type.', ".".join(inside))


def _enum(enum: EnumType, inside: tuple[str, ...]) -> None:
    if not enum.constants:
        raise InvalidSchemaError("Enums must contain at least one value.", ".".join((*inside, enum.name)))
    _unique((constant.name for constant in enum.constants), ".".join((*inside, enum.name)))


def _names(kinds: Iterable[Sequence[_Named]]) -> Iterator[str]:
    return (element.name for elements in kinds for element in elements)


def _unique(names: Iterable[str], place: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            where = f'in "{place}"' if place else "in the file"
            raise InvalidSchemaError(f'"{name}" is already defined {where}.', f"{place}.{name}".lstrip("."))
        seen.add(name)


def _unique_numbers(fields: Iterable[Field | Group], place: str) -> None:
    seen: dict[int, str] = {}
    for field in fields:
        other = seen.setdefault(field.number, field.name)
        if other != field.name:
            raise InvalidSchemaError(
                f'Field number {field.number} has already been used in "{place}" by field "{other}".',
                f"{place}.{field.name}",
            )
