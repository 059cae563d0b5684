"""`${provider:path:key}` in settings: secrets that a file, a directory or the environment holds (KIP-297).

`config.providers=env` with `config.providers.env.class=…EnvVarConfigProvider` lets `${env:SECRET}` stand for the
variable. Kafka's own three providers are known by their class names; any other class is refused, as nothing could
run it. What is resolved is not looked at again: a secret may hold a `$`.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from ottla.base.config import ConfigError
from ottla.base.config.file import PropertiesError, parse_properties

_REFERENCE: Final = re.compile(r"\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}")
_NAMES: Final = "config.providers"

Lookup = Callable[[str, str, Mapping[str, str]], str | None]
"""The value of a key at a path, given the provider's own parameters."""


def _from_environment(path: str, key: str, parameters: Mapping[str, str]) -> str | None:
    allowed = re.compile(parameters.get("allowlist.pattern", ".*"))
    return os.environ.get(key) if allowed.fullmatch(key) else None


def _from_file(path: str, key: str, parameters: Mapping[str, str]) -> str | None:
    return parse_properties(_read(path, parameters)).get(key)


def _from_directory(path: str, key: str, parameters: Mapping[str, str]) -> str | None:
    if "/" in key or key in (".", ".."):
        return None
    return _read(f"{path}/{key}", parameters)


def _read(path: str, parameters: Mapping[str, str]) -> str:
    allowed = parameters.get("allowed.paths")
    place = Path(path).resolve()
    if allowed is not None and not any(place.is_relative_to(Path(part).resolve()) for part in allowed.split(",")):
        raise ValueError(f"{path} is not within allowed.paths")
    try:
        return place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"could not read {path}: {error}") from error


_PACKAGE: Final = "org.apache.kafka.common.config.provider"
_PROVIDERS: Final[Mapping[str, Lookup]] = {
    f"{_PACKAGE}.EnvVarConfigProvider": _from_environment,
    f"{_PACKAGE}.FileConfigProvider": _from_file,
    f"{_PACKAGE}.DirectoryConfigProvider": _from_directory,
}


def resolve(given: Mapping[str, str]) -> dict[str, str]:
    """`given` with every reference replaced by what it refers to; `ConfigError` if there is no such thing.

    A `${…}` whose first word is no provider stays as it is, as in Kafka.
    """
    names = [name.strip() for name in given.get(_NAMES, "").split(",") if name.strip()]
    lookups = {name: _lookup(name, given) for name in names}
    return {key: _resolved(key, text, lookups) if "${" in text else text for key, text in given.items()}


def _lookup(name: str, given: Mapping[str, str]) -> Callable[[str, str], str | None]:
    key = f"{_NAMES}.{name}.class"
    if key not in given:
        raise ConfigError(_NAMES, name, f"{key} is missing")
    provider = _PROVIDERS.get(given[key])
    if provider is None:
        raise ConfigError(key, given[key], f"there are only {', '.join(_PROVIDERS)}")
    prefix = f"{_NAMES}.{name}.param."
    parameters = {key.removeprefix(prefix): text for key, text in given.items() if key.startswith(prefix)}
    return lambda path, wanted: provider(path, wanted, parameters)


def _resolved(key: str, text: str, lookups: Mapping[str, Callable[[str, str], str | None]]) -> str:
    def replace(found: re.Match[str]) -> str:
        name, path, wanted = found[1], found[2] or "", found[3]
        if name not in lookups:
            return found[0]
        try:
            value = lookups[name](path, wanted)
        except (ValueError, PropertiesError, re.error) as error:
            raise ConfigError(key, found[0], str(error)) from error
        return found[0] if value is None else value

    return _REFERENCE.sub(replace, text)
