"""An ordered map of bytes in one LMDB transaction: the engine's `StateMap`, with an undo log.

All stores of an environment share one database; each key has the store's two bytes in front. LMDB takes keys of up to
511 bytes: what is longer shares one entry, sorted, with all keys that begin with the same 511 bytes, so that the order
stays that of the bytes.

    0001 k      → value
    0001 k…(≥511) → bucket: (length, rest of the key, length, value), …
"""

import struct
import weakref
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, Final

from ottla.streams.engine.store.state_map import increment
from ottla.streams.state.errors import unwritable

try:
    from lmdb import Error as LmdbError
except ImportError:  # pragma: no cover - the extra that brings it is not installed
    LmdbError = OSError  # type: ignore[misc, assignment]  # without LMDB there is no map either

KEY_BYTES_MAX: Final = 511
_CHUNK: Final = 64
_LENGTH: Final = struct.Struct(">I")
Pair = tuple[bytes, bytes]


class _Nothing(dict[bytes, bytes | None]):
    """Contains every key, so that no change is noted."""

    def __contains__(self, key: object) -> bool:
        return True


class UndoLog:
    """The entries that a batch has changed, as they were before its first change of each."""

    def __init__(self, *, is_kept: bool) -> None:
        """An undo log that is not kept stays empty."""
        self.before: dict[bytes, bytes | None] = {} if is_kept else _Nothing()


class LmdbMap:
    """One store's bytes while a batch is processed."""

    def __init__(self, transaction: Any, database: Any, prefix: bytes, undo: UndoLog) -> None:
        self._transaction = transaction
        self._database = database
        self._prefix = prefix
        self._end = increment(prefix)
        self._before = undo.before
        self._read: tuple[bytes, bytes | None] | None = None
        """What was read last: most writes are to this key, and what is undone is known then."""
        self._scans: list[weakref.ref[_Scan]] = []

    def renew(self, transaction: Any, undo: UndoLog) -> None:
        """Goes on in the transaction that follows; scans that are under way go on, too."""
        self._transaction = transaction
        self._before = undo.before
        self._read = None

    def get(self, key: bytes) -> bytes | None:
        """The value, or None."""
        full = self._prefix + key
        if len(full) < KEY_BYTES_MAX:
            found: bytes | None = self._transaction.get(full, db=self._database)
            self._read = (full, found)
            return found
        return dict(self._bucket(full[:KEY_BYTES_MAX])).get(full[KEY_BYTES_MAX:])

    def put(self, key: bytes, value: bytes) -> None:
        """Sets the value."""
        full = self._prefix + key
        if self._scans:
            self._finish_scans(full)
        if len(full) < KEY_BYTES_MAX:
            self._note(full)
            self._put(full, value)
        else:
            self._change_bucket(full, value)

    def delete(self, key: bytes) -> None:
        """Removes the key, if it is there."""
        full = self._prefix + key
        if self._scans:
            self._finish_scans(full)
        if len(full) < KEY_BYTES_MAX:
            self._note(full)
            self._transaction.delete(full, db=self._database)
        else:
            self._change_bucket(full, None)

    def scan(self, low: bytes, high: bytes | None) -> Iterator[Pair]:
        """The pairs with low ≤ key < high in order; None is the end."""
        scan = _Scan(self, self._prefix + low, self._end if high is None else self._prefix + high)
        if scan.has_more:
            self._scans.append(weakref.ref(scan))
        return scan

    def page(self, low: bytes, high: bytes | None, count: int) -> tuple[list[Pair], bytes | None]:
        """As `pairs`, with keys as users of the map know them: nothing is kept in between, so others may write."""
        prefix = self._prefix
        found, following = self.pairs(prefix + low, self._end if high is None else prefix + high, count)
        return [(self.cut(key), value) for key, value in found], None if following is None else self.cut(following)

    def pairs(self, low: bytes, high: bytes | None, count: int) -> tuple[list[Pair], bytes | None]:
        """Up to about `count` pairs from `low` on, keys with the prefix, and where to go on (None: that is all)."""
        found: list[Pair] = []
        cursor = self._transaction.cursor(self._database)
        at_something = cursor.set_range(low[:KEY_BYTES_MAX])
        while at_something:
            key, value = cursor.item()
            if high is not None and key >= high:
                return found, None
            if len(found) >= count:
                return found, key
            if len(key) < KEY_BYTES_MAX:
                found.append((key, value))
            else:
                bucket = ((key + rest, one) for rest, one in _bucket_pairs(value))
                found += [pair for pair in bucket if pair[0] >= low and (high is None or pair[0] < high)]
            at_something = cursor.next()
        return found, None

    def cut(self, key: bytes) -> bytes:
        """The key as users of the map know it."""
        return key[len(self._prefix) :]

    def _note(self, full: bytes) -> None:
        if full not in self._before:
            read = self._read
            self._before[full] = (
                read[1] if read is not None and read[0] == full else self._transaction.get(full, db=self._database)
            )
        self._read = None

    def _finish_scans(self, full: bytes) -> None:
        """A scan shows what was there when it began: one that has not reached the key yet reads on before the write."""
        for reference in self._scans:
            scan = reference()
            if scan is not None and scan.has_more:
                scan.keep_apart_from(full)
        self._scans = [one for one in self._scans if (scan := one()) is not None and scan.has_more]

    def _bucket(self, head: bytes) -> list[Pair]:
        data = self._transaction.get(head, db=self._database)
        return [] if data is None else list(_bucket_pairs(data))

    def _change_bucket(self, full: bytes, value: bytes | None) -> None:
        head, rest = full[:KEY_BYTES_MAX], full[KEY_BYTES_MAX:]
        self._note(head)
        pairs = self._bucket(head)
        at = bisect_left(pairs, rest, key=lambda pair: pair[0])
        if at < len(pairs) and pairs[at][0] == rest:
            del pairs[at]
        if value is not None:
            pairs.insert(at, (rest, value))
        if not pairs:
            self._transaction.delete(head, db=self._database)
            return
        parts = [_LENGTH.pack(len(part)) + part for pair in pairs for part in pair]
        self._put(head, b"".join(parts))

    def _put(self, key: bytes, value: bytes) -> None:
        """A batch that is larger than LMDB's memory for it is written while it runs: a full disk is noticed here."""
        try:
            self._transaction.put(key, value, db=self._database)
        except LmdbError as error:
            raise unwritable(error) from error


