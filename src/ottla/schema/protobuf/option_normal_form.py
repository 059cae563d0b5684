"""Options in normal form: by name, extensions by their full names, paths and repetitions as one message.

`option (meta).doc = "d"; option (meta).tags = "t";` and `option (meta) = {doc: "d", tags: "t"};` are the same.
An extension that is not known stays as it was written.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import reduce
from typing import Final

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
from ottla.schema.protobuf.scope import ExtensionInfo, Scope

_EXPONENT_MAX: Final = 400
"""Numbers beyond a double's range stay as they were written."""


def normalize(options: Sequence[Option], scope: Scope, inside: Sequence[str]) -> tuple[Option, ...]:
    """The options sorted by name, with those of one extension merged."""
    named = [_resolved(option, scope, inside) for option in options]
    by_name: dict[tuple[bool, str], list[Option]] = {}
    for option in sorted(named, key=lambda option: option.name):
        by_name.setdefault((option.is_extension, option.name), []).append(option)
    result: list[Option] = []
    for (is_extension, name), same in by_name.items():
        extension = scope.extensions.get(name) if is_extension else None
        if extension is not None and extension.field.label != "repeated":
            field = _FieldType(extension, scope)
            value = reduce(lambda first, second: _merged(field, first, second), [one.value for one in same])
            same = [replace(same[-1], value=value)]
        result.extend(replace(one, value=_normal(one.value, scope, inside)) for one in same)
    return tuple(result)


def in_full(literal: Literal) -> Literal:
    """A number as plain decimal digits.

    >>> in_full(Literal(LiteralKind.NUMBER, "1.50e3")).text, in_full(Literal(LiteralKind.NUMBER, "0x10")).text
    ('1500', '16')
    """
    if literal.kind is not LiteralKind.NUMBER:
        return literal
    text = literal.text
    try:
        if text.lstrip("+-").lower().startswith("0x"):
            return replace(literal, text=str(int(text, 16)))
        number = Decimal(text)
    except (InvalidOperation, ValueError):
        return literal
    if not number.is_finite() or abs(number.adjusted()) > _EXPONENT_MAX:
        return literal
    digits = f"{number:f}"
    return replace(literal, text=(digits.rstrip("0").rstrip(".") or "0") if "." in digits else digits)


class _FieldType:
    """A field with what is needed to look into the message that it holds."""

    def __init__(self, extension: ExtensionInfo, scope: Scope, field: Field | None = None) -> None:
        self._extension = extension
        self._scope = scope
        self._field = field or extension.field

    @property
    def is_repeated(self) -> bool:
        return self._field.label == "repeated"

    def member(self, name: str) -> "_FieldType | None":
        info = self._scope.type(str(self._field.type), self._extension.scope)
        if info is None or not isinstance(info.element, Message):
            return None
        fields = (*info.element.fields, *(field for oneof in info.element.oneofs for field in oneof.fields))
        found = next((field for field in fields if field.name == name), None)
        extension = replace(self._extension, scope=tuple(info.full_name.split(".")))
        return None if found is None else _FieldType(extension, self._scope, found)


def _resolved(option: Option, scope: Scope, inside: Sequence[str]) -> Option:
    if not option.is_extension:
        return option
    full_name = scope.resolve_extension(option.name, inside)
    if full_name is None:
        return option
    value = option.value
    for name in reversed(option.path):
        key = f"[{name[1:-1]}]" if name.startswith("(") else name
        value = OptionMap(((key, value),))
    return Option(full_name, value, True)


def _merged(field: _FieldType | None, first: OptionValue, second: OptionValue) -> OptionValue:
    """The value of two assignments to one field: messages merge, the last single value wins, others make a list."""
    if isinstance(first, OptionMap) and isinstance(second, OptionMap) and field is not None and not field.is_repeated:
        values = dict(first.entries)
        for key, value in second.entries:
            values[key] = _merged(field.member(key), values[key], value) if key in values else value
        return OptionMap(tuple(values.items()))
    if field is not None and not field.is_repeated:
        return second
    items: dict[OptionValue, None] = {}
    for value in (first, second):
        items.update(dict.fromkeys(value.items if isinstance(value, OptionList) else (value,)))
    return OptionList(tuple(items))


def _normal(value: OptionValue, scope: Scope, inside: Sequence[str]) -> OptionValue:
    if isinstance(value, Literal):
        return in_full(value)
    if isinstance(value, OptionList):
        return OptionList(tuple(_normal(item, scope, inside) for item in value.items))
    entries: dict[str, OptionValue] = {}
    for key, item in value.entries:
        if isinstance(item, OptionList) and not item.items:
            continue
        if key.startswith("["):
            full_name = scope.resolve_extension(key[1:-1], inside)
            key = key if full_name is None else f"[{full_name}]"
        normal = _normal(item, scope, inside)
        # A list of one is the same as its item inside of a message, where only repeated fields have lists.
        if isinstance(normal, OptionList) and len(normal.items) == 1:
            normal = normal.items[0]
        entries.setdefault(key, normal)
    return OptionMap(tuple(sorted(entries.items())))
