"""The records of the offsets topic, in Kafka Connect's form: `["connector",{partition}]` and `{offset}`.

Partitions are told apart by their JSON text, so it is written the one way that Kafka writes it: without blanks.
"""

import json
from collections.abc import Mapping

from ottla.base.frozen import frozen
from ottla.connect.converter.json_writer import WriteOption, writer
from ottla.connect.errors import DataError

_WRITE = writer(None, WriteOption())


@frozen
class StoredOffset:
    """A connector's position in one partition of its source; `offset` is None where it was removed."""

    connector: str
    partition: dict[str, object]
    offset: dict[str, object] | None


def encode(
    connector: str, partition: Mapping[str, object], offset: Mapping[str, object] | None
) -> tuple[bytes, bytes | None]:
    """Key and value of the record.

    >>> encode("lines", {"filename": "a.txt"}, {"position": 12})
    (b'["lines",{"filename":"a.txt"}]', b'{"position":12}')
    """
    key = _WRITE([connector, _plain(partition)])
    return key.encode(), None if offset is None else _WRITE(_plain(offset)).encode()


def decode(key: bytes, value: bytes | None) -> StoredOffset:
    """Decodes a record; raises `DataError` if it is no offset.

    >>> decode(b'["lines",{"filename":"a.txt"}]', None)
    StoredOffset(connector='lines', partition={'filename': 'a.txt'}, offset=None)
    """
    try:
        name, partition = json.loads(key)
        offset = None if value is None else json.loads(value)
    except (ValueError, TypeError) as error:
        raise DataError(f"{key!r} is no key of a source offset") from error
    if not isinstance(name, str) or not isinstance(partition, dict) or not isinstance(offset, (dict, type(None))):
        raise DataError(f"{key!r} is no key of a source offset")
    return StoredOffset(name, partition, offset)


def _plain(values: Mapping[str, object]) -> dict[str, object]:
    """A copy of the values; raises `DataError` for one that JSON without schema cannot hold."""
    for name, value in values.items():
        if not isinstance(value, (str, int, float, type(None))):
            raise DataError(
                f"Field '{name}' of a source partition or offset must be a string, a number, a boolean or null"
            )
    return dict(values)
