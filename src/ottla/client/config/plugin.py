"""Turns what a class-valued setting says into the object that it means.

Users write an object, a class, a callable, `module:Class`, or one of the names that the setting's owner knows, Java's
class names among them. A plug-in that has settings of its own declares them in `config_keys` (a `ConfigKeys`, or just
a list of `ConfigKey`), so that a misspelt one is refused as any other; `settings` hands it all settings.
"""

import importlib
from collections.abc import Iterable, Mapping

from ottla.base.config import ConfigError, ConfigKey, ConfigKeys


def resolve(name: str, value: object, known: Mapping[str, object]) -> object:
    """The object that the setting `name` means by `value`; `ConfigError` if it means none."""
    if isinstance(value, str):
        value = _find(name, value, known)
    if isinstance(value, type):
        try:
            value = value()
        except TypeError as error:
            raise ConfigError(name, value, f"the class can't be made without arguments: {error}") from error
    return value


def declared_keys(values: Iterable[object]) -> ConfigKeys:
    """The settings that the plug-ins `values` declare as their own; what can't be found yet declares none."""
    found: dict[str, ConfigKey] = {}
    for value in values:
        for plugin in value if isinstance(value, (list, tuple)) else (value,):
            for owner in map(_imported, _places(plugin)) if isinstance(plugin, str) else (plugin,):
                found |= {key.name: key for key in _keys_of(owner)}
    return ConfigKeys(found.values())


def _places(text: str) -> list[str]:
    """One `module:Class`, or several with commas between them."""
    return [part.strip() for part in text.split(",")]


def _keys_of(owner: object) -> tuple[ConfigKey, ...]:
    declared = getattr(owner, "config_keys", ())
    keys = tuple(declared.values() if isinstance(declared, ConfigKeys) else declared)
    for key in keys:
        if not isinstance(key, ConfigKey):
            name = owner.__name__ if isinstance(owner, type) else type(owner).__name__
            raise TypeError(f"{name}.config_keys has to list objects of ConfigKey, not {key!r}")
    return keys


def _find(name: str, text: str, known: Mapping[str, object]) -> object:
    found = known.get(text)
    if found is not None and not isinstance(found, str):
        return found
    place = found if isinstance(found, str) else text
    module, separator, attribute = place.partition(":")
    if not separator:
        names = ", ".join(name for name in known if "." not in name)
        hint = f"one of {names}, or `module:Class`" if names else "`module:Class`"
        java = "a Java class that has no counterpart here; " if text.count(".") > 1 else ""
        raise ConfigError(name, text, f"{java}Expected an object, a class, {hint}")
    value = _imported(place)
    if value is None:
        raise ConfigError(name, text, f"there is no {attribute} to import from {module}")
    return value


def _imported(place: str) -> object:
    """The object that `module:Class` names; None if there is none."""
    module, _, attribute = place.partition(":")
    if not attribute:
        return None
    try:
        value: object = importlib.import_module(module)
    except ImportError:
        return None
    for part in attribute.split("."):
        value = getattr(value, part, None)
    return value
