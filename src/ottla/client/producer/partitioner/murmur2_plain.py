"""The hash that Kafka's clients choose partitions by, and the partitions of whole columns of keys; plain Python.

The compiled twin `_murmur2` behaves the same, errors included. All clients of a topic have to agree on it, or the
records of one key would lie in two partitions.
"""

from array import array
from struct import iter_unpack

from ottla.base.buffer import Buffer
from ottla.protocol.errors import EncodeError
from ottla.protocol.records.columns_layout import ROW, SHORT_BUFFER, BinarySource

_SEED, _M, _MASK = 0x9747B28C, 0x5BD1E995, 0xFFFFFFFF


def murmur2(data: Buffer) -> int:
    """MurmurHash 2 of 32 bits with Kafka's seed, as an unsigned number.

    >>> murmur2(b"21") == -973932308 & 0xFFFFFFFF
    True
    """
    view = memoryview(data)
    whole = len(view) & ~3
    hashed = _SEED ^ len(view)
    for (word,) in iter_unpack("<I", view[:whole]):
        word = word * _M & _MASK
        word = (word ^ word >> 24) * _M & _MASK
        hashed = hashed * _M & _MASK ^ word
    if whole < len(view):
        hashed = (hashed ^ int.from_bytes(view[whole:], "little")) * _M & _MASK
    hashed = (hashed ^ hashed >> 13) * _M & _MASK
    return hashed ^ hashed >> 15


def key_partitions(source: BinarySource, rows: int, partitions: int) -> bytearray:
    """The partition of each key of a column as int32 in the machine's order; -1 where the key is null."""
    offsets = memoryview(source.offsets).cast("B")
    data = memoryview(source.data).cast("B")
    if rows and len(offsets) < (source.first + rows + 1) * source.width:
        raise EncodeError(SHORT_BUFFER)
    if rows and source.validity is not None and len(memoryview(source.validity)) * 8 < source.first + rows:
        raise EncodeError(SHORT_BUFFER)
    bounds = offsets[: len(offsets) // source.width * source.width].cast("i" if source.width == 4 else "q")
    validity = None if source.validity is None else memoryview(source.validity).cast("B")
    found = array("i")
    for row in range(source.first, source.first + rows):
        if validity is not None and not validity[row >> 3] >> (row & 7) & 1:
            found.append(-1)
            continue
        start, stop = bounds[row], bounds[row + 1]
        if not 0 <= start <= stop <= len(data):
            raise EncodeError(ROW)
        found.append((murmur2(data[start:stop]) & 0x7FFFFFFF) % partitions)
    return bytearray(found)
