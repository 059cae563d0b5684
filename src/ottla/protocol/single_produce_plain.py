"""See `single_produce`: the plain twin."""

import struct
from typing import Final, TypeAlias

from ottla.base.buffer import Buffer

SingleProduce: TypeAlias = tuple[int, int, bytes | None, int, int, bytes, int, memoryview]
"""Version, correlation id, client id, acks, time-out, topic (name, from version 13 on id), partition, records."""

VERSION_MIN: Final = 3
VERSION_MAX: Final = 13
FLEXIBLE_SINCE: Final = 9
TOPIC_IDS_SINCE: Final = 13

_HEADER: Final = struct.Struct(">hhih")
_INT16: Final = struct.Struct(">h")
_INT32: Final = struct.Struct(">i")
_ACKS: Final = struct.Struct(">hi")
_PARTITION: Final = struct.Struct(">ihqq")


def parse(frame: Buffer) -> SingleProduce | None:
    """A Produce request without a transaction that carries one batch; None if it is anything else."""
    view = memoryview(frame)
    try:
        key, version, correlation_id, size = _HEADER.unpack_from(view)
        if key != 0 or not VERSION_MIN <= version <= VERSION_MAX or size < -1:
            return None
        client_id, at = (None, 10) if size < 0 else _take(view, 10, size)
        found = _flexible(view, at, version) if version >= FLEXIBLE_SINCE else _fixed(view, at)
    except (struct.error, IndexError):
        return None
    return None if found is None else (version, correlation_id, client_id, *found)


def _fixed(view: memoryview, at: int) -> tuple[int, int, bytes, int, memoryview] | None:
    (transactional_id,) = _INT16.unpack_from(view, at)
    acks, timeout_ms = _ACKS.unpack_from(view, at + 2)
    (topics,) = _INT32.unpack_from(view, at + 8)
    (name_size,) = _INT16.unpack_from(view, at + 12)
    if transactional_id != -1 or topics != 1 or name_size < 0:
        return None
    topic, at = _take(view, at + 14, name_size)
    partitions, index, size = struct.unpack_from(">iii", view, at)
    if partitions != 1 or size < 0:
        return None
    return acks, timeout_ms, topic, index, _records(view, at + 12, size)


def _flexible(view: memoryview, at: int, version: int) -> tuple[int, int, bytes, int, memoryview] | None:
    # No tags in the header, and no transactional id.
    if view[at] != 0 or view[at + 1] != 0:
        return None
    acks, timeout_ms = _ACKS.unpack_from(view, at + 2)
    topics, at = _uvarint(view, at + 8)
    name_size, at = (17, at) if version >= TOPIC_IDS_SINCE else _uvarint(view, at)
    if topics != 2 or name_size < 1:
        return None
    topic, at = _take(view, at, name_size - 1)
    partitions, at = _uvarint(view, at)
    (index,) = _INT32.unpack_from(view, at)
    size, at = _uvarint(view, at + 4)
    if partitions != 2 or size < 1:
        return None
    records = _records(view, at, size - 1)
    end = at + size - 1
    if view[end] or view[end + 1] or view[end + 2]:
        return None
    return acks, timeout_ms, topic, index, records


def _take(view: memoryview, at: int, size: int) -> tuple[bytes, int]:
    if at + size > len(view):
        raise IndexError
    return bytes(view[at : at + size]), at + size


def _records(view: memoryview, at: int, size: int) -> memoryview:
    if at + size > len(view):
        raise IndexError
    return view[at : at + size]


def _uvarint(view: memoryview, at: int) -> tuple[int, int]:
    """Up to four bytes: no batch that a broker takes is longer, and what claims to be is for the codec to judge."""
    value = shift = 0
    while shift <= 21:
        byte = view[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise IndexError


def encode(request: SingleProduce, base_offset: int, log_append_time_ms: int, log_start_offset: int) -> bytes:
    """The whole frame of the answer to a request whose batch was appended."""
    version, correlation_id, _, _, _, topic, index, _ = request
    partition = _PARTITION.pack(index, 0, base_offset, log_append_time_ms)
    if version >= 5:
        partition += log_start_offset.to_bytes(8, "big", signed=True)
    if version >= FLEXIBLE_SINCE:
        name = topic if version >= TOPIC_IDS_SINCE else _sized(topic)
        body = b"\x00\x02" + name + b"\x02" + partition + b"\x01\x00\x00\x00" + bytes(4) + b"\x00"
    else:
        if version >= 8:
            partition += b"\x00\x00\x00\x00\xff\xff"
        body = struct.pack(">ih", 1, len(topic)) + topic + b"\x00\x00\x00\x01" + partition + bytes(4)
    return struct.pack(">ii", 4 + len(body), correlation_id) + body


def _sized(topic: bytes) -> bytes:
    size = len(topic) + 1
    out = bytearray()
    while size >= 0x80:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    out.append(size)
    return bytes(out) + topic
