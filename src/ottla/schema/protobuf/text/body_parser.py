"""Reads what stands inside of messages, enums, oneofs, groups and `extend`.

As in protoc, a statement that starts with a keyword is never a field whose type has that name.
"""

from typing import Final

from ottla.base.frozen import frozen
from ottla.schema.protobuf.element import (
    ENUM_NUMBER_MAX,
    NUMBER_MAX,
    EnumConstant,
    EnumType,
    Extend,
    Extensions,
    Field,
    Group,
    Literal,
    MapType,
    Message,
    OneOf,
    Option,
    Reserved,
    Span,
)
from ottla.schema.protobuf.text import option_parser
from ottla.schema.protobuf.text.token_reader import TokenReader

_LABELS: Final = ("optional", "required", "repeated")


@frozen
class Rules:
    """The rules that depend on the file's syntax, and the depth of nesting."""

    is_proto3: bool
    needs_label: bool
    depth: int = 0

    def deeper(self, reader: TokenReader) -> "Rules":
        """The rules one message further in; fails where protoc would."""
        if self.depth >= option_parser.DEPTH_MAX:
            reader.fail("messages are nested too deeply")
        return Rules(self.is_proto3, self.needs_label, self.depth + 1)


def message(reader: TokenReader, rules: Rules) -> Message:
    """A message, after the word `message`."""
    return _MessageParser(reader, rules.deeper(reader)).message()


class _MessageParser:
    """Collects the members of one message by their kind."""

    def __init__(self, reader: TokenReader, rules: Rules) -> None:
        self._reader: Final = reader
        self._rules: Final = rules
        self._fields: list[Field] = []
        self._oneofs: list[OneOf] = []
        self._groups: list[Group] = []
        self._messages: list[Message] = []
        self._enums: list[EnumType] = []
        self._extends: list[Extend] = []
        self._extensions: list[Extensions] = []
        self._reserved: list[Reserved] = []
        self._options: list[Option] = []

    def message(self) -> Message:
        name = self._reader.name()
        for _ in option_parser.members(self._reader, self._options):
            self._member()
        return Message(
            name,
            tuple(self._fields),
            tuple(self._oneofs),
            tuple(self._groups),
            tuple(self._messages),
            tuple(self._enums),
            tuple(self._extends),
            tuple(self._extensions),
            tuple(self._reserved),
            tuple(self._options),
        )

    def _member(self) -> None:
        reader, rules = self._reader, self._rules
        start = reader.token
        match start.text:
            case "message":
                reader.take()
                self._messages.append(message(reader, rules))
            case "enum":
                reader.take()
                self._enums.append(enum(reader))
            case "oneof":
                reader.take()
                self._oneofs.append(_oneof(reader, rules))
            case "extend":
                reader.take()
                self._extends.append(extend(reader, rules))
            case "extensions":
                reader.take()
                self._extensions.append(_extensions(reader))
            case "reserved":
                reader.take()
                self._reserved.append(_reserved(reader, NUMBER_MAX))
            case "export" | "local":
                # Edition 2024's visibility: who may import a type does not change what it is.
                reader.take()
            case _:
                member = _field_or_group(reader, rules)
                if isinstance(member, Group):
                    self._groups.append(member)
                else:
                    self._fields.append(member)


def _field_or_group(reader: TokenReader, rules: Rules) -> Field | Group:
    start = reader.token
    label = reader.word() if start.text in _LABELS else None
    if label == "required" and rules.is_proto3:
        reader.fail("'required' label forbidden in proto3 field declarations", start)
    if label is not None and reader.token.text == "map":
        reader.fail("'map' type cannot have label", start)
    if label is None and rules.needs_label and start.text != "map":
        reader.fail(f"unexpected label: {start.text[:40]}", start)
    if reader.token.text == "group":
        return _group(reader, rules, label)
    return _field(reader, label)


def _field(reader: TokenReader, label: str | None) -> Field:
    type_ = _type(reader)
    name = reader.name()
    reader.expect("=")
    number = _bounded(reader, 1, NUMBER_MAX)
    options = option_parser.bracketed(reader)
    reader.expect(";")
    default, json_name = _special(options, "default"), _special(options, "json_name")
    return Field(
        name,
        number,
        type_,
        label,
        tuple(option for option in options if option.is_extension or option.name not in ("default", "json_name")),
        default,
        None if json_name is None else json_name.text,
    )


