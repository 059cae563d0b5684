"""Config providers: `${file:PATH:KEY}`, `${env:NAME}` and `${dir:PATH:FILE}` in settings stand for what is elsewhere.

Settings are stored and shown with their placeholders; values are put in where a client, connector or task starts. Kafka
passes on a placeholder that it cannot replace, as if it were the password; here it is an error that names it.
"""

import importlib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol

from ottla.base.config.file import PropertiesError, parse_properties
from ottla.connect.errors import InvalidConfigError

_PLACEHOLDER: Final = re.compile(r"\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}")
_PREFIX: Final = "config.providers"


class Provider(Protocol):
    """A source of values for placeholders. Own classes are named `module:Class`, and get their `param.` settings."""

    def value(self, path: str, key: str) -> str:
        """The value. Raises `InvalidConfigError`."""
        ...


class FileProvider:
    """Looks values up in properties files."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._allowed: Final = _allowed_paths(given)

    def value(self, path: str, key: str) -> str:
        """The value of `key` in the file at `path`."""
        try:
            found = parse_properties(_permitted(path, self._allowed).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, PropertiesError) as error:
            raise InvalidConfigError(f"Could not read properties from file {path}: {_reason(error)}") from None
        if key not in found:
            raise InvalidConfigError(f"The file {path} has no {key}")
        return found[key]


class DirectoryProvider:
    """Takes the text of a whole file as the value, as secrets are mounted into containers."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._allowed: Final = _allowed_paths(given)

    def value(self, path: str, key: str) -> str:
        """The text of the file `key` in the directory `path`."""
        if "/" in key or key in ("", ".", ".."):
            raise InvalidConfigError(f"{key} is no file of the directory {path}")
        try:
            return _permitted(f"{path}/{key}", self._allowed).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidConfigError(f"Could not read file {path}/{key}: {_reason(error)}") from None


class EnvironmentProvider:
    """A variable of the process."""

    def __init__(self, given: Mapping[str, str], environment: Mapping[str, str] | None = None) -> None:
        pattern = given.get("allowlist.pattern")
        self._environment: Final = os.environ if environment is None else environment
        try:
            self._allowed: Final = None if pattern is None else re.compile(pattern)
        except re.error as error:
            raise InvalidConfigError.of("allowlist.pattern", pattern, str(error)) from None

    def value(self, path: str, key: str) -> str:
        """The variable `key`."""
        if path:
            raise InvalidConfigError("${env:…} takes the name of a variable alone, and no path")
        if self._allowed is not None and self._allowed.fullmatch(key) is None:
            raise InvalidConfigError(f"The variable {key} is not in the allow-list")
        if key not in self._environment:
            raise InvalidConfigError(f"There is no variable {key}")
        return self._environment[key]


_CLASSES: Final[dict[str, Callable[[Mapping[str, str]], Provider]]] = {
    "org.apache.kafka.common.config.provider.FileConfigProvider": FileProvider,
    "org.apache.kafka.common.config.provider.DirectoryConfigProvider": DirectoryProvider,
    "org.apache.kafka.common.config.provider.EnvVarConfigProvider": EnvironmentProvider,
}


class ConfigProviders:
    """All that a worker has, by their aliases.

    >>> providers = ConfigProviders({"env": EnvironmentProvider({}, {"PASSWORD": "x"})})
    >>> providers.resolve({"a": "user:${env:PASSWORD}", "b": "${topic}-${other:thing}"})
    {'a': 'user:x', 'b': '${topic}-${other:thing}'}
    """

    def __init__(self, providers: Mapping[str, Provider]) -> None:
        self._providers: Final = providers

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> "ConfigProviders":
        """Those that a worker's settings name. Raises `InvalidConfigError`."""
        found: dict[str, Provider] = {}
        for alias in (each.strip() for each in settings.get(_PREFIX, "").split(",")):
            if not alias:
                continue
            name = settings.get(f"{_PREFIX}.{alias}.class", "").strip()
            make = next((each for full, each in _CLASSES.items() if name in (full, full.rpartition(".")[2])), None)
            make = make or _own(name)
            if make is None:
                sentence = f"There are {', '.join(_CLASSES)}, and module:Class"
                raise InvalidConfigError.of(f"{_PREFIX}.{alias}.class", name, sentence)
            prefix = f"{_PREFIX}.{alias}.param."
            found[alias] = make(
                {key.removeprefix(prefix): value for key, value in settings.items() if key.startswith(prefix)}
            )
        return cls(found)

    def resolve(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Settings with values in place of placeholders. Raises `InvalidConfigError`."""
        return {name: self._resolved(name, value) for name, value in settings.items()}

    def has_placeholder(self, value: str | None) -> bool:
        """Whether a value contains a placeholder of one of the providers."""
        return value is not None and any(found[1] in self._providers for found in _PLACEHOLDER.finditer(value))

    def _resolved(self, name: str, value: str) -> str:
        def replaced(found: re.Match[str]) -> str:
            provider = self._providers.get(found[1])
            if provider is None:
                return found[0]
            try:
                return provider.value(found[2] or "", found[3])
            except InvalidConfigError as error:
                raise InvalidConfigError.of(name, found[0], str(error)) from None

        return _PLACEHOLDER.sub(replaced, value) if "${" in value else value


def _own(name: str) -> Callable[[Mapping[str, str]], Provider] | None:
    """A class of anybody's."""
    module, colon, attribute = name.partition(":")
    if not colon:
        return None
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ImportError as error:
        raise InvalidConfigError(f"{module} cannot be imported: {error}") from error
    if not isinstance(found, type) or not callable(getattr(found, "value", None)):
        raise InvalidConfigError(f"{name} is no class with a method value(path, key)")
    return found


def _allowed_paths(given: Mapping[str, str]) -> tuple[Path, ...] | None:
    listed = given.get("allowed.paths")
    if not listed:
        return None
    paths = tuple(Path(each.strip()) for each in listed.split(",") if each.strip())
    for path in paths:
        if not path.is_absolute():
            raise InvalidConfigError.of("allowed.paths", path, "It must be an absolute path")
        if not path.exists():
            raise InvalidConfigError.of("allowed.paths", path, "There is no such path")
    return tuple(path.resolve() for path in paths)


def _permitted(path: str, allowed: tuple[Path, ...] | None) -> Path:
    # Links are followed first: one that leads out of an allowed directory is not allowed.
    found = Path(path).resolve()
    if allowed is not None and not any(found.is_relative_to(each) for each in allowed):
        raise InvalidConfigError(f"{path} is not below allowed.paths")
    return found


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
