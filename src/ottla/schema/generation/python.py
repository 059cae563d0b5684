"""Python's side of a generated module: types as expressions, dataclasses and enums as text.

What is generated needs no Ottla. Classes have `to_dict` and `from_dict`, which serializers use; both name each field,
so that a field whose name is no Python name has one.
"""

import keyword
import re
from collections.abc import Callable
from typing import Final

from ottla.base.frozen import frozen

Convert = Callable[[str], str]
"""From an expression to an expression."""

_OWN_NAMES: Final = frozenset({"to_dict", "from_dict", "SCHEMA", "self", "cls"})


def same(expression: str) -> str:
    """The value as it is."""
    return expression


@frozen
class PythonType:
    """A type: its annotation, and how values become what a serializer takes, and back."""

    annotation: str
    write: Convert = same
    read: Convert = same
    test: Convert | None = None
    """Whether an expression, out of a deserializer, is of this type; where several could be."""

    @property
    def is_plain(self) -> bool:
        """Whether values are written and read without conversion."""
        return self.write is same and self.read is same


@frozen
class PythonField:
    """A field of a class. Without a `default` it has to be given."""

    wire_name: str
    type: PythonType
    default: str | None = None
    is_left_out: bool = False
    """Whether None means that the field is not there."""

    @property
    def name(self) -> str:
        """The attribute's name."""
        return identifier(self.wire_name)


@frozen
class PythonClass:
    """A dataclass."""

    name: str
    doc: str
    fields: tuple[PythonField, ...]

    def text(self) -> list[str]:
        """Its lines."""
        lines = ["@dataclass(kw_only=True)", f"class {self.name}:", f'    """{_doc(self.doc)}"""', ""]
        for field in self.fields:
            default = "" if field.default is None else f" = {field.default}"
            lines.append(f"    {field.name}: {field.type.annotation}{default}")
        lines += [
            "",
            "    def to_dict(self) -> dict[str, Any]:",
            '        """The fields by their names in the schema."""',
        ]
        lines += ["        value: dict[str, Any] = {"]
        required = [field for field in self.fields if not field.is_left_out]
        lines += [f"            {field.wire_name!r}: {field.type.write(f'self.{field.name}')}," for field in required]
        lines += ["        }"]
        for field in self.fields:
            if field.is_left_out:
                lines += [f"        if self.{field.name} is not None:"]
                lines += [f"            value[{field.wire_name!r}] = {field.type.write(f'self.{field.name}')}"]
        lines += ["        return value", "", "    @classmethod"]
        lines += [f'    def from_dict(cls, value: Mapping[str, Any]) -> "{self.name}":']
        lines += ['        """An object of fields by their names in the schema."""', "        return cls("]
        for field in self.fields:
            given = field.type.read(f"value[{field.wire_name!r}]")
            if field.is_left_out:
                given = f"({given}) if {field.wire_name!r} in value else None"
            lines.append(f"            {field.name}={given},")
        return [*lines, "        )"]


@frozen
class PythonEnum:
    """An enum of texts."""

    name: str
    doc: str
    symbols: tuple[str, ...]

    def text(self) -> list[str]:
        """Its lines."""
        lines = [f"class {self.name}(StrEnum):", f'    """{_doc(self.doc)}"""', ""]
        return [*lines, *(f"    {identifier(symbol)} = {symbol!r}" for symbol in self.symbols)]


def module_text(doc: str, parts: list[PythonClass | PythonEnum], schema: str) -> str:
    """The whole module."""
    body = "\n\n\n".join("\n".join(part.text()) for part in parts)
    text = f"{body}\nSCHEMA"
    heads = [f'"""{_doc(doc)}"""', "", "from __future__ import annotations", ""]
    heads += [f"import {name}" for name in ("datetime", "decimal", "uuid") if f"{name}." in body]
    if "Mapping[" in text:
        heads.append("from collections.abc import Mapping")
    if "@dataclass" in text:
        heads.append(f"from dataclasses import dataclass{', field' if ' = field(' in text else ''}")
    if "(StrEnum)" in text:
        heads.append("from enum import StrEnum")
    if "Any" in text:
        heads.append("from typing import Any")
    return "\n".join([*heads, "", f"SCHEMA = {schema!r}", "", "", body, ""])


def list_of(items: PythonType) -> PythonType:
    """A list."""
    if items.is_plain:
        return PythonType(f"list[{items.annotation}]", test=_of("list"))
    return PythonType(
        f"list[{items.annotation}]",
        lambda value: f"[{items.write('each')} for each in {value}]",
        lambda value: f"[{items.read('each')} for each in {value}]",
        _of("list"),
    )


def dict_of(values: PythonType) -> PythonType:
    """A dict by text."""
    if values.is_plain:
        return PythonType(f"dict[str, {values.annotation}]", test=_of("dict"))
    return PythonType(
        f"dict[str, {values.annotation}]",
        lambda value: f"{{name: {values.write('each')} for name, each in {value}.items()}}",
        lambda value: f"{{name: {values.read('each')} for name, each in {value}.items()}}",
        _of("dict"),
    )


def optional(some: PythonType) -> PythonType:
    """The type, or None."""
    if some.annotation in ("None", "Any") or some.annotation.endswith("| None"):
        return some
    annotation = f"{some.annotation} | None"
    if some.is_plain:
        return PythonType(annotation)
    return PythonType(
        annotation,
        lambda value: f"None if {value} is None else {some.write(value)}",
        lambda value: f"None if {value} is None else {some.read(value)}",
    )


def identifier(name: str) -> str:
    """A Python name for a field: the same where that can be.

    >>> identifier("areaCode"), identifier("class"), identifier("7-up"), identifier("")
    ('areaCode', 'class_', '_7_up', '_')
    """
    found = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not found or found[0].isdigit():
        found = f"_{found}"
    return f"{found}_" if keyword.iskeyword(found) or found in _OWN_NAMES else found


def class_name(text: str) -> str:
    """A class's name from a title.

    >>> class_name("order line"), class_name("Order")
    ('OrderLine', 'Order')
    """
    words = re.findall(r"[A-Za-z0-9]+", text)
    return identifier("".join(word[0].upper() + word[1:] for word in words) or "Value")


def _of(kind: str) -> Convert:
    return lambda value: f"isinstance({value}, {kind})"


def _doc(text: str) -> str:
    return " ".join(text.replace("\\", "\\\\").replace('"', "'").split()) or "Generated."