def _special(options: tuple[Option, ...], name: str) -> Literal | None:
    """The value of an option that belongs to the field itself."""
    for option in reversed(options):
        if option.name == name and not option.is_extension and isinstance(option.value, Literal):
            return option.value
    return None


def _type(reader: TokenReader) -> str | MapType:
    name = reader.type_name()
    if name != "map" or not reader.accept("<"):
        return name
    key = reader.type_name()
    reader.expect(",")
    value = reader.type_name()
    reader.expect(">")
    return MapType(key, value)


def _group(reader: TokenReader, rules: Rules, label: str | None) -> Group:
    inner = rules.deeper(reader)
    reader.expect("group")
    name = reader.name()
    reader.expect("=")
    number = _bounded(reader, 1, NUMBER_MAX)
    option_parser.bracketed(reader)
    return Group(name, number, label, _fields(reader, inner))


def _fields(reader: TokenReader, rules: Rules) -> tuple[Field, ...]:
    """`{ field … }`."""
    fields: list[Field] = []
    reader.expect("{")
    while not reader.accept("}"):
        if reader.accept(";"):
            continue
        start = reader.token
        member = _field_or_group(reader, rules)
        if isinstance(member, Group):
            reader.fail("a group may not stand here", start)
        fields.append(member)
    return tuple(fields)


def extend(reader: TokenReader, rules: Rules) -> Extend:
    """New fields for another message, after the word `extend`."""
    return Extend(reader.type_name(), _fields(reader, rules))


def _oneof(reader: TokenReader, rules: Rules) -> OneOf:
    name = reader.name()
    fields: list[Field] = []
    groups: list[Group] = []
    options: list[Option] = []
    for token in option_parser.members(reader, options):
        if token.text == "group":
            groups.append(_group(reader, rules, None))
        elif token.text in _LABELS or token.text == "map":
            reader.fail(f"{token.text!r} may not stand in a oneof", token)
        else:
            fields.append(_field(reader, None))
    return OneOf(name, tuple(fields), tuple(groups), tuple(options))


def enum(reader: TokenReader) -> EnumType:
    """An enum, after the word `enum`."""
    name = reader.name()
    constants: list[EnumConstant] = []
    options: list[Option] = []
    reserved: list[Reserved] = []
    for _ in option_parser.members(reader, options):
        if reader.accept("reserved"):
            reserved.append(_reserved(reader, ENUM_NUMBER_MAX))
        else:
            constants.append(_constant(reader))
    return EnumType(name, tuple(constants), tuple(options), tuple(reserved))


def _constant(reader: TokenReader) -> EnumConstant:
    name = reader.name()
    reader.expect("=")
    number = _bounded(reader, -ENUM_NUMBER_MAX - 1, ENUM_NUMBER_MAX)
    options = option_parser.bracketed(reader)
    reader.expect(";")
    return EnumConstant(name, number, options)


def _extensions(reader: TokenReader) -> Extensions:
    numbers = [_number_or_span(reader, NUMBER_MAX)]
    while reader.accept(","):
        numbers.append(_number_or_span(reader, NUMBER_MAX))
    options = option_parser.bracketed(reader)
    reader.expect(";")
    return Extensions(tuple(numbers), options)


def _reserved(reader: TokenReader, highest: int) -> Reserved:
    values: list[int | Span | str] = []
    while not values or reader.accept(","):
        token = reader.token
        if token.kind == "string":
            values.append(reader.string())
        elif token.text[:1].isalpha() or token.text[:1] == "_":
            values.append(reader.name())
        else:
            values.append(_number_or_span(reader, highest))
    reader.expect(";")
    return tuple(values)


def _number_or_span(reader: TokenReader, highest: int) -> int | Span:
    lowest = 1 if highest == NUMBER_MAX else -highest - 1
    first = _bounded(reader, lowest, highest)
    if not reader.accept("to"):
        return first
    return Span(first, highest if reader.accept("max") else _bounded(reader, first, highest))


def _bounded(reader: TokenReader, lowest: int, highest: int) -> int:
    token = reader.token
    number = reader.number()
    if not lowest <= number <= highest:
        reader.fail(f"{token.text[:40]} is out of range", token)
    return number
