"""A record on its way into a batch: what can be appended as it is, and how many bytes it takes at most."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from ottla.client.producer.append import UNUSUAL, OnDelivery
from ottla.client.record import Header, Headers
from ottla.protocol.records.batch import HEADER_BYTES

RECORD_OVERHEAD_BYTES: Final = 21
"""The most that a record's length, attributes, deltas and field lengths take."""


class NewRecord(NamedTuple):
    """The arguments of `Accumulator.append`; without a partition a record goes where the topic's lane says."""

    topic: str
    value: bytes | None
    key: bytes | None
    partition: int | None = None
    timestamp_ms: int | None = None
    headers: Sequence[Header] | None = None
    on_delivery: OnDelivery | None = None

    @property
    def bytes_max(self) -> int:
        """The bytes that the record takes at most, alone in a batch."""
        return _bytes_max(self.key, self.value, self.headers or ())


def bytes_max_if_plain(key: object, value: object, headers: Headers | None) -> int:
    """The bytes that a record takes at most, alone in a batch; `UNUSUAL` unless a batch takes it as it is."""
    if not (key is None or type(key) is bytes) or not (value is None or type(value) is bytes):
        return UNUSUAL
    if not headers:
        return _bytes_max(key, value, ())
    if not isinstance(headers, (list, tuple)) or not all(map(_is_plain_header, headers)):
        return UNUSUAL
    return _bytes_max(key, value, headers)


def _bytes_max(key: bytes | None, value: bytes | None, headers: Sequence[Header]) -> int:
    size = HEADER_BYTES + RECORD_OVERHEAD_BYTES + len(key or b"") + len(value or b"")
    if headers:
        size += sum(10 + 3 * len(name) + len(found or b"") for name, found in headers)
    return size


def _is_plain_header(pair: object) -> bool:
    if type(pair) is not tuple or len(pair) != 2:
        return False
    name, value = pair
    if not isinstance(name, str) or not (value is None or type(value) is bytes):
        return False
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
