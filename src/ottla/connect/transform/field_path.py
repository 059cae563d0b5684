"""The path to one field: its name, or with `field.syntax.version=V2` names with dots between them.

A name with dots in it stands between backticks: `` `a.b`.c ``. A backtick within is written with a backslash.
"""

from typing import Final

from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigKey, Importance
from ottla.connect.config.validator import AnyOfIgnoringCase
from ottla.connect.data.schema import Field, Schema
from ottla.connect.data.struct import Struct
from ottla.connect.errors import InvalidConfigError
from ottla.connect.transform.transform import field_value, require_map, require_struct

FIELD_SYNTAX: Final = ConfigKey(
    "field.syntax.version",
    ConfigType.STRING,
    "V1",
    "V1: the name of a field. V2: names with dots between them reach into nested fields; backticks quote dots.",
    importance=Importance.HIGH,
    validator=AnyOfIgnoringCase("V1", "V2"),
)
_PURPOSE: Final = "nested field access"


class FieldPath:
    """The steps to a field.

    >>> FieldPath("`a.b`.c", "V2").steps
    ['a.b', 'c']
    """

    def __init__(self, path: str, version: str) -> None:
        self.path: Final = path
        self.steps: Final = [path] if version.upper() == "V1" else _steps(path)

    def field_of(self, schema: Schema) -> Field | None:
        """The field that the path leads to, by the schema."""
        field: Field | None = None
        for step in self.steps:
            field = schema.field(step)
            if field is None:
                return None
            schema = field.schema
        return field

    def in_map(self, value: dict[str, object]) -> object:
        """The value at the end of the path; None where it breaks off."""
        found: object = value
        for index, step in enumerate(self.steps):
            if index and found is None:
                return None
            found = (require_map(found, _PURPOSE) if index else value).get(step)
        return found

    def in_struct(self, value: Struct, *, replace_null: bool) -> object:
        """The value at the end of the path; None where it breaks off."""
        found: object = value
        for index, step in enumerate(self.steps):
            if found is None:
                return None
            current = require_struct(found, _PURPOSE)
            if current.schema.field(step) is None:
                return None
            last = index == len(self.steps) - 1
            found = field_value(current, step, replace_null=replace_null or not last)
        return found


def _steps(path: str) -> list[str]:
    steps: list[str] = []
    position = 0
    while position < len(path):
        if path[position] == "`":
            step, position = _quoted(path, position)
            steps.append(step)
            continue
        end = path.find(".", position)
        steps.append(path[position:] if end < 0 else path[position:end])
        position = len(path) if end < 0 else end + 1
    if path.endswith("."):
        steps.append("")
    return steps


def _quoted(path: str, opened: int) -> tuple[str, int]:
    """The step between backticks, and where the next one begins."""
    made = ""
    start = position = opened + 1
    while True:
        position = path.find("`", position)
        if position < 0:
            raise _incomplete(path, opened)
        escaped = path[position - 1] == "\\"
        if position == len(path) - 1:
            if escaped:
                raise _incomplete(path, opened)
            return made + path[start:position], position + 1
        if path[position + 1] != ".":
            position += 1
        elif escaped:
            made += path[start : position - 1] + "`"
            position += 1
            start = position
        else:
            return made + path[start:position], position + 2


def _incomplete(path: str, opened: int) -> InvalidConfigError:
    return InvalidConfigError(
        f"Incomplete backtick pair in path: [{path}], "
        f"consider adding a backslash before backtick at position {opened} to escape it"
    )
