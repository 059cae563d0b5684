"""A client's settings, read once from what its user gave: Kafka's dotted names in a mapping, or keyword arguments.

Owns how names are matched and values are typed. What a class-valued setting stands for is `plugin`'s to find out.

Invariants: every key of the client has a value; a name that no key has was refused, with the one most like it.
"""

import enum
import os
from collections.abc import Mapping, Sequence
from typing import Final, Protocol, TypeVar, runtime_checkable

from ottla.base.config import ConfigError, ConfigKey, ConfigKeys
from ottla.base.config_type import ConfigType, Password
from ottla.client.config import other_client
from ottla.client.config.plugin import declared_keys, resolve

_T = TypeVar("_T")

OBJECT_LISTS: Final = frozenset({"interceptor.classes", "partition.assignment.strategy", "metric.reporters"})
"""Lists whose items may be Python objects."""


class UnknownSettingError(ConfigError):
    """A setting that no such client has; `nearest` is the one that was probably meant."""

    def __init__(self, key: str, nearest: str | None, advice: str | None = None) -> None:
        hint = advice or (f"did you mean {nearest}?" if nearest else "no setting has a name like it")
        super().__init__(key, "...", hint)
        self.nearest = nearest
        self.args = (f"unknown setting {key}: {hint}",)


class ClientSettings:
    """All settings of one client, typed.

    >>> from ottla.client.config.producer import PRODUCER_KEYS
    >>> settings = ClientSettings.of(PRODUCER_KEYS, {"bootstrap.servers": "a:9092,b:9092"}, linger_ms=20)
    >>> settings.list("bootstrap.servers"), settings.integer("linger.ms"), settings.string("acks")
    (('a:9092', 'b:9092'), 20, 'all')
    >>> ClientSettings.of(PRODUCER_KEYS, bootstrap_server="a:9092")
    Traceback (most recent call last):
    ottla.client.config.settings.UnknownSettingError: unknown setting bootstrap_server: did you mean bootstrap_servers?
    """

    __slots__ = ("_values", "given", "keys")

    def __init__(self, keys: ConfigKeys, given: Mapping[str, object]) -> None:
        self.keys: Final = keys
        self.given: Final = dict(given)
        """The user's settings by dotted name, unparsed."""
        plain = {name: value for name, value in self.given.items() if not _is_object(keys, name, value)}
        for name in self.given.keys() - plain.keys():
            _check_object(name, self.given[name])
        defaults = {name for name in self.given.keys() - plain.keys() if name in keys}
        parsed = ConfigKeys(key for key in keys.values() if key.name not in defaults).parse(
            {name: _plain(keys, name, value) for name, value in plain.items()}
        )
        self._values: Final = {**parsed.values, **{name: _shape(name, self.given[name]) for name in defaults}}

    @classmethod
    def of(
        cls, keys: ConfigKeys, config: Mapping[str, object] | None = None, /, **settings: object
    ) -> "ClientSettings":
        """The settings of a client that has `keys`; keyword arguments win over the mapping.

        Raises `ConfigError` for a value that does not fit, `UnknownSettingError` for a name that is none.
        """
        if config is not None and not isinstance(config, Mapping):
            raise TypeError(no_mapping(config, is_consumer="group.id" in keys))
        given = dict(config or {})
        given.update({name.replace("_", "."): value for name, value in settings.items()})
        declared = declared_keys(given.get(key.name) for key in keys.values() if _takes_objects(key))
        keys = keys | ConfigKeys(key for key in declared.values() if key.name not in keys)
        for name in given:
            if name not in keys:
                raise _unknown(keys, name, settings)
        return cls(keys, given)

    def __contains__(self, name: object) -> bool:
        """Whether such a client has this setting at all."""
        return name in self._values

    def is_given(self, name: str) -> bool:
        """Whether the user set it."""
        return name in self.given

    def get(self, name: str) -> object:
        """The value as it is: typed, or the object that was given."""
        return self._values[name]

    def integer(self, name: str) -> int:
        """The value of an INT, SHORT or LONG."""
        return self._typed(name, int)

    def optional_integer(self, name: str) -> int | None:
        """The value of an INT, SHORT or LONG that may be absent."""
        return None if self._values[name] is None else self.integer(name)

    def number(self, name: str) -> float:
        """The value of a DOUBLE."""
        return float(self._typed(name, (int, float)))

    def boolean(self, name: str) -> bool:
        """The value of a BOOLEAN."""
        return self._typed(name, bool)

    def string(self, name: str) -> str:
        """The value of a STRING."""
        return self._typed(name, str)

    def optional_string(self, name: str) -> str | None:
        """The value of a STRING that may be absent; empty counts as absent."""
        return None if not self._values[name] else self.string(name)

    def secret(self, name: str) -> str | None:
        """The text of a PASSWORD, to be used and not to be shown."""
        value = self._values[name]
        return value.secret if isinstance(value, Password) else None

    def list(self, name: str) -> tuple[str, ...]:
        """The items of a LIST of strings."""
        return tuple(self._typed(name, (tuple, list)))

    def plugin(self, name: str, known: Mapping[str, object] | None = None) -> object | None:
        """The object that a class-valued setting stands for, None if it stands for none.

        A class is instantiated without arguments, `module:Class` is imported first; `known` maps names of ours and
        names of Java's classes to objects, classes or `module:Class`. An object with a `configure` method is called
        with these settings. Raises `ConfigError` for a name that leads nowhere.
        """
        value = self._values[name]
        return None if value is None else self._configured(resolve(name, value, known or {}))

    def plugins(self, name: str, known: Mapping[str, object] | None = None) -> tuple[object, ...]:
        """The objects that the items of a list stand for, as `plugin` finds them."""
        items = self._values[name]
        assert isinstance(items, tuple)
        return tuple(self._configured(resolve(name, item, known or {})) for item in items)

    def _configured(self, plugin: object) -> object:
        if isinstance(plugin, Configurable):
            plugin.configure(self)
        return plugin

    def but(self, **settings: object) -> "ClientSettings":
        """A copy with some settings given otherwise (underscores for dots)."""
        changed = {name.replace("_", "."): value for name, value in settings.items()}
        return ClientSettings(self.keys, {**self.given, **changed})

    def _typed(self, name: str, kind: type[_T] | tuple[type[_T], ...]) -> _T:
        value = self._values[name]
        if not isinstance(value, kind):
            raise TypeError(f"{name} is {value!r}")
        return value