class _Scan:
    """A range, read piece by piece: most callers want its beginning only."""

    __slots__ = ("__weakref__", "_high", "_low", "_map", "_pairs", "has_more")

    def __init__(self, source: LmdbMap, low: bytes, high: bytes | None) -> None:
        self._map = source
        self._high = high
        self._pairs: Iterator[Pair] = iter(())
        self._low = low
        self.has_more = True
        self._read(_CHUNK)

    def __iter__(self) -> "_Scan":
        return self

    def __next__(self) -> Pair:
        while True:
            pair = next(self._pairs, None)
            if pair is not None:
                return self._map.cut(pair[0]), pair[1]
            if not self.has_more:
                raise StopIteration
            self._read(_CHUNK)

    def keep_apart_from(self, key: bytes) -> None:
        """Reads all that is left, if the key is in it."""
        if self._low > key[:KEY_BYTES_MAX] or (self._high is not None and key >= self._high):
            return
        left = list(self._pairs)
        self._read(1 << 62)
        self._pairs = iter(left + list(self._pairs))

    def _read(self, count: int) -> None:
        pairs, following = self._map.pairs(self._low, self._high, count)
        self._pairs = iter(pairs)
        self._low = following or b""
        self.has_more = following is not None


def _bucket_pairs(data: bytes) -> Iterator[Pair]:
    position = 0
    while position < len(data):
        parts = []
        for _ in range(2):
            length: int = _LENGTH.unpack_from(data, position)[0]
            parts.append(data[position + 4 : position + 4 + length])
            position += 4 + length
        yield parts[0], parts[1]
