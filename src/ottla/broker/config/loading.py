"""From `server.properties` and `--override name=value` to a `ServerConfig`, with errors that say where to look.

server.properties, line 7: Invalid value many for configuration num.partitions: Not a number of type INT
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from ottla.base.config import ConfigError, UnknownKey
from ottla.base.config.file import PropertiesError, parse_property_lines
from ottla.base.errors import OttlaError
from ottla.broker.config.older import DECIDING, replacements
from ottla.broker.config.provider import resolve
from ottla.broker.config.server_config import ServerConfig


class ConfigLoadError(OttlaError):
    """Settings that a node cannot start with; the message names file, line, key and reason."""


class Setting(NamedTuple):
    """A value and where it was said: `server.properties, line 7`, `--override`, a command-line option."""

    value: str
    place: str


class SettingSource:
    """Settings gathered from several places, later ones on top.

    >>> source = SettingSource()
    >>> source.add("num.partitions", "many", place="--override num.partitions")
    >>> source.describe(ConfigError("num.partitions", "many", "Not a number of type INT"))
    '--override num.partitions: Invalid value many for configuration num.partitions: Not a number of type INT'
    """

    def __init__(self, name: str = "") -> None:
        self.name: Final = name
        """The file that settings mostly come from, for errors about what is missing."""
        self.notes: Final[list[str]] = []
        """The changes to the settings, in a sentence each."""
        self.settings: Final[dict[str, Setting]] = {}

    def add(self, key: str, value: str, *, place: str) -> None:
        """Takes one setting."""
        self.settings[key] = Setting(value, place)

    def add_defaults(self, defaults: Mapping[str, str], *, place: str) -> None:
        """Takes settings that were not given so far."""
        for key, value in defaults.items():
            self.settings.setdefault(key, Setting(value, place))

    def add_file(self, path: str | Path) -> None:
        """Takes what a properties file says."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise ConfigLoadError(f"{path}: could not be read: {error.strerror}") from error
        try:
            found = parse_property_lines(_decoded(data))
        except PropertiesError as error:
            raise ConfigLoadError(f"{path}, {error}") from error
        for key, (value, line) in found.items():
            self.add(key, value, place=f"{path}, line {line}")

    def add_overrides(self, overrides: Iterable[str]) -> None:
        """Takes `name=value` texts."""
        for override in overrides:
            key, equals, value = override.partition("=")
            if not equals or not key.strip():
                raise ConfigLoadError(f"--override {key}: it should read name=value")
            # Without the value, which may be a secret under a misspelt name.
            self.add(key.strip(), value.strip(), place=f"--override {key.strip()}")

    def translate(self) -> None:
        """Puts what 4.3 has in place of settings of older Kafka that decide something, and notes it."""
        given = {key: setting.value for key, setting in self.settings.items()}
        read = []
        for key, change in replacements(given).items():
            if key not in DECIDING and not change.settings:
                continue
            old = self.settings.pop(key)
            for name, value in change.settings.items():
                self.add(name, value, place=old.place)
            news = ", ".join(f"{name}={value}" for name, value in change.settings.items())
            read.append(f"{key}={old.value} is read as {news}" if news else f"{key} is left out, since {change.reason}")
        if read:
            self.notes.append(f"{self.name}: settings of an older Kafka: {'; '.join(read)}")

    def config(self, *, strict: bool = False) -> ServerConfig:
        """The settings, checked; `strict` also refuses unknown names."""
        try:
            config = ServerConfig(resolve({key: setting.value for key, setting in self.settings.items()}))
        except ConfigError as error:
            raise ConfigLoadError(self.describe(error)) from error
        if strict and config.unknown:
            raise ConfigLoadError("\n".join(self.describe_unknown(unknown) for unknown in config.unknown))
        return config

    def describe(self, error: ConfigError) -> str:
        """An error with the place where its key was given, or the file that lacks it."""
        setting = self.settings.get(error.key)
        place = setting.place if setting is not None else self.name
        text = str(error) if error.key in str(error) else f"{error.key}: {error}"
        return f"{place}: {text}" if place else text

    def describe_unknown(self, unknown: UnknownKey) -> str:
        """An unknown name, with the place where it was given."""
        return f"{self.settings[unknown.name].place}: {unknown}"


def load_server_config(path: str | Path, overrides: Iterable[str] = (), *, strict: bool = False) -> ServerConfig:
    """Reads a properties file, `overrides` (`name=value`) on top; `ConfigLoadError` says what is wrong where."""
    source = SettingSource(str(path))
    source.add_file(path)
    source.add_overrides(overrides)
    return source.config(strict=strict)


def _decoded(data: bytes) -> str:
    """The text of a file: UTF-8, or what Java takes every properties file for."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
