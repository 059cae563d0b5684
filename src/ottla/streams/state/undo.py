"""Packs the entries that a batch has changed, as they were before: in the order of the changes, thousands in one value.

    lengths of the keys | lengths of the values, -1 where there was none | keys | values

One value for each entry costs far more time.
"""

from array import array
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

_ENTRIES: Final = 4_096
_COUNT_BYTES: Final = 4
_ABSENT: Final = -1


def packed(before: Mapping[bytes, bytes | None]) -> Iterator[bytes]:
    """The entries, some thousands at a time.

    >>> [list(unpacked(one)) for one in packed({b"b": b"2", b"a": None, b"c": b""})]
    [[(b'b', b'2'), (b'a', None), (b'c', b'')]]
    """
    items = iter(before.items())
    while found := list(islice(items, _ENTRIES)):
        keys = [key for key, _ in found]
        values = [value for _, value in found]
        lengths = array("i", map(len, keys))
        lengths.extend([_ABSENT if value is None else len(value) for value in values])
        yield b"".join([len(found).to_bytes(_COUNT_BYTES), lengths.tobytes(), *keys, *filter(None, values)])


def unpacked(data: bytes) -> Iterator[tuple[bytes, bytes | None]]:
    """The entries of a piece."""
    count = int.from_bytes(data[:_COUNT_BYTES])
    lengths = array("i")
    position = _COUNT_BYTES + 2 * count * lengths.itemsize
    lengths.frombytes(data[_COUNT_BYTES:position])
    values_at = position + sum(lengths[:count])
    for key_length, value_length in zip(lengths[:count], lengths[count:], strict=True):
        key = data[position : position + key_length]
        position += key_length
        if value_length == _ABSENT:
            yield key, None
            continue
        yield key, data[values_at : values_at + value_length]
        values_at += value_length
