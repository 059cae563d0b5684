"""Prints a file as canonical .proto text, character by character as Confluent's registry does.

Within a message: reserved, options, fields, oneofs, groups, extensions, extends, messages, enums, with an empty line
before each kind. Nested blocks are indented by two blanks, their empty lines as well. Comments are gone.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from ottla.schema.protobuf.element import (
    NUMBER_MAX,
    EnumConstant,
    EnumType,
    Extend,
    Extensions,
    Field,
    File,
    Group,
    Literal,
    LiteralKind,
    Message,
    OneOf,
    Option,
    OptionList,
    OptionMap,
    OptionValue,
    Reserved,
    Rpc,
    Service,
    Span,
)

_ESCAPES: Final = {
    **{chr(code): f"\\{code:03o}" for code in (*range(32), 127)},
    **{chr(0xDC00 + byte): f"\\{byte:03o}" for byte in range(128, 256)},
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
}
_ESCAPING: Final = str.maketrans(_ESCAPES)


def write(file: File) -> str:
    """The file's canonical text."""
    parts: list[str] = []
    if file.edition is not None:
        parts.append(f'edition = "{file.edition}";\n')
    elif file.syntax is not None:
        parts.append(f'syntax = "{file.syntax}";\n')
    if file.package is not None:
        parts.append(f"package {file.package};\n")
    imports = [f"import {quoted(path)};\n" for path in file.imports]
    imports += [f"import public {quoted(path)};\n" for path in file.public_imports]
    blocks: list[Iterable[str]] = [
        imports,
        map(_option_statement, file.options),
        [*map(_message, file.messages), *map(_enum, file.enums)],
        map(_extend, file.extends),
        map(_service, file.services),
    ]
    for block in blocks:
        lines = "".join(block)
        if lines:
            parts += ("\n", lines)
    return "".join(parts)


def quoted(text: str) -> str:
    """Text in double quotes; what would not survive is escaped.

    >>> quoted('a "b"')
    '"a \\\\"b\\\\""'
    """
    return f'"{text.translate(_ESCAPING)}"'


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.rstrip("\n").split("\n"))


def _message(message: Message) -> str:
    parts = [f"message {message.name} {{"]
    blocks: list[Sequence[str]] = [
        [_reserved(values) for values in message.reserved],
        [_option_statement(option) for option in message.options],
        [_field(field) for field in message.fields],
        [_oneof(oneof) for oneof in message.oneofs],
        [_group(group) for group in message.groups],
        [_extensions(extensions) for extensions in message.extensions],
        [_extend(extend) for extend in message.extends],
        [*map(_message, message.messages), *map(_enum, message.enums)],
    ]
    for block in blocks:
        if block:
            parts.append("\n")
            parts.extend(map(_indented, block))
    parts.append("}\n")
    return "".join(parts)


def _enum(enum: EnumType) -> str:
    parts = [f"enum {enum.name} {{"]
    if enum.reserved or enum.options or enum.constants:
        parts.append("\n")
    parts.extend(_indented(_reserved(values)) for values in enum.reserved)
    parts.extend(_indented(_option_statement(option)) for option in enum.options)
    parts.extend(_indented(_constant(constant)) for constant in enum.constants)
    parts.append("}\n")
    return "".join(parts)


def _constant(constant: EnumConstant) -> str:
    return f"{constant.name} = {constant.number}{_brackets(constant.options)};\n"


def _oneof(oneof: OneOf) -> str:
    parts = [f"oneof {oneof.name} {{"]
    blocks: list[list[str]] = [
        [_option_statement(option) for option in oneof.options],
        [_field(field) for field in oneof.fields],
        [_group(group) for group in oneof.groups],
    ]
    for block in blocks:
        if block:
            parts.append("\n")
            parts.extend(map(_indented, block))
    parts.append("}\n")
    return "".join(parts)


def _group(group: Group) -> str:
    label = "" if group.label is None else f"{group.label} "
    body = "".join(_indented(_field(field)) for field in group.fields)
    return f"{label}group {group.name} = {group.number} {{" + (f"\n{body}" if body else "") + "}\n"


def _extend(extend: Extend) -> str:
    body = "".join(_indented(_field(field)) for field in extend.fields)
    return f"extend {extend.name} {{" + (f"\n{body}" if body else "") + "}\n"


def _field(field: Field) -> str:
    label = "" if field.label is None else f"{field.label} "
    options = list(field.options)
    if field.default is not None:
        options.append(Option("default", field.default))
    if field.json_name is not None:
        options.append(Option("json_name", Literal(LiteralKind.STRING, field.json_name)))
    return f"{label}{field.type} {field.name} = {field.number}{_brackets(options)};\n"


def _extensions(extensions: Extensions) -> str:
    return f"extensions {', '.join(map(_number, extensions.numbers))}{_brackets(extensions.options)};\n"


def _reserved(values: Reserved) -> str:
    texts = (f'"{value}"' if isinstance(value, str) else _number(value) for value in values)
    return f"reserved {', '.join(texts)};\n"


def _number(value: int | Span) -> str:
    if isinstance(value, int):
        return str(value)
    return f"{value.first} to {'max' if value.last >= NUMBER_MAX else value.last}"


def _service(service: Service) -> str:
    parts = [f"service {service.name} {{"]
    if service.options:
        parts.append("\n")
        parts.extend(_indented(_option_statement(option)) for option in service.options)
    if service.rpcs:
        parts.append("\n")
        parts.extend(_indented(_rpc(rpc)) for rpc in service.rpcs)
    parts.append("}\n")
    return "".join(parts)


def _rpc(rpc: Rpc) -> str:
    request = f"{'stream ' if rpc.is_request_streamed else ''}{rpc.request}"
    response = f"{'stream ' if rpc.is_response_streamed else ''}{rpc.response}"
    options = "".join(_indented(_option_statement(option)) for option in rpc.options)
    return f"rpc {rpc.name} ({request}) returns ({response})" + (f" {{\n{options}}}" if options else "") + ";\n"


def _option_statement(option: Option) -> str:
    return f"option {_option(option)};\n"


def _brackets(options: Sequence[Option]) -> str:
    if not options:
        return ""
    if len(options) == 1:
        return f" [{_option(options[0])}]"
    return f" [\n{_separated([_option(option) for option in options])}]"


def _option(option: Option) -> str:
    name = f"({option.name})" if option.is_extension else option.name
    return f"{'.'.join((name, *option.path))} = {_outer_value(option.value)}"


def _outer_value(value: OptionValue) -> str:
    """A list of one item stays on its line here, but not inside of braces."""
    if isinstance(value, OptionList) and len(value.items) == 1:
        return f"[{_value(value.items[0])}]"
    return _value(value)


def _value(value: OptionValue) -> str:
    if isinstance(value, Literal):
        return quoted(value.text) if value.kind is LiteralKind.STRING else value.text
    if isinstance(value, OptionMap):
        return f"{{\n{_separated([f'{key}: {_value(item)}' for key, item in value.entries])}}}"
    return f"[\n{_separated([_value(item) for item in value.items])}]"


def _separated(items: Sequence[str]) -> str:
    last = len(items) - 1
    return "".join(_indented(item if index == last else f"{item},") for index, item in enumerate(items))
