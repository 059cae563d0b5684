"""The searches that every read does, in plain Python; `_search` is the same, compiled."""

import struct

_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")
_PAIR = struct.Struct(">ii")
_LEGACY_HEAD = struct.Struct(">qi4xb")
_LAST_DELTA_AT = 23
_LOG_OVERHEAD = 12
_MAGIC = 2


def floor_slot_int32(entries: memoryview | bytes, count: int, target: int) -> int:
    """The last of `count` 8-byte entries whose leading int32 is not above the target; -1 if there is none."""
    return _floor(entries, count, target, _INT32, 8)


def floor_entry(entries: memoryview | bytes, count: int, target: int) -> tuple[int, int] | None:
    """The entry that `floor_slot_int32` finds, as its two numbers."""
    slot = _floor(entries, min(count, len(entries) // 8), target, _INT32, 8)
    return None if slot < 0 else _PAIR.unpack_from(entries, slot * 8)


def floor_slot_timestamp(entries: memoryview | bytes, count: int, target: int) -> int:
    """The last of `count` 12-byte entries whose leading int64 is not above the target; -1 if there is none."""
    return _floor(entries, count, target, _INT64, 12)


def _floor(entries: memoryview | bytes, count: int, target: int, form: struct.Struct, size: int) -> int:
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if form.unpack_from(entries, middle * size)[0] > target:
            high = middle
        else:
            low = middle + 1
    return low - 1


def find_batch(data: bytes, offset: int, first_last_offset: int = -1) -> tuple[int, int]:
    """Walks the batch headers in the bytes to the first batch that ends at `offset` or later.

    Answers where it begins, and its size. Where the bytes end before a header does, the size is 0 and the position
    says where to read on, which may lie behind the bytes. What is no batch has a size of -1; so has the first, if it
    does not end at `first_last_offset` where that is given, and any that ends before the one in front of it.
    """
    position, end, before = 0, len(data), -1
    while position + _LEGACY_HEAD.size <= end:
        last_offset, length, magic = _LEGACY_HEAD.unpack_from(data, position)
        if length < _LOG_OVERHEAD or not 0 <= magic <= _MAGIC:
            return position, -1
        if magic == _MAGIC:
            if position + _LAST_DELTA_AT + _INT32.size > end:
                break
            last_offset += _INT32.unpack_from(data, position + _LAST_DELTA_AT)[0]
        if first_last_offset >= 0:
            if last_offset != first_last_offset:
                return position, -1
            first_last_offset = -1
        if last_offset <= before:
            return position, -1
        if last_offset >= offset:
            return position, length + _LOG_OVERHEAD
        before = last_offset
        position += length + _LOG_OVERHEAD
    return position, 0