@runtime_checkable
class Configurable(Protocol):
    """A plug-in that wants to know the client's settings."""

    def configure(self, settings: ClientSettings) -> None:
        """Called once, before the plug-in is used."""
        ...


def _takes_objects(key: ConfigKey) -> bool:
    return key.type is ConfigType.CLASS or key.name in OBJECT_LISTS


def _is_object(keys: ConfigKeys, name: str, value: object) -> bool:
    """Whether `value` is a plug-in itself rather than the text that names one."""
    if name not in keys or value is None:
        return False
    if name in OBJECT_LISTS:
        return not isinstance(value, str) and not _are_strings(value)
    return keys[name].type is ConfigType.CLASS and not isinstance(value, str)


def _are_strings(value: object) -> bool:
    return isinstance(value, Sequence) and all(isinstance(item, str) for item in value)


def _check_object(name: str, value: object) -> None:
    if isinstance(value, (bool, int, float, bytes)):
        raise ConfigError(name, value, "Expected an object, a class, a callable or `module:Class`")


def _shape(name: str, value: object) -> object:
    """A list of plug-ins as a tuple, also if it is only one; a single one as it is."""
    if name in OBJECT_LISTS:
        return tuple(value) if isinstance(value, (list, tuple)) else (value,)
    return value


def _plain(keys: ConfigKeys, name: str, value: object) -> object:
    """Values that Python programs naturally write, as the key's type takes them: `acks=1`, a `Path`, an enum."""
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if keys[name].type is ConfigType.STRING and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


def _unknown(keys: ConfigKeys, name: str, keywords: Mapping[str, object]) -> UnknownSettingError:
    """The refusal, in the spelling that the user chose."""
    is_keyword = name.replace(".", "_") in keywords

    def spell(name: str) -> str:
        return name.replace(".", "_") if is_keyword else name

    nearest = keys.nearest(name)
    advice = other_client.advice(name, keys.__contains__, spell) or _misplaced(name)
    return UnknownSettingError(spell(name), nearest and spell(nearest), advice)


def _misplaced(name: str) -> str | None:
    """Whose setting it is, if another kind of client has it."""
    from ottla.client.config.admin import ADMIN_KEYS
    from ottla.client.config.consumer import CONSUMER_KEYS
    from ottla.client.config.producer import PRODUCER_KEYS

    kinds = {"producers": PRODUCER_KEYS, "consumers": CONSUMER_KEYS, "admin clients": ADMIN_KEYS}
    ours = other_client.RENAMED.get(name, name)
    having = [kind for kind, keys in kinds.items() if ours in keys]
    if not having:
        return None
    return f"only {' and '.join(having)} have it" + (f", as {ours}" if ours != name else "")


def no_mapping(given: object, *, is_consumer: bool) -> str:
    """Advice for `Producer("localhost:9092")` and `Consumer("orders")`."""
    said = f"settings are keyword arguments or a mapping, not {given!r}: write "
    if isinstance(given, str) and (":" in given or not is_consumer):
        return f'{said}bootstrap_servers="{given}"'
    topics = [given] if isinstance(given, str) else given
    return f'{said}bootstrap_servers="HOST:PORT"' + (f", then subscribe({topics!r})" if is_consumer else "")
