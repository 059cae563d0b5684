"""The dedupe map and the loops over records that feed it and ask it, in plain Python; `_key_map` is compiled.

The map holds the last offset of each key by a 16-byte keyed hash, never the key: 24 bytes an entry, bounded. Two keys
with one hash would lose a record, so the hash is 128 bits wide and keyed with fresh random bytes: no client can
construct a collision. Malformed records are refused as everywhere, by `ottla.protocol.records.frames`.
"""

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from ottla.base.buffer import Buffer
from ottla.protocol.records import frames_plain
from ottla.storage.cleaner.filter_rules import FilterRules

ENTRY_BYTES = 24
SEED_BYTES = 16
_INT64 = 1 << 64


class Selection(NamedTuple):
    """Which records of a batch stay, and what the rewritten header needs to know of them."""

    mask: bytes
    """One byte per record: 1 if it stays."""
    kept: int
    tombstones: bool
    """Whether one that stays has no value."""
    first_timestamp: int
    max_timestamp: int


class Run(NamedTuple):
    """A run of batches that need no rewriting."""

    position: int
    """The end of the run."""
    ranges: list[tuple[int, int]]
    """From where to where in the buffer batches stay."""
    read: int
    kept: int


class KeyMap:
    """The last offset of each key, for at most `capacity` keys.

    >>> keys = KeyMap(100, seed=b"0123456789abcdef")
    >>> keys.put(b"k", 7)
    >>> keys.get(b"k"), keys.get(b"other"), len(keys)
    (7, -1, 1)
    """

    __slots__ = ("_offsets", "_seed", "capacity")

    def __init__(self, capacity: int, seed: bytes) -> None:
        self.capacity = capacity
        self._seed = seed
        self._offsets: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._offsets)

    def put(self, key: bytes, offset: int) -> None:
        """The key was last seen at this offset; offsets come in order."""
        self._offsets[self._hash(key)] = offset

    def get(self, key: bytes) -> int:
        """The key's last offset, -1 if it was never seen."""
        return self._offsets.get(self._hash(key), -1)

    def index(self, records: Buffer, count: int, base_offset: int, start_offset: int) -> bool:
        """Notes the keys of a record section from an offset on; False if the map was full before its end."""
        for _, offset_delta, key, _, _ in _frames(records, count):
            if key is not None and base_offset + offset_delta >= start_offset:
                if len(self._offsets) >= self.capacity:
                    return False
                self.put(key, base_offset + offset_delta)
        return True

    def select(
        self, records: Buffer, count: int, bases: tuple[int, int], latest: int, *, drop_tombstones: bool
    ) -> Selection:
        """The records that stay: the last of their key, and all above `latest`, the offset up to which the map knows.

        `bases` are the batch's base offset and base timestamp.
        """
        base_offset, base_timestamp = bases
        mask = bytearray()
        kept, tombstones, first, highest = 0, False, -1, -1
        for timestamp_delta, offset_delta, key, has_value, _ in _frames(records, count):
            offset = base_offset + offset_delta
            stays = offset > latest or (
                key is not None and offset >= self.get(key) and (has_value or not drop_tombstones)
            )
            mask.append(stays)
            if stays:
                timestamp = _wrap(base_timestamp + timestamp_delta)
                first = timestamp if not kept else first
                highest = max(highest, timestamp)
                tombstones |= not has_value
                kept += 1
        return Selection(bytes(mask), kept, tombstones, first, highest)

    def index_run(self, buffer: Buffer, position: int, start_offset: int) -> int:
        """Like `index` for a run of whole batches in a buffer: as many as can be done fast, here none.

        Takes batches that are uncompressed and of no transaction; where the run ends is for the caller to look at.
        """
        return position

    def select_run(self, buffer: Buffer, position: int, rules: FilterRules) -> Run:
        """Decides a run of such batches that stay as they are or go: where it ends, here at once."""
        return Run(position, [], 0, 0)

    def _hash(self, key: bytes) -> bytes:
        return hashlib.blake2b(key, digest_size=16, key=self._seed).digest()


def rewrite(records: Buffer, mask: Buffer, bases: tuple[int, int], timestamp: int | None) -> bytes:
    """The masked records' frames again, their timestamp deltas counted from another base.

    `bases` are the old and the new base timestamp; `timestamp`, if given (LogAppendTime), is that of every record.
    """
    out = bytearray()
    for stays, (timestamp_delta, offset_delta, _, _, tail) in zip(mask, _frames(records, len(mask)), strict=True):
        if stays:
            delta = _wrap((bases[0] + timestamp_delta if timestamp is None else timestamp) - bases[1])
            body = b"\0" + _varint(delta) + _varint(offset_delta) + tail
            out += _varint(len(body)) + body
    return bytes(out)


def _frames(records: Buffer, count: int) -> Iterator[tuple[int, int, bytes | None, bool, bytes]]:
    """Timestamp delta, offset delta, key, whether there is a value, and all bytes from the key on; of each frame."""
    frames_plain.scan(records, count, 0)
    raw = bytes(records)
    position = 0
    for _ in range(count):
        size, position = _read(raw, position)
        end = position + size
        timestamp_delta, position = _read(raw, position + 1)
        offset_delta, tail = _read(raw, position)
        key_size, position = _read(raw, tail)
        key = raw[position : position + key_size] if key_size >= 0 else None
        value_size, _ = _read(raw, position + max(key_size, 0))
        yield timestamp_delta, offset_delta, key, value_size >= 0, raw[tail:end]
        position = end


def _read(raw: bytes, position: int) -> tuple[int, int]:
    value, shift = 0, 0
    while raw[position] >= 0x80:
        value |= (raw[position] & 0x7F) << shift
        shift += 7
        position += 1
    value |= raw[position] << shift
    return value >> 1 ^ -(value & 1), position + 1


def _varint(value: int) -> bytes:
    rest = (value << 1 ^ value >> 63) % _INT64
    out = bytearray()
    while rest >= 0x80:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def _wrap(value: int) -> int:
    """Wraps around as Java's longs do."""
    return (value + (_INT64 >> 1)) % _INT64 - (_INT64 >> 1)
