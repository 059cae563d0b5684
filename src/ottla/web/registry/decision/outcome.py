"""The outcome of a decision: records to write, in this order, and the answer once they are written."""

from collections.abc import Mapping
from typing import Generic, TypeAlias, TypeVar

from ottla.base.frozen import frozen
from ottla.web.registry.state.record_key import RecordKey, encode_key
from ottla.web.registry.state.record_value import encode_schema, encode_value
from ottla.web.registry.state.stored_schema import StoredSchema

T = TypeVar("T")
Record: TypeAlias = tuple[bytes, bytes | None]
"""Key and value; without a value the key is forgotten."""


@frozen
class Outcome(Generic[T]):
    """Records and an answer. Without records the answer is already true."""

    answer: T
    records: tuple[Record, ...] = ()


def record(key: RecordKey, value: Mapping[str, object] | StoredSchema | None) -> Record:
    """A record with Confluent's bytes."""
    if isinstance(value, StoredSchema):
        return encode_key(key), encode_schema(value)
    return encode_key(key), None if value is None else encode_value(value)
