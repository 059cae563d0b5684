"""Short forms of `ConfigKey` for the subject modules beside this one."""

from ottla.base.config import ConfigKey, Dynamic
from ottla.base.config.check import Check
from ottla.base.config_type import ConfigType


def fixed(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that is read once, when the node starts."""
    return ConfigKey(name, kind, default, check=check, doc=doc)


def per_broker(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that can be changed while the node runs, for this node alone."""
    return ConfigKey(name, kind, default, check=check, doc=doc, dynamic=Dynamic.PER_BROKER)


def cluster_wide(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that can be changed while the node runs, for one node or for all."""
    return ConfigKey(name, kind, default, check=check, doc=doc, dynamic=Dynamic.CLUSTER_WIDE)


def internal(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that is accepted but neither described nor documented by Kafka."""
    return ConfigKey(name, kind, default, check=check, doc=doc, internal=True)


def ours(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that Apache Kafka does not have."""
    return ConfigKey(name, kind, default, check=check, doc=doc, extension=True)
