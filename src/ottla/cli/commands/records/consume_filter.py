"""Filters of records: `value.amount > 100 and (key == "a" or headers.trace ~ "^0a")`.

Grammar, loosest first: `or`, `and`, `not`, parentheses, comparisons. A comparison is FIELD OP LITERAL, with == != < <=
> >=, ~ and !~ for regular expressions found anywhere, `contains`, `startswith`; a FIELD alone asks whether it is there
and neither null nor false. Compared with a number, a text counts as the number that it spells. What is absent equals
nothing.
"""

import json
import operator
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from ottla.cli.commands.records.consume_field import ABSENT, Field, RecordView, parse_field
from ottla.cli.output.advice import CommandError

Predicate: TypeAlias = Callable[[RecordView], bool]
"""Whether a record is wanted."""

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<op>==|!=|<=|>=|!~|[=<>~()])|"""
    r"""(?P<word>[^\s"'=<>~()!]+))"""
)
Order: TypeAlias = Callable[[Any, Any], bool]
_ORDER: Final[dict[str, Order]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OPERATORS: Final = ("==", "=", "!=", "~", "!~", "contains", "startswith", *_ORDER)
_CONSTANTS: Final[dict[str, object]] = {"true": True, "false": False, "null": None}


class FilterError(CommandError):
    """A filter that can't be understood; says where."""


def parse_filter(text: str) -> Predicate:
    """The predicate that a text describes."""
    parser = _Parser(text)
    predicate = parser.either()
    if parser.kind is not None:
        raise parser.error("`and` or `or`")
    return predicate


class _Parser:
    """Recursive descent over the tokens; `kind` and `token` are the next one."""

    def __init__(self, text: str) -> None:
        self._text: Final = text
        self._at = 0
        self.kind: str | None = None
        self.token = ""
        self._start = 0
        self._next()

    def _next(self) -> str:
        taken = self.token
        rest = self._text[self._at :]
        if not rest.strip():
            self.kind, self.token, self._start = None, "", len(self._text)
            return taken
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            self._start = self._at
            raise self.error("something else")
        self.kind, self._at = found.lastgroup, found.end()
        self.token = found[found.lastgroup or 0]
        self._start = self._at - len(self.token)
        return taken

    def error(self, wanted: str) -> FilterError:
        """Says what was expected instead of the present token."""
        seen = f"at `{self._text[self._start :]}`" if self._start < len(self._text) else "at its end"
        return FilterError(f"the filter {self._text!r} needs {wanted} {seen}; for example: value.amount > 100")

    def _word(self, *words: str) -> bool:
        if self.kind == "word" and self.token in words:
            self._next()
            return True
        return False

    def either(self) -> Predicate:
        parts = [self._both()]
        while self._word("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else lambda view: any(part(view) for part in parts)

    def _both(self) -> Predicate:
        parts = [self._negation()]
        while self._word("and"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else lambda view: all(part(view) for part in parts)

    def _negation(self) -> Predicate:
        if self._word("not"):
            inner = self._negation()
            return lambda view: not inner(view)
        if self.token == "(" and self.kind == "op":
            self._next()
            inner = self.either()
            if self.token != ")" or self.kind != "op":
                raise self.error("a `)`")
            self._next()
            return inner
        return self._comparison()

    def _comparison(self) -> Predicate:
        if self.kind != "word":
            raise self.error("a field")
        field = parse_field(self._next())
        if self.kind is None or self.kind == "text" or self.token not in _OPERATORS:
            return lambda view: _is_there(field.of(view))
        name = self._next()
        if self.kind not in ("text", "word"):
            raise self.error("a value")
        literal = _literal(self.token, is_quoted=self.kind == "text")
        self._next()
        return _compare(field, name, literal)


def _is_there(value: object) -> bool:
    return value is not ABSENT and value is not None and value is not False


def _literal(token: str, *, is_quoted: bool) -> object:
    if is_quoted:
        return re.sub(r"\\(.)", r"\1", token[1:-1])
    if token in _CONSTANTS:
        return _CONSTANTS[token]
    number = _number(token)
    return token if number is None else number


def _compare(field: Field, name: str, literal: object) -> Predicate:
    if name in ("~", "!~"):
        pattern, is_wanted = _pattern(str(literal)), name == "~"
        return lambda view: (pattern.search(_text(field.of(view))) is not None) is is_wanted
    if name == "contains":
        return lambda view: _contains(field.of(view), literal)
    if name == "startswith":
        return lambda view: _text(field.of(view)).startswith(_text(literal))
    if name in _ORDER:
        order = _ORDER[name]
        return lambda view: _ordered(field.of(view), literal, order)
    if name == "!=":
        return lambda view: not _equals(field.of(view), literal)
    return lambda view: _equals(field.of(view), literal)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise FilterError(
            f"{text!r} is no regular expression: {error}; write a backslash twice within quotes"
        ) from None


def _contains(value: object, literal: object) -> bool:
    if isinstance(value, list):
        return any(_equals(item, literal) for item in value)
    return _text(literal) in _text(value)


def _equals(value: object, literal: object) -> bool:
    if literal is None or isinstance(literal, bool):
        return value is literal or (isinstance(literal, bool) and value == _text(literal))
    if isinstance(literal, (int, float)):
        number = _number(value)
        return number is not None and number == literal
    return value not in (ABSENT, None) and _text(value) == literal


def _ordered(value: object, literal: object, order: Order) -> bool:
    if isinstance(literal, (int, float)) and not isinstance(literal, bool):
        number = _number(value)
        return number is not None and order(number, literal)
    return value not in (ABSENT, None) and order(_text(value), _text(literal))


def _number(value: object) -> int | float | None:
    if isinstance(value, (int, float)):
        return None if isinstance(value, bool) else value
    if not isinstance(value, str):
        return None
    try:
        return int(value)
    except ValueError:
        pass
    try:
        return float(value)
    except ValueError:
        return None


def _text(value: object) -> str:
    """A value as text; JSON's own words for its constants, and nothing for what is not there."""
    if isinstance(value, str):
        return value
    if value is None or value is ABSENT:
        return ""
    return json.dumps(value, ensure_ascii=False)
