"""Short forms of `ConfigKey` for the subject modules beside this one, and the check that only clients need."""

from ottla.base.config import ConfigKey, Scope
from ottla.base.config.check import Check
from ottla.base.config_type import ConfigType
from ottla.base.frozen import frozen


def key(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that Kafka's clients have, too."""
    return ConfigKey(name, kind, default, check=check, doc=doc, scope=Scope.CLIENT)


def ours(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that Apache Kafka does not have."""
    return ConfigKey(name, kind, default, check=check, doc=doc, scope=Scope.CLIENT, extension=True)


@frozen
class Nothing:
    """No value at all: a setting of Java's that would be dangerous to accept without acting on it."""

    reason: str
    text: str = "[]"

    def __call__(self, value: object) -> None:
        """Refuses any value."""
        if value:
            raise ValueError(f"not supported: {self.reason}")
