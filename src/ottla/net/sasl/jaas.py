"""Reads JAAS: the form in which Java is told of login modules, in `sasl.jaas.config` and in files with sections.

The grammar is what Kafka and Java take: words, or texts in quotes with backslashes; comments as in C. An error says
where it is, and never repeats a value: it may be a password.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ottla.base.config import ConfigError
from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen

_TOKEN: Final = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/)|(?P<word>[\w.$-]+)"""
    r"""|"(?P<double>(?:[^"\\\n]|\\.)*)"|'(?P<single>(?:[^'\\\n]|\\.)*)'|(?P<sign>[=;{}])""",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v"}
_FLAGS: Final = frozenset({"required", "requisite", "sufficient", "optional"})
_END: Final = ""


class JaasError(OttlaError):
    """A text that is no JAAS: what is wrong, and where."""


@frozen
class JaasConfig:
    """A login module and its options."""

    module: str
    options: Mapping[str, str]

    def __repr__(self) -> str:
        return f"JaasConfig(module={self.module!r}, options={sorted(self.options)})"


class _Token(NamedTuple):
    kind: str
    text: str
    place: str


def parse_jaas(text: str) -> JaasConfig:
    """The login module that `text` configures. Raises `ConfigError`, which does not repeat the text.

    >>> parse_jaas('a.b.PlainLoginModule required username="a" password="b;c";').options["password"]
    'b;c'
    """
    try:
        return parse_entry(text)
    except JaasError as error:
        reason = f"{error}; or set sasl.username and sasl.password instead"
        raise ConfigError("sasl.jaas.config", "***", reason) from None


def parse_entry(text: str) -> JaasConfig:
    """The one login module of a setting. Raises `JaasError`."""
    reader = _Reader(text)
    entry = reader.entry()
    if reader.next.kind != _END:
        raise reader.error("one login module is expected, and here is another; one value holds one")
    return entry


def parse_file(text: str) -> dict[str, list[JaasConfig]]:
    """The sections of a JAAS file: `KafkaServer { module required option=value; };`. Raises `JaasError`.

    >>> [entry.module for entry in parse_file("KafkaServer { a.B required x=1; c.D optional; };")["KafkaServer"]]
    ['a.B', 'c.D']
    """
    reader = _Reader(text)
    sections: dict[str, list[JaasConfig]] = {}
    while reader.next.kind != _END:
        name = reader.value("a section's name").text
        if name in sections:
            raise reader.error(f"the section {name} is there twice")
        reader.sign("{")
        entries = sections[name] = []
        while reader.next.text != "}":
            entries.append(reader.entry())
        reader.sign("}")
        reader.sign(";")
    return sections


class _Reader:
    """Tokens with one to look ahead at."""

    def __init__(self, text: str) -> None:
        self._tokens: Final = _tokens(text)
        self.next = next(self._tokens)

    def entry(self) -> JaasConfig:
        """A module, its flag, its options and the semicolon behind them."""
        module = self.value("a login module").text
        flag = self.next
        if flag.kind != "word" or flag.text.lower() not in _FLAGS:
            raise self.error("it must begin with a login module and `required`")
        self._advance()
        options: dict[str, str] = {}
        while self.next.text != ";" or self.next.kind != "sign":
            name = self.value("an option, or the semicolon that ends the entry,").text
            self.sign("=")
            options[name] = self.value("an option's value").text
        self._advance()
        return JaasConfig(module, options)

    def value(self, what: str) -> _Token:
        """The next word or text."""
        found = self.next
        if found.kind not in ("word", "text"):
            raise self.error(f"{what} is expected")
        self._advance()
        return found

    def sign(self, sign: str) -> None:
        """The next token must be this sign."""
        if self.next.kind != "sign" or self.next.text != sign:
            raise self.error(f"`{sign}` is expected")
        self._advance()

    def error(self, reason: str) -> JaasError:
        """The error at the next token."""
        return JaasError(f"{self.next.place}: {reason}")

    def _advance(self) -> None:
        self.next = next(self._tokens)


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        place = _place(text, position)
        if found is None:
            raise JaasError(f"{place}: neither a word nor a text in quotes; put the value in quotes")
        position = found.end()
        if found["word"] is not None:
            yield _Token("word", found["word"], place)
        elif found["sign"] is not None:
            yield _Token("sign", found["sign"], place)
        elif found["blank"] is None:
            quoted = found["double"] if found["double"] is not None else found["single"]
            yield _Token("text", _ESCAPE.sub(_unescaped, quoted), place)
    while True:
        yield _Token(_END, "", _place(text, len(text)))


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code, 8) & 0xFF) if code[0] in "01234567" else _ESCAPED.get(code, code)


def _place(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    return f"line {line}, column {position - text.rfind(chr(10), 0, position)}"
