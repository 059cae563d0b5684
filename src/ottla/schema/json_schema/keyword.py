"""The values of keywords, with an error that leads to the keyword when a value is of the wrong kind."""

from decimal import Decimal
from typing import TypeVar

from ottla.schema.error import InvalidSchemaError
from ottla.schema.json_schema.node import Number
from ottla.schema.json_schema.pattern import check_pattern
from ottla.schema.json_text import Json, sorted_keys, write_json

_T = TypeVar("_T")


def kind_of(value: Json) -> str:
    """The JSON type of a value, as messages name it."""
    if isinstance(value, bool):
        return "boolean"
    if value is None:
        return "null"
    for kind, name in ((dict, "object"), (list, "array"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "number"


def wrong_kind(expected: str, value: Json, path: str) -> InvalidSchemaError:
    """The error for a value of another kind."""
    return InvalidSchemaError(f"{path}: expected {expected}, found {kind_of(value)}", path)


class Keywords:
    """One schema object; the getters return None for a keyword that is not there."""

    __slots__ = ("path", "value")

    def __init__(self, value: dict[str, Json], path: str) -> None:
        self.value = value
        self.path = path

    def __contains__(self, name: str) -> bool:
        return name in self.value

    def at(self, name: str) -> str:
        """The path of a keyword."""
        return f"{self.path}/{name}"

    def number(self, name: str) -> Number | None:
        """A number."""
        if name not in self.value:
            return None
        value = self.value[name]
        if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
            return value
        raise wrong_kind("number", value, self.at(name))

    def integer(self, name: str) -> Number | None:
        """A whole number."""
        value = self.number(name)
        if isinstance(value, Decimal) and value != value.to_integral_value():
            raise wrong_kind("integer", value, self.at(name))
        return value

    def text(self, name: str) -> str | None:
        """A string."""
        return self._get(name, str, "string")

    def boolean(self, name: str) -> bool | None:
        """True or false."""
        return self._get(name, bool, "boolean")

    def array(self, name: str) -> list[Json] | None:
        """An array."""
        return self._get(name, list, "array")

    def mapping(self, name: str) -> dict[str, Json] | None:
        """An object."""
        return self._get(name, dict, "object")

    def texts(self, name: str) -> list[str] | None:
        """An array of strings."""
        values = self.array(name)
        return None if values is None else [text_in(item, f"{self.at(name)}/{at}") for at, item in enumerate(values)]

    def pattern(self, name: str) -> str | None:
        """A regular expression."""
        value = self.text(name)
        if value is not None:
            check_pattern(value, self.at(name))
        return value

    def _get(self, name: str, kind: type[_T], expected: str) -> _T | None:
        if name not in self.value:
            return None
        value = self.value[name]
        if isinstance(value, kind):
            return value
        raise wrong_kind(expected, value, self.at(name))


def text_in(value: Json, path: str) -> str:
    """A string inside of a keyword."""
    if isinstance(value, str):
        return value
    raise wrong_kind("string", value, path)


def value_key(value: Json) -> str:
    """Equal for equal values, whatever the order of keys."""
    return write_json(sorted_keys(value))
