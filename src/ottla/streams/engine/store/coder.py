"""A store's keys and values as bytes, with the topic that serdes are told: the store's changelog."""

from typing import Any

from ottla.streams.engine.store.spec import SerdeRole, StoreContext, StoreSpec
from ottla.streams.errors import StreamsError
from ottla.streams.serde import Serde


def changelog_topic(application_id: str, store: str) -> str:
    """The name of a store's changelog.

    >>> changelog_topic("shop", "counts")
    'shop-counts-changelog'
    """
    return f"{application_id}-{store}-changelog"


class Coder:
    """Encodes and decodes for one store."""

    def __init__(self, spec: StoreSpec, context: StoreContext) -> None:
        self._topic = changelog_topic(context.application_id, spec.name)
        self.key_serde = _found(spec.key_serde or context.default_serde(SerdeRole.KEY), spec, SerdeRole.KEY)
        self.value_serde = _found(spec.value_serde or context.default_serde(SerdeRole.VALUE), spec, SerdeRole.VALUE)

    def key_bytes(self, key: Any) -> bytes:
        """The key's bytes; None is no key of a store."""
        data = self.key_serde.serialize(self._topic, (), key)
        if data is None:
            raise StreamsError("a store's key cannot be None")
        return data

    def key(self, data: bytes) -> Any:
        """The key of these bytes."""
        return self.key_serde.deserialize(self._topic, (), data)

    def value_bytes(self, value: Any) -> bytes | None:
        """The value's bytes."""
        return None if value is None else self.value_serde.serialize(self._topic, (), value)

    def value(self, data: bytes) -> Any:
        """The value of these bytes."""
        return self.value_serde.deserialize(self._topic, (), data)


def _found(serde: Serde[Any] | None, spec: StoreSpec, role: SerdeRole) -> Serde[Any]:
    if serde is None:
        raise StreamsError(
            f"the store {spec.name} has no {role.value} serde: give one with Materialized.with_{role.value}_serde, or "
            f"set default.{role.value}.serde"
        )
    return serde
