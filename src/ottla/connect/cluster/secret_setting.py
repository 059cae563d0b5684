"""Which settings of a worker are secrets: passwords of clients of Kafka and of the registry, whatever stands before."""

from typing import Final

from ottla.base.config_type import ConfigType
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.registry.setting import REGISTRY_KEYS

_NAMES: Final = frozenset(
    name
    for keys in (ADMIN_KEYS, PRODUCER_KEYS, CONSUMER_KEYS, REGISTRY_KEYS)
    for name, key in keys.items()
    if key.type is ConfigType.PASSWORD
)


def is_secret(name: str) -> bool:
    """Whether a setting of that name is kept out of topics, answers and logs.

    >>> is_secret("producer.sasl.jaas.config"), is_secret("value.converter.basic.auth.user.info")
    (True, True)
    >>> is_secret("producer.linger.ms")
    False
    """
    parts = name.split(".")
    return "password" in name or "secret" in name or any(".".join(parts[at:]) in _NAMES for at in range(len(parts)))
