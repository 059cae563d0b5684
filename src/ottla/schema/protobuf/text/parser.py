"""Reads a .proto file: proto2, proto3 and editions. Knows the grammar, not what names mean.

Hand-written because a registry needs the tree as the author wrote it, in memory, and an error instead of a repair:
libraries for .proto text either go on after an error or read files through a compiler that drops what it resolves.
"""

from typing import Final

from ottla.schema.protobuf.element import EnumType, Extend, File, Message, Option, Rpc, Service
from ottla.schema.protobuf.text import body_parser, option_parser
from ottla.schema.protobuf.text.token_reader import TokenReader

_EDITIONS: Final = ("2023", "2024")
_SYNTAXES: Final = ("proto2", "proto3")


def parse_file(text: str) -> File:
    """The file, or InvalidSchemaError with line and column."""
    return _FileParser(text).file()


class _FileParser:
    """Collects the declarations of one file by their kind."""

    def __init__(self, text: str) -> None:
        self._reader: Final = TokenReader(text)
        self._package: str | None = None
        self._imports: list[str] = []
        self._public_imports: list[str] = []
        self._options: list[Option] = []
        self._messages: list[Message] = []
        self._enums: list[EnumType] = []
        self._extends: list[Extend] = []
        self._services: list[Service] = []

    def file(self) -> File:
        """All of it."""
        syntax, edition = self._header()
        rules = body_parser.Rules(is_proto3=syntax == "proto3", needs_label=edition is None and syntax != "proto3")
        while self._reader.token.kind != "end":
            self._declaration(rules)
        return File(
            syntax,
            edition,
            self._package,
            tuple(self._imports),
            tuple(self._public_imports),
            tuple(self._options),
            tuple(self._messages),
            tuple(self._enums),
            tuple(self._extends),
            tuple(self._services),
        )

    def _header(self) -> tuple[str | None, str | None]:
        reader = self._reader
        word = reader.token
        if word.text not in ("syntax", "edition"):
            return None, None
        reader.take()
        reader.expect("=")
        value = reader.string()
        if value not in (_SYNTAXES if word.text == "syntax" else _EDITIONS):
            reader.fail(f"unexpected {word.text}: {value[:40]}", word)
        reader.expect(";")
        return (value, None) if word.text == "syntax" else (None, value)

    def _declaration(self, rules: body_parser.Rules) -> None:
        reader = self._reader
        if reader.accept(";"):
            return
        start = reader.token
        match reader.word():
            case "package":
                self._package = reader.type_name()
                reader.expect(";")
            case "import":
                self._import()
            case "option":
                self._options.append(option_parser.statement(reader))
            case "message":
                self._messages.append(body_parser.message(reader, rules))
            case "enum":
                self._enums.append(body_parser.enum(reader))
            case "export" | "local" if reader.token.text in ("message", "enum"):
                # Edition 2024's visibility: who may import a type does not change what it is.
                self._declaration(rules)
            case "extend":
                self._extends.append(body_parser.extend(reader, rules))
            case "service":
                self._services.append(_service(reader))
            case "syntax" | "edition":
                reader.fail(f"'{start.text}' element must be the first declaration in a file", start)
            case other:
                reader.fail(f"unexpected {other[:40]!r}", start)

    def _import(self) -> None:
        reader = self._reader
        kind = reader.word() if reader.token.kind == "word" else ""
        if kind not in ("", "public", "weak", "option"):
            reader.fail(f"unexpected import {kind[:40]}")
        path = reader.string()
        reader.expect(";")
        if kind == "public":
            self._public_imports.append(path)
        elif kind == "":
            self._imports.append(path)


def _service(reader: TokenReader) -> Service:
    name = reader.name()
    rpcs: list[Rpc] = []
    options: list[Option] = []
    for _ in option_parser.members(reader, options):
        reader.expect("rpc")
        rpcs.append(_rpc(reader))
    return Service(name, tuple(rpcs), tuple(options))


def _rpc(reader: TokenReader) -> Rpc:
    name = reader.name()
    is_request_streamed, request = _rpc_type(reader)
    reader.expect("returns")
    is_response_streamed, response = _rpc_type(reader)
    options: list[Option] = []
    if reader.token.text == "{":
        for _ in option_parser.members(reader, options):
            reader.expect("option")
    else:
        reader.expect(";")
    return Rpc(name, request, response, is_request_streamed, is_response_streamed, tuple(options))


def _rpc_type(reader: TokenReader) -> tuple[bool, str]:
    reader.expect("(")
    name = reader.type_name()
    is_streamed = name == "stream" and reader.token.kind == "word"
    if is_streamed:
        name = reader.type_name()
    reader.expect(")")
    return is_streamed, name
