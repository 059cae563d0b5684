"""Logs with all that is legal and rare, and what each reader has to make of them.

Old message formats first, then batches of all codecs with gaps and without records, of producers that write alone, in
transactions that are committed, aborted or never ended; markers that have lost their transaction, or their record.
"""

import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from ottla.protocol.compression import CompressionType
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType, EndTransactionMarker, write_end_marker
from ottla.protocol.records.writer import BatchOptions, emptied, write_batch
from tests.unit.storage.legacy_builder import message, wrapper

T0: Final = 1_700_000_000_000
_CODECS: Final = tuple(CompressionType)
_OLD_CODECS: Final = (CompressionType.GZIP, CompressionType.SNAPPY, CompressionType.LZ4)
_PRODUCERS: Final = (5_001, 5_002, 5_003)
_CREATE_TIME_UNKNOWN: Final = -1

Headers = tuple[tuple[str, bytes | None], ...]


class Seen(NamedTuple):
    """A record as a reader is to see it."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


class Aborted(NamedTuple):
    """A transaction that was taken back: from its first batch to its marker."""

    producer_id: int
    first_offset: int
    last_offset: int


class OddLog:
    """One partition's log, drawn from a seed.

    A plain one leaves out what kafka-python 3.0 cannot read: LZ4 in magic 0, and markers without their record.
    """

    def __init__(self, seed: int, steps: int = 60, *, is_plain: bool = False) -> None:
        self.is_plain: Final = is_plain
        self.batches: list[tuple[int, bytes]] = []
        """Batches, or messages of old formats, with their base offsets."""
        self.end = 0
        self.aborted: list[Aborted] = []
        self._dice: Final = random.Random(seed)
        self._records: Final[list[tuple[Seen, int]]] = []
        """Records, with the first offset of their transaction, or -1."""
        self._open: Final[dict[int, int]] = {}
        self._sequences: Final[dict[int, int]] = {}
        for _ in range(self._dice.choice((0, 3, 8))):
            self._old()
        choices: tuple[Callable[[], None], ...] = (self._plain, self._idempotent, self._write, self._write, self._end)
        for _ in range(steps):
            self._dice.choice((*choices, self._orphan))()
        while self._open and self._dice.random() < 0.7:
            self._end()

    @property
    def uncommitted(self) -> list[Seen]:
        """All records."""
        return [seen for seen, _ in self._records]

    @property
    def stable(self) -> int:
        """The last stable offset: where the first transaction begins that has no end."""
        return min(self._open.values(), default=self.end)

    @property
    def committed(self) -> list[Seen]:
        """Those in front of the last stable offset whose transaction was not taken back."""
        gone = {aborted.first_offset for aborted in self.aborted}
        return [seen for seen, first in self._records if seen.offset < self.stable and first not in gone]

    def write(self, directory: Path) -> None:
        """Replaces the log of a partition whose broker is down, by segments that end anywhere."""
        for path in directory.iterdir():
            if path.suffix in {".log", ".index", ".timeindex", ".txnindex", ".snapshot"}:
                path.unlink()
        (directory / "leader-epoch-checkpoint").unlink(missing_ok=True)
        segment = 0
        for base, data in self.batches:
            if base and self._dice.random() < 0.1:
                segment = base
            with (directory / f"{segment:020d}.log").open("ab") as file:
                file.write(data)

    # The steps

    def _old(self) -> None:
        """A message of magic 0 or 1, or some that are wrapped in one."""
        dice, offset, now = self._dice, self.end, T0 + self.end
        magic = dice.choice((0, 1))
        if dice.random() < 0.5:
            pair = dice.choice(((b"key", b"old"), (None, b"no key"), (b"gone", None)))
            self.batches.append((offset, message(offset, magic, pair, timestamp=now)))
            self._see(offset, now if magic else _CREATE_TIME_UNKNOWN, *pair)
            self.end += 1
            return
        pairs = [(b"%d" % number, b"wrapped" * number) for number in range(dice.randrange(1, 6))]
        first = now - len(pairs) + 1
        codec = dice.choice(_OLD_CODECS[:2] if self.is_plain else _OLD_CODECS)
        self.batches.append((offset, wrapper(offset, magic, pairs, codec, now)))
        for number, (key, value) in enumerate(pairs):
            self._see(offset + number, first + number if magic else _CREATE_TIME_UNKNOWN, key, value)
        self.end += len(pairs)

    def _plain(self) -> None:
        self._batch(-1, -1)

    def _idempotent(self) -> None:
        """A batch that only ever has one producer, without transactions."""
        self._batch(6_000, -1)

    def _write(self) -> None:
        """Of a transaction, which may begin with it."""
        producer = self._dice.choice(_PRODUCERS)
        self._batch(producer, self._open.setdefault(producer, self.end))

    def _end(self) -> None:
        """A transaction ends."""
        if not self._open:
            return
        producer = self._dice.choice(sorted(self._open))
        first = self._open.pop(producer)
        kind = self._dice.choice((ControlRecordType.COMMIT, ControlRecordType.ABORT))
        if kind is ControlRecordType.ABORT:
            self.aborted.append(Aborted(producer, first, self.end))
        self._marker(producer, kind)

    def _orphan(self) -> None:
        """A marker whose transaction was compacted away, perhaps with the record that it had."""
        producer = self._dice.choice(_PRODUCERS)
        if producer not in self._open:
            kind = self._dice.choice((ControlRecordType.COMMIT, ControlRecordType.ABORT))
            self._marker(producer, kind, is_emptied=not self.is_plain and self._dice.random() < 0.7)

    def _marker(self, producer: int, kind: ControlRecordType, *, is_emptied: bool = False) -> None:
        data = write_end_marker(
            EndTransactionMarker(kind, 0), producer_id=producer, producer_epoch=0, timestamp=T0 + self.end
        )
        Batch(data).assign(base_offset=self.end, partition_leader_epoch=0)
        self.batches.append((self.end, bytes(emptied(Batch(data)) if is_emptied else data)))
        self.end += 1

    def _batch(self, producer: int, first_of_transaction: int) -> None:
        dice, base = self._dice, self.end
        count = dice.choice((1, 1, 2, 5, 30))
        append_time = T0 + base + 7 if dice.random() < 0.2 else None
        records = [self._record(base + number) for number in range(count)]
        # Compaction takes records away and leaves the range of the batch.
        kept = [record for record in records if dice.random() > 0.2] if dice.random() < 0.4 else records
        sequence = -1
        if producer >= 0:
            sequence = self._sequences.get(producer, 0)
            self._sequences[producer] = sequence + count
        options = BatchOptions(
            compression=dice.choice(_CODECS),
            base_offset=base,
            last_offset=base + count - 1,
            log_append_time=append_time,
            producer_id=producer,
            producer_epoch=0 if producer >= 0 else -1,
            base_sequence=sequence,
            is_transactional=first_of_transaction >= 0,
        )
        data = write_batch([tuple(record) for record in kept or records], options)
        Batch(data).assign(base_offset=base, partition_leader_epoch=0)
        self.batches.append((base, bytes(data if kept else emptied(Batch(data)))))
        for record in kept:
            seen = record if append_time is None else record._replace(timestamp=append_time)
            self._records.append((seen, first_of_transaction))
        self.end += count

    def _record(self, offset: int) -> Seen:
        dice = self._dice
        size = dice.choice((0, 1, 10, 10, 200, 20_000))
        value = dice.choice((None, bytes(size), dice.randbytes(size)))
        headers: Headers = dice.choice(((), (), (("a", b"1"), ("a", None), ("größe", b""))))
        return Seen(
            offset, T0 + dice.randrange(-1_000, 1_000), dice.choice((None, b"", b"%d" % offset)), value, headers
        )

    def _see(self, offset: int, timestamp: int, key: bytes | None, value: bytes | None) -> None:
        self._records.append((Seen(offset, timestamp, key, value), -1))


def digest(seen: Seen) -> tuple[object, ...]:
    """A record as a line that differences can be read from."""
    value = None if seen.value is None else (len(seen.value), zlib.crc32(seen.value))
    return seen.offset, seen.timestamp, seen.key, value, seen.headers
