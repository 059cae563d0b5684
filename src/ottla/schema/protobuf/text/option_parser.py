"""Reads options: `option a.b = 1;`, `[deprecated = true]` and the text format inside of braces.

A key that occurs again in braces makes a list of its values, as the text format has it for repeated fields.
"""

import re
from collections.abc import Iterator
from typing import Final

from ottla.schema.protobuf.element import Literal, LiteralKind, Option, OptionList, OptionMap, OptionValue
from ottla.schema.protobuf.text.lexer import Token
from ottla.schema.protobuf.text.token_reader import TokenReader

DEPTH_MAX: Final = 32
"""Messages in messages and braces in braces, as in protoc."""

_NUMBER_START: Final = frozenset("0123456789-.+")
_OPTION_NAME: Final = re.compile(r"\.?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")


def statement(reader: TokenReader) -> Option:
    """`name = value;`, after the word `option`."""
    option = _option(reader)
    reader.expect(";")
    return option


def members(reader: TokenReader, options: list[Option]) -> Iterator[Token]:
    """Yields the first token of each statement in braces, which the caller reads; collects options itself."""
    reader.expect("{")
    while not reader.accept("}"):
        if reader.accept(";"):
            continue
        if reader.accept("option"):
            options.append(statement(reader))
        else:
            yield reader.token


def bracketed(reader: TokenReader) -> tuple[Option, ...]:
    """`[name = value, …]`, or nothing."""
    if not reader.accept("["):
        return ()
    options = [_option(reader)]
    while reader.accept(","):
        options.append(_option(reader))
    reader.expect("]")
    return tuple(options)


def _option(reader: TokenReader) -> Option:
    path: tuple[str, ...] = ()
    is_extension = reader.accept("(")
    if is_extension:
        name = reader.type_name()
        reader.expect(")")
        path = _path(reader)
    else:
        name = reader.word()
        if _OPTION_NAME.fullmatch(name) is None:
            reader.fail(f"{name[:40]!r} is no name of an option")
    reader.expect("=")
    return Option(name, _value(reader, 0), is_extension, path)


def _path(reader: TokenReader) -> tuple[str, ...]:
    """`.a.(b.c).d` after an extension's name."""
    names: list[str] = []
    while reader.token.kind == "word" and reader.token.text.startswith("."):
        token = reader.take()
        *inner, last = token.text.split(".")[1:]
        if not all(inner):
            reader.fail(f"{token.text[:40]!r} is no path in an option", token)
        names += inner
        if last:
            names.append(last)
        else:
            reader.expect("(")
            names.append(f"({reader.type_name()})")
            reader.expect(")")
    return tuple(names)


def _value(reader: TokenReader, depth: int) -> OptionValue:
    if depth > DEPTH_MAX:
        reader.fail("options are nested too deeply")
    if reader.token.kind == "string":
        return Literal(LiteralKind.STRING, reader.string())
    if reader.accept("{"):
        return _map(reader, "}", depth)
    if reader.accept("<"):
        return _map(reader, ">", depth)
    if reader.accept("["):
        return _list(reader, depth)
    return literal(reader.word())


def literal(word: str) -> Literal:
    """A number, boolean or name.

    >>> literal("-1").kind.value, literal("true").kind.value, literal("SPEED").kind.value
    ('number', 'boolean', 'name')
    """
    if word[:1] in _NUMBER_START:
        return Literal(LiteralKind.NUMBER, word)
    return Literal(LiteralKind.BOOLEAN if word in ("true", "false") else LiteralKind.NAME, word)


def _map(reader: TokenReader, close: str, depth: int) -> OptionMap:
    values: dict[str, list[OptionValue]] = {}
    written_as_list = set()
    while not reader.accept(close):
        key = _key(reader)
        if not reader.accept(":") and reader.token.text not in ("{", "<"):
            reader.fail("expected ':'")
        value = _value(reader, depth + 1)
        if isinstance(value, OptionList):
            written_as_list.add(key)
            values.setdefault(key, []).extend(value.items)
        else:
            values.setdefault(key, []).append(value)
        if not reader.accept(","):
            reader.accept(";")
    return OptionMap(
        tuple(
            (key, items[0] if len(items) == 1 and key not in written_as_list else OptionList(tuple(items)))
            for key, items in values.items()
        )
    )


def _key(reader: TokenReader) -> str:
    if not reader.accept("["):
        return reader.word()
    name = reader.type_name()
    reader.expect("]")
    return f"[{name}]"


def _list(reader: TokenReader, depth: int) -> OptionList:
    items: list[OptionValue] = []
    while not reader.accept("]"):
        if items:
            reader.expect(",")
        items.append(_value(reader, depth + 1))
    return OptionList(tuple(items))
