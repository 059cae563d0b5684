"""Definitions of settings as Connect describes them: type, default, importance, group, order, recommended values.

`ConfigDef.parse` reads a configuration or refuses it at the first mistake; `ConfigDef.validate` lists every mistake, as
`PUT /connector-plugins/{type}/config/validate` shows them. Texts are Kafka's.
"""

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Final

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType, Password
from ottla.base.frozen import frozen
from ottla.connect.config.validator import Distinct, Validator, shown
from ottla.connect.errors import InvalidConfigError


class Importance(enum.Enum):
    """The importance of a setting, for forms and documentation."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class Width(enum.Enum):
    """The width of a setting in a form."""

    NONE = "NONE"
    SHORT = "SHORT"
    MEDIUM = "MEDIUM"
    LONG = "LONG"


Recommend = Callable[[str, Mapping[str, object]], list[object]]
"""Values that fit a setting, given its name and what else is configured."""


@frozen
class ConfigKey:
    """One setting."""

    name: str
    type: ConfigType
    default: object = REQUIRED
    doc: str = ""
    importance: Importance = field(default=Importance.MEDIUM, kw_only=True)
    validator: Validator | None = field(default=None, kw_only=True)
    group: str | None = field(default=None, kw_only=True)
    order: int = field(default=-1, kw_only=True)
    width: Width = field(default=Width.NONE, kw_only=True)
    display: str | None = field(default=None, kw_only=True)
    recommend: Recommend | None = field(default=None, kw_only=True)
    default_text: str | None = field(default=None, kw_only=True)
    """The default as Kafka shows it where it is a class."""

    @property
    def display_name(self) -> str:
        """The label in a form."""
        return self.display or self.name

    def parse(self, raw: object) -> object:
        """The value that `raw` stands for; limits are the validator's."""
        if raw is None:
            return None
        given = raw.strip() if isinstance(raw, str) else raw
        try:
            return self.type.parse(given)
        except ValueError as error:
            raise InvalidConfigError.of(self.name, shown(raw), str(error)) from None

    def render(self, value: object) -> str | None:
        """A parsed value as text; a secret is hidden."""
        return "[hidden]" if isinstance(value, Password) else self.type.render(value)


@frozen
class ConfigValue:
    """The validated value of a setting: its text, its errors, and recommended values."""

    name: str
    value: str | None
    errors: tuple[str, ...]
    recommended: tuple[str | None, ...] = ()
    visible: bool = True


class ConfigDef:
    """Settings in the order of their definition; the last one of a name counts.

    >>> batch = ConfigDef(ConfigKey("batch.size", ConfigType.INT, 2000))
    >>> batch.parse({"batch.size": " 10 ", "other": "x"}), batch.parse({})
    ({'batch.size': 10}, {'batch.size': 2000})
    >>> batch.validate({"batch.size": "ten"})[0].errors
    ('Invalid value ten for configuration batch.size: Not a number of type INT',)
    """

    def __init__(self, *keys: ConfigKey) -> None:
        self.keys: Final = {key.name: key for key in keys}

    @property
    def groups(self) -> list[str]:
        """The groups in the order in which they first occur."""
        return list(dict.fromkeys(key.group for key in self.keys.values() if key.group is not None))

    def extended(self, keys: Iterable[ConfigKey]) -> "ConfigDef":
        """These settings and more."""
        return ConfigDef(*self.keys.values(), *keys)

    def parse(self, given: Mapping[str, object]) -> dict[str, object]:
        """The values of all settings; `InvalidConfigError` with the first thing that is wrong."""
        values: dict[str, object] = {}
        for key in self.keys.values():
            if key.name not in given and key.default is REQUIRED:
                raise InvalidConfigError(_missing(key.name))
            value = key.parse(given[key.name]) if key.name in given else key.default
            if isinstance(key.validator, Distinct) and isinstance(value, tuple):
                # Kafka forgives doubled items where a configuration is used, and names them where it is validated.
                value = tuple(dict.fromkeys(value))
            if key.validator is not None:
                key.validator(key.name, value)
            values[key.name] = value
        return values

    def validate(self, given: Mapping[str, str | None]) -> list[ConfigValue]:
        """Every setting with what is wrong with it."""
        found = {key.name: self._examined(key, given) for key in self.keys.values()}
        parsed: dict[str, object] = {name: value for name, (value, _) in found.items()}
        return [
            ConfigValue(key.name, key.render(value), errors, _recommended(key, parsed))
            for key, (value, errors) in ((self.keys[name], outcome) for name, outcome in found.items())
        ]

    def _examined(self, key: ConfigKey, given: Mapping[str, str | None]) -> tuple[object, tuple[str, ...]]:
        value: object = None
        errors: list[str] = []
        if key.name in given:
            try:
                value = key.parse(given[key.name])
            except InvalidConfigError as error:
                errors.append(str(error))
        elif key.default is REQUIRED:
            errors.append(_missing(key.name))
        else:
            value = key.default
        if key.validator is not None:
            try:
                key.validator(key.name, value)
            except InvalidConfigError as error:
                errors.append(str(error))
        return value, tuple(errors)


def _missing(name: str) -> str:
    return f'Missing required configuration "{name}" which has no default value.'


def _recommended(key: ConfigKey, parsed: Mapping[str, object]) -> tuple[str | None, ...]:
    return tuple(key.render(value) for value in key.recommend(key.name, parsed)) if key.recommend is not None else ()
