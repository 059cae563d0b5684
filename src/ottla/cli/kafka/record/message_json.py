"""Messages of the protocol as JSON, with Kafka's names for their fields.

A field stands there if the version has it; a tagged one only if it is not at its default, as on the wire. Bytes are
base64, ids their usual text.
"""

import base64
import json
from typing import Any, Final

from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.definition import Struct
from ottla.protocol.struct_type import Field, Kind

_PLAIN: Final = frozenset({Kind.BOOL, Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64, Kind.UINT16, Kind.UINT32})
_OTHER_FIRST: Final = {"kraft": "kRaft"}
"""First words that Kafka spells with a capital inside."""


def message_json(message: Struct, version: int) -> dict[str, Any]:
    """The message as an object for `json_text`.

    >>> from ottla.protocol.group_log.offset import OffsetCommitKey
    >>> json_text(message_json(OffsetCommitKey(group="g", topic="orders", partition=1), 0))
    '{"group":"g","topic":"orders","partition":1}'
    """
    found: dict[str, Any] = {}
    for name, field in message.definition.items():
        value = getattr(message, name)
        if not field.versions.includes(version) or (field.tag is not None and field.is_default(value)):
            continue
        found[camel_case(name)] = _value(field, value, version)
    return found


def record_json(record: CoordinatorRecord) -> dict[str, Any]:
    """A coordinator's record: type and data of its key, version and data of its value."""
    key = {"type": record.key.type_id, "data": message_json(record.key, record.key.valid_versions.highest)}
    if record.value is None:
        return {"key": key, "value": None}
    return {"key": key, "value": {"version": record.version, "data": message_json(record.value, record.version)}}


def json_text(value: object) -> str:
    """JSON without blanks."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def camel_case(name: str) -> str:
    """Kafka's spelling of one of our names.

    >>> camel_case("leader_epoch")
    'leaderEpoch'
    """
    first, *others = name.split("_")
    return _OTHER_FIRST.get(first, first) + "".join(other.capitalize() for other in others)


def _value(field: Field, value: Any, version: int) -> Any:
    if value is None:
        return None
    if field.kind is not Kind.ARRAY:
        return _scalar(field.kind, value, version)
    assert field.element is not None
    return [_scalar(field.element, item, version) for item in value]


def _scalar(kind: Kind, value: Any, version: int) -> Any:
    if kind in _PLAIN or kind in (Kind.STRING, Kind.FLOAT64):
        return value
    if kind is Kind.STRUCT:
        return message_json(value, version)
    if kind is Kind.UUID:
        return str(value)
    return base64.b64encode(bytes(value)).decode()
