"""Names of settings that are more than a key: with a listener's prefix, for plugins, and the synonyms of log settings.

`listener.name.internal.ssl.keystore.location` is `ssl.keystore.location` for the listener INTERNAL alone;
`listener.name.internal.scram-sha-256.sasl.jaas.config` is `sasl.jaas.config` for a mechanism of it.
"""

import re
from collections.abc import Mapping
from typing import Final

from ottla.broker.config.keys.quota import DYNAMIC_QUOTA_KEYS
from ottla.broker.config.keys.security.sasl import MECHANISM_SUFFIXES

_LISTENER_PREFIX: Final = re.compile(r"listener\.name\.[^.]*\.(.*)")
_FAMILIES: Final = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
_SYNONYMS: Final = {name: family for family in _FAMILIES for name in family} | {
    # The other way round it is no synonym: the scheduler's interval is a setting of its own.
    "log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
}
AUTHORIZER_NAMES: Final = frozenset({"super.users", "allow.everyone.if.no.acl.found"})
"""Settings of Kafka's own authorizer, which is a plugin to the node."""
_PREFIX_KEYS: Final = ("remote.log.storage.manager.impl.prefix", "remote.log.metadata.manager.impl.prefix")


def base_name(name: str) -> str | None:
    """The key that a name with a listener's prefix is about; None for a name without one.

    >>> base_name("listener.name.internal.max.connections"), base_name("max.connections")
    ('max.connections', None)
    """
    found = _LISTENER_PREFIX.fullmatch(name)
    return found[1] if found else None


def log_synonyms(name: str) -> tuple[str, ...]:
    """The names that provide a setting's value, the first that is given wins.

    >>> log_synonyms("log.roll.hours"), log_synonyms("num.partitions")
    (('log.roll.ms', 'log.roll.hours'), ('num.partitions',))
    """
    return _SYNONYMS.get(name, (name,))


def synonyms(name: str) -> tuple[str, ...]:
    """Like `log_synonyms`; a name with a listener's prefix also falls back to the key without it.

    >>> synonyms("listener.name.a.plain.sasl.jaas.config")
    ('listener.name.a.plain.sasl.jaas.config', 'sasl.jaas.config')
    """
    base = base_name(name)
    if base is None:
        return log_synonyms(name)
    return name, next((suffix for suffix in MECHANISM_SUFFIXES if base.endswith(suffix)), base)


def is_plugin_name(name: str, values: Mapping[str, object]) -> bool:
    """Whether a name that no key has is meant for a listener or a plugin, which is no reason for a warning."""
    prefixes = ("listener.name.", "config.providers.", *(str(values[key]) for key in _PREFIX_KEYS))
    return name.startswith(prefixes) or name in AUTHORIZER_NAMES or name in DYNAMIC_QUOTA_KEYS
