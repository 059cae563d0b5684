"""Reads tokens one after the other, and says where and why when one does not fit."""

import re
from typing import Final, NoReturn

from ottla.schema.error import InvalidSchemaError
from ottla.schema.protobuf.text.lexer import Token, syntax_error, tokens, unquoted

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TYPE: Final = re.compile(r"\.?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_INTEGER: Final = re.compile(r"-?(?:0[xX][0-9A-Fa-f]{1,16}|[0-9]{1,20})")


class TokenReader:
    """A position in a text's tokens."""

    def __init__(self, text: str) -> None:
        self._text: Final = text
        self._tokens: Final = list(tokens(text))
        self._next = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._next]

    def fail(self, reason: str, token: Token | None = None) -> NoReturn:
        """Raises the error for the given token, or for the next."""
        raise syntax_error(self._text, (token or self.token).offset, reason)

    def take(self) -> Token:
        """The next token, which is then behind us."""
        token = self._tokens[self._next]
        if token.kind == "end":
            self.fail("unexpected end of file")
        self._next += 1
        return token

    def accept(self, text: str) -> bool:
        """Takes the next token if it is this sign or word."""
        token = self._tokens[self._next]
        if token.text != text or token.kind == "string":
            return False
        self._next += 1
        return True

    def expect(self, text: str) -> None:
        """Takes this sign or word, or fails."""
        if not self.accept(text):
            self.fail(f"expected {text!r} but found {self.token.text[:40]!r}")

    def word(self) -> str:
        """Takes a word."""
        token = self.take()
        if token.kind != "word":
            self.fail(f"expected a word but found {token.text[:40]!r}", token)
        return token.text

    def name(self) -> str:
        """Takes a simple name."""
        return self._matching(_NAME, "a name")

    def type_name(self) -> str:
        """Takes a name with dots."""
        return self._matching(_TYPE, "a type")

    def number(self) -> int:
        """Takes an integer; octal as in C."""
        text = self._matching(_INTEGER, "a number")
        sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
        if digits[:2].lower() == "0x":
            return sign * int(digits, 16)
        if len(digits) > 1 and digits.startswith("0"):
            try:
                return sign * int(digits, 8)
            except ValueError:
                self.fail(f"{text} is no octal number")
        return sign * int(digits)

    def string(self) -> str:
        """Takes a string; strings beside each other are one."""
        token = self.take()
        if token.kind != "string":
            self.fail(f"expected a string but found {token.text[:40]!r}", token)
        parts = [self._unquoted(token)]
        while self.token.kind == "string":
            parts.append(self._unquoted(self.take()))
        # Bytes of one character may come from strings beside each other.
        return "".join(parts).encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")

    def _unquoted(self, token: Token) -> str:
        try:
            return unquoted(token.text)
        except InvalidSchemaError as error:
            self.fail(str(error), token)

    def _matching(self, pattern: re.Pattern[str], what: str) -> str:
        token = self.take()
        if token.kind != "word" or pattern.fullmatch(token.text) is None:
            self.fail(f"expected {what} but found {token.text[:40]!r}", token)
        return token.text
