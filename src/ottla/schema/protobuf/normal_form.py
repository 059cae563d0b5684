"""The form in which two ways to write the same file are one: `normalize=true`.

Fields and oneofs by number, enum constants by number and name, imports and options by name, types by their full names
with a leading dot, ranges one by one, map entries as maps. Messages, enums, services and methods keep their order:
messages are addressed by their position.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ottla.schema.error import InvalidSchemaError
from ottla.schema.protobuf import option_normal_form
from ottla.schema.protobuf.element import (
    SCALARS,
    EnumType,
    Extend,
    Extensions,
    Field,
    File,
    Group,
    MapType,
    Message,
    OneOf,
    Option,
    Reserved,
    Rpc,
    Service,
    Span,
)
from ottla.schema.protobuf.scope import Scope


def normalize(file: File, scope: Scope) -> File:
    """The file in normal form; InvalidSchemaError where a type is not known."""
    return _Normalizer(scope).file(file)


class _Normalizer:
    """Rebuilds each element; `inside` is the scope in which its names are looked for."""

    def __init__(self, scope: Scope) -> None:
        self._scope: Final = scope

    def file(self, file: File) -> File:
        inside = self._scope.root()
        return replace(
            file,
            syntax=file.syntax if file.is_proto3 else None,
            imports=tuple(sorted(set(file.imports))),
            public_imports=tuple(sorted(set(file.public_imports))),
            options=self._options(file.options, inside),
            messages=tuple(self._message(one, (*inside, one.name)) for one in file.messages),
            enums=tuple(self._enum(one, inside) for one in file.enums),
            extends=self._extends(file.extends, inside),
            services=tuple(self._service(one, inside) for one in file.services),
        )

    def _message(self, message: Message, inside: tuple[str, ...]) -> Message:
        nested = [one for one in message.messages if one.entry_type() is None]
        oneofs = [self._oneof(one, inside) for one in message.oneofs if one.fields]
        return replace(
            message,
            fields=self._fields(message.fields, inside),
            oneofs=tuple(sorted(oneofs, key=lambda one: one.fields[0].number)),
            groups=self._groups(message.groups, inside),
            messages=tuple(self._message(one, (*inside, one.name)) for one in nested),
            enums=tuple(self._enum(one, inside) for one in message.enums),
            extends=self._extends(message.extends, inside),
            extensions=self._extensions(message.extensions, inside),
            reserved=_reserved(message.reserved),
            options=self._options(message.options, inside),
        )

    def _fields(self, fields: Sequence[Field], inside: tuple[str, ...]) -> tuple[Field, ...]:
        return tuple(self._field(one, inside) for one in sorted(fields, key=lambda field: field.number))

    def _field(self, field: Field, inside: tuple[str, ...]) -> Field:
        type_: str | MapType = field.type
        if isinstance(type_, str) and type_ not in SCALARS:
            type_ = self._type(type_, inside)
            found = self._scope.types[type_[1:]].element
            type_ = (found.entry_type() if isinstance(found, Message) else None) or type_
        if isinstance(type_, MapType):
            value = self._scope.resolve(type_.value, inside)
            type_ = type_ if value is None else MapType(type_.key, f".{value}")
        return replace(
            field,
            type=type_,
            label=None if isinstance(type_, MapType) else field.label,
            options=self._options(field.options, inside),
            default=None if field.default is None else option_normal_form.in_full(field.default),
        )

    def _type(self, name: str, inside: Sequence[str]) -> str:
        full_name = self._scope.resolve(name, inside)
        if full_name is None:
            raise InvalidSchemaError(f"Could not resolve type: {name}", ".".join(inside))
        return f".{full_name}"

    def _oneof(self, oneof: OneOf, inside: tuple[str, ...]) -> OneOf:
        return replace(
            oneof,
            fields=self._fields(oneof.fields, inside),
            groups=self._groups(oneof.groups, inside),
            options=self._options(oneof.options, inside),
        )

    def _groups(self, groups: Sequence[Group], inside: tuple[str, ...]) -> tuple[Group, ...]:
        return tuple(
            replace(one, fields=self._fields(one.fields, (*inside, one.name)))
            for one in sorted(groups, key=lambda group: group.number)
        )

    def _enum(self, enum: EnumType, inside: tuple[str, ...]) -> EnumType:
        inside = (*inside, enum.name)
        constants = sorted(enum.constants, key=lambda constant: (constant.number, constant.name))
        return replace(
            enum,
            constants=tuple(replace(one, options=self._options(one.options, inside)) for one in constants),
            options=self._options(enum.options, inside),
            reserved=_reserved(enum.reserved),
        )

    def _extends(self, extends: Sequence[Extend], inside: tuple[str, ...]) -> tuple[Extend, ...]:
        merged: dict[str, list[Field]] = {}
        for extend in extends:
            merged.setdefault(self._type(extend.name, inside), []).extend(extend.fields)
        return tuple(Extend(name, self._fields(fields, inside)) for name, fields in merged.items() if fields)

    def _extensions(self, extensions: Sequence[Extensions], inside: tuple[str, ...]) -> tuple[Extensions, ...]:
        single = [
            Extensions((_collapsed(number),), self._options(one.options, inside))
            for one in extensions
            for number in one.numbers
        ]
        return tuple(sorted(single, key=lambda one: _first(one.numbers[0])))

    def _service(self, service: Service, inside: tuple[str, ...]) -> Service:
        return replace(
            service,
            rpcs=tuple(self._rpc(one, inside) for one in service.rpcs),
            options=self._options(service.options, inside),
        )

    def _rpc(self, rpc: Rpc, inside: tuple[str, ...]) -> Rpc:
        return replace(
            rpc,
            request=self._type(rpc.request, inside),
            response=self._type(rpc.response, inside),
            options=self._options(rpc.options, inside),
        )

    def _options(self, options: Sequence[Option], inside: tuple[str, ...]) -> tuple[Option, ...]:
        return option_normal_form.normalize(options, self._scope, inside) if options else ()


def _reserved(statements: Sequence[Reserved]) -> tuple[Reserved, ...]:
    """Each value on its own: numbers in order, then names in order."""
    numbers: list[int | Span] = []
    names: list[str] = []
    for value in (value for statement in statements for value in statement):
        if isinstance(value, str):
            names.append(value)
        else:
            numbers.append(_collapsed(value))
    return (*((number,) for number in sorted(numbers, key=_first)), *((name,) for name in sorted(names)))


def _collapsed(value: int | Span) -> int | Span:
    return value.first if isinstance(value, Span) and value.first == value.last else value


def _first(value: int | Span) -> int:
    return value if isinstance(value, int) else value.first
