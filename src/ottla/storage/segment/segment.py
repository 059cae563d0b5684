"""One segment: the batches from a base offset on, in one file, and the three indexes beside it.

A segment knows offsets, positions and timestamps; what the batches mean (producers, epochs) is the log's business.
Files are opened and mapped when first needed and let go by `release`, so a segment without readers costs memory
only. One thread changes a segment at a time; any may read.

Worked example, `index.interval.bytes` 4096: batches of 3000 bytes with offsets [0,9] [10,19] [20,29] [30,39] lie at
0, 3000, 6000, 9000. Before the third more than 4096 bytes were written since the last entry, so it gets the offset
index entry (29, 6000). A search for 25 finds no entry at or below it, walks from 0 and lands on 6000.
"""

import logging
import threading
from collections.abc import Iterable

from ottla.base.buffer import Buffer
from ottla.protocol.records.timestamp import NO_TIMESTAMP
from ottla.storage.disk.port import Access, Disk, File
from ottla.storage.errors import CorruptFileError, RebuildableFileError, ResourceShortageError
from ottla.storage.index.offset_index import RELATIVE_OFFSET_MAX, OffsetIndex
from ottla.storage.index.search import find_batch
from ottla.storage.index.time_index import TimeIndex
from ottla.storage.index.transaction_index import TransactionIndex
from ottla.storage.log_config import LogConfig
from ottla.storage.segment import file_name
from ottla.storage.segment.end import SegmentEnd
from ottla.storage.segment.scan import BatchScan, Indexed, StoredBatch, is_zero
from ottla.storage.segment.slice import FileSlice
from ottla.storage.segment.tail import Tail, check_last_timestamp, read_tail

__all__ = ["RELATIVE_OFFSET_MAX", "Segment"]

_WALK_BYTES = 4608
"""Bytes of a search's read: index entries are a bit more than 4096 bytes apart, and batches mostly small or large."""
_HEADER_BYTES = 27
"""The bytes of a batch header that contain its size and its last offset."""
_log = logging.getLogger(__name__)


class Segment(SegmentEnd):
    """A stretch of the log in one file.

    `create` and `open` make one. `append` and `append_many` keep the offsets that the batches have.
    """

    __slots__ = (
        "__weakref__",
        "_disk",
        "_first_timestamp",
        "_has_hidden",
        "_hole",
        "_is_loaded",
        "_is_preallocated",
        "_loading",
        "base_offset",
        "created_ms",
        "damage",
        "directory",
        "has_unflushed_trim",
        "offset_index",
        "suffix",
        "time_index",
        "transaction_index",
    )

    def __init__(self, disk: Disk, directory: str, base_offset: int, config: LogConfig, suffix: str = "") -> None:
        super().__init__(base_offset, config.index_interval_bytes)
        self._disk = disk
        self._first_timestamp: int | None = None
        self._is_loaded = False
        self._loading = threading.RLock()
        """Readers on several threads may be the first to need the indexes; one of them reads or rebuilds them."""
        self._is_preallocated = False
        self._has_hidden = False
        self._hole: CorruptFileError | None = None
        """Damage with batches behind it, which the index leads to."""
        self.directory = directory
        self.base_offset = base_offset
        self.suffix = suffix
        self.has_unflushed_trim = False
        """Whether the file would be longer than its batches after a crash."""
        self.damage: CorruptFileError | None = None
        """The damage in the file; `size_bytes` then counts the bytes before it, which stay readable."""
        self.created_ms = 0
        """When it became the active segment; rolling by time counts from here while it holds no timestamp."""
        bytes_max = config.segment_index_bytes
        self.offset_index = OffsetIndex(disk, self.path(file_name.OFFSET_INDEX), base_offset, bytes_max)
        self.time_index = TimeIndex(disk, self.path(file_name.TIME_INDEX), base_offset, bytes_max)
        self.transaction_index = TransactionIndex(disk, self.path(file_name.TRANSACTION_INDEX))

    @classmethod
    def create(cls, disk: Disk, directory: str, base_offset: int, config: LogConfig, *, suffix: str = "") -> "Segment":
        """A new, empty segment. Leftovers of the same name are emptied.

        With `preallocate` the file gets its full length at once, as in Apache Kafka: a length, no room on the disk.
        """
        segment = cls(disk, directory, base_offset, config, suffix)
        segment._file = disk.open(segment.path(), Access.CREATE)
        disk.files.note(segment)
        segment._file.truncate(0)
        if config.preallocate:
            segment._file.truncate(config.segment_bytes)
            segment._is_preallocated = True
        segment.offset_index.reset()
        segment.time_index.reset()
        disk.remove(segment.transaction_index.path)
        segment.transaction_index.is_complete = True
        segment._is_loaded = True
        segment._next_offset = base_offset
        return segment

    @classmethod
    def open(cls, disk: Disk, directory: str, base_offset: int, config: LogConfig, *, suffix: str = "") -> "Segment":
        """A segment whose file is there. Its indexes are read and checked when first needed, or by `load`."""
        segment = cls(disk, directory, base_offset, config, suffix)
        status = disk.status(segment.path())
        if status is None:
            raise CorruptFileError("the segment is gone", segment.path())
        segment.size_bytes = status.size_bytes
        return segment

    def path(self, kind: str = file_name.LOG) -> str:
        """The path of one of its files."""
        return f"{self.directory}/{file_name.name_of(self.base_offset, kind, self.suffix)}"

    def load(self) -> None:
        """Reads the indexes and checks them against the log; builds new ones where they are missing or wrong.

        `CorruptFileError` if the file holds more than batches.
        """
        if self._is_loaded:
            return
        with self._loading:
            if self.damage is not None:
                raise self.damage
            if not self._is_loaded:
                try:
                    self._load_indexes()
                except RebuildableFileError as problem:
                    self.rebuild_indexes(str(problem))
                self._is_loaded = True

    def _load_readable(self) -> None:
        """Loads the segment; a damaged one as far as its readable batches reach."""
        try:
            self.load()
        except CorruptFileError:
            if self.damage is None:
                raise

    def _check_sound(self, scan: BatchScan) -> None:
        """Ends the readable part where a scan came upon what is no batch of this place."""
        if scan.problem is not None:
            self._is_loaded = False
            self.size_bytes = scan.position
            self.damage = CorruptFileError(f"{scan.problem}, at position {scan.position}", self.path())
            _log.error("damaged, only what lies before can be read: %s", self.damage)
            raise self.damage

    def _load_indexes(self) -> None:
        self.offset_index.load()
        self.time_index.load()
        self._read_tail()
        _, position = self.offset_index.floor(self.time_index.last_offset)
        check_last_timestamp(self.time_index, self.scan(position), self._next_offset)

    def _read_tail(self) -> None:
        scan = self.scan(self.offset_index.last_position)
        self._take(read_tail(self.offset_index, self.time_index, scan, self._index_interval_bytes))
        self._check_sound(scan)

    def _take(self, tail: Tail) -> None:
        self.is_index_full = self.offset_index.is_full or self.time_index.is_full
        self._next_offset, self._max_timestamp, self._max_timestamp_offset, self._unindexed_bytes = tail

    def rebuild_indexes(self, reason: str) -> None:
        """Writes offset and time index anew from the batches; `reason` is for the operator's log.

        What is no batch, or no batch of this place, is where the readable part ends: `CorruptFileError`.
        """
        with self._loading:
            _log.warning("%s: building the indexes anew: %s", self.path(), reason)
            self.forget_indexes()
            scan = self.scan()
            for batch in scan.in_order(self.base_offset, self.offset_max):
                self.index(scan.batch_position, batch)
            self.time_index.maybe_append(self._max_timestamp, self._max_timestamp_offset)
            self.flush_indexes()
            self._check_sound(scan)

    def forget_indexes(self) -> None:
        """Empties offset and time index, for `index` to fill them again."""
        self.offset_index.reset()
        self.time_index.reset()
        self._take(Tail(self.base_offset, NO_TIMESTAMP, self.base_offset, 0))
        self._is_loaded = True
        if self.damage is not None:
            self.damage = None
            self.size_bytes = self.file().size()

    def index(self, position: int, batch: StoredBatch) -> None:
        """Accounts for a batch that lies at the position already."""
        self._note(position, batch.size, batch.last_offset, batch.max_timestamp)

    @property
    def next_offset(self) -> int:
        """The offset after the last batch; the base offset if there is none."""
        self.load()
        return self._next_offset

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp in the segment; -1 if it holds none."""
        self.load()
        return self._max_timestamp

    @property
    def readable_max_timestamp(self) -> int:
        """The largest timestamp in the readable part of the segment."""
        self._load_readable()
        return self._max_timestamp

    @property
    def max_timestamp_offset(self) -> int:
        """The last offset of the first batch that holds the largest timestamp."""
        self.load()
        return self._max_timestamp_offset

    @property
    def first_timestamp(self) -> int | None:
        """The largest timestamp of the first batch, from which rolling by time counts; None if there is none."""
        if self._first_timestamp is None and self.size_bytes:
            for batch in self.scan(0):
                if batch.max_timestamp >= 0:
                    self._first_timestamp = batch.max_timestamp
                break
        return self._first_timestamp

    def modified_ms(self) -> int:
        """The time of the last write to the file, which stands in for timestamps that batches lack."""
        status = self._disk.status(self.path())
        return 0 if status is None else status.modified_ms

    def append_many(self, data: Buffer, batches: Iterable[Indexed]) -> None:
        """Writes the bytes of several batches at once; `batches` are what they are, in order."""
        position = self.size_bytes
        self._write(position, data)
        end = position
        for batch in batches:
            self._note(end, batch.size, batch.last_offset, batch.max_timestamp)
            end += batch.size
        self.size_bytes = position + len(data)

    def _add_entries(self, last_offset: int, position: int) -> None:
        try:
            self.offset_index.append(last_offset, position)
            self.time_index.maybe_append(self._max_timestamp, self._max_timestamp_offset)
        except ResourceShortageError as error:
            # The batch is in the file. Without its entry a search has further to walk, and the next load adds it.
            _log.warning("an index entry is left out: %s", error)
        self.is_index_full = self.offset_index.is_full or self.time_index.is_full

    def locate(self, offset: int) -> tuple[int, int] | None:
        """Position and size of the first batch that ends at the offset or later; None if all end before it.

        `CorruptFileError` if what is at the offset cannot be read.
        """
        if not self._is_loaded:
            self._load_readable()
        named, position = self.offset_index.floor(offset)
        end = self.size_bytes
        if not position:
            named = -1
        elif not 0 < position < end:
            return self._locate_anew(offset, position)
        read = (self._file or self.file()).read
        while position < end:
            data = read(position, min(_WALK_BYTES, end - position))
            at, size = find_batch(data, offset, named)
            if size > 0 and position + at + size <= end:
                base_offset = int.from_bytes(data[at : at + 8])
                if base_offset > offset:
                    self._check_following(position + at + size, base_offset)
                return position + at, size
            if size < 0 and at == 0 and named >= 0:
                return self._locate_anew(offset, position)
            if size or at == 0 or position + at > end:
                raise CorruptFileError(f"no batch at position {position + at if size else position}", self.path())
            position += at
            named = -1
        if self.damage is not None:
            raise self.damage
        return None

    def _check_following(self, position: int, base_offset: int) -> None:
        """Looks at the batch behind one that begins beyond the offset that it was found for.

        Compaction leaves such gaps. Otherwise the offset was damaged, which no CRC covers, and the batch behind it has
        a lower one.
        """
        header = self.file().read(position, min(_HEADER_BYTES, self.size_bytes - position))
        if len(header) == _HEADER_BYTES and find_batch(header, base_offset)[1] == 0:
            raise CorruptFileError(f"offset {base_offset} before a lower one at position {position}", self.path())

    def _locate_anew(self, offset: int, position: int) -> tuple[int, int] | None:
        """An index entry points at something else than it says: the log is walked through without it.

        A sealed segment gets a new index, if it is not the log that is damaged: then the entries behind the damage are
        the only way to what lies there. One that is being written to belongs to the thread that does.
        """
        if self._hole is not None:
            raise self._hole
        found: tuple[int, int] | None = None
        for batch in (scan := self.scan()).in_order(self.base_offset, self.offset_max):
            if found is None and batch.last_offset >= offset:
                found = scan.batch_position, batch.size
        if scan.problem is not None:
            self._hole = CorruptFileError(f"{scan.problem}, at position {scan.position}", self.path())
            raise self._hole
        if not self.offset_index.entries.is_writable:
            self.rebuild_indexes(f"its entry for position {position} is wrong")
        return found

    def offset_beyond(self, position: int) -> int | None:
        """An offset above those of all batches that begin before a position, near it; None if the index has none."""
        offset = self.offset_index.offset_beyond(position)
        if offset is None:
            return None
        found = self.locate(offset)
        # Else the entry was wrong, and with it perhaps its offset.
        return offset if found is not None and found[0] >= position else None

    def read(self, offset: int, bytes_max: int, position_max: int, *, whole_batch: bool) -> FileSlice | None:
        """The bytes from the first batch that ends at `offset` or later; None if there is none.

        At most `bytes_max`, which may cut the last batch, and nothing from `position_max` on. With `whole_batch` the
        first batch is given in full even if it is larger, so that a reader always gets on.
        """
        found = self.locate(offset)
        if found is None:
            return None
        position, size = found
        # Searching may have found that the file holds less than its size let hope.
        length = min(position_max, self.size_bytes) - position
        if length > bytes_max:
            length = size if whole_batch and size > bytes_max else bytes_max
        return FileSlice(self._file or self.file(), position, max(0, length))

    def scan(self, position: int = 0, end: int | None = None) -> BatchScan:
        """Iterates over the batches from a position on."""
        return BatchScan(self._file or self.file(), position, self.size_bytes if end is None else end)

    def truncate_to(self, offset: int) -> int:
        """Drops the first batch that holds this offset or a later one, and all after it; answers where it ends now.

        [10,10][11,30][31,100], truncate to 31 → [10,10][11,30], ends at 31; to 20 → [10,10], ends at 11.
        """
        end_offset = self.hide_from(offset)
        self.cut_hidden(offset)
        return end_offset

    def hide_from(self, offset: int) -> int:
        """Hides the batches that `truncate_to` would drop from readers; they stay in the file until `cut_hidden`."""
        found = self.locate(offset)
        if found is None:
            return offset
        position = found[0]
        [first_dropped] = self.scan(position, position + found[1])
        self.size_bytes = position
        self._is_loaded, self.damage = True, None
        self._has_hidden = True
        self.offset_index.truncate(offset)
        self.time_index.truncate(offset)
        self._read_tail()
        return min(offset, first_dropped.base_offset)

    def cut_hidden(self, offset: int) -> None:
        """Takes what `hide_from` hid out of the file; on the disk, too, when this returns."""
        if not self._has_hidden:
            return
        self._has_hidden = False
        self.cut(self.size_bytes)
        self.transaction_index.truncate(offset)
        # The recovery point may end up right here, and then recovery skips these files after a crash.
        self.flush()

    def cut(self, position: int) -> None:
        """Drops the bytes from a position on, on the disk too; the indexes are the caller's business."""
        self.size_bytes = position
        file = self._file or self.file()
        file.truncate(position)
        file.flush()

    def trim_unwritten(self) -> None:
        """Cuts off zeros behind the last batch: what a crash leaves of a preallocated file whose trim was not flushed.

        Anything else that is no batch stays, for its reader to find.
        """
        try:
            self.load()
        except CorruptFileError:
            sound_bytes = self.size_bytes
            file = self.file()
            if self.damage is not None and is_zero(file, sound_bytes, file.size()):
                self.cut(sound_bytes)
                self.damage = None

    def seal(self) -> None:
        """Ends appending: the last timestamp gets its entry, the files are cut to what they hold."""
        if self._is_preallocated:
            self.file().truncate(self.size_bytes)
            self._is_preallocated, self.has_unflushed_trim = False, True
        self.load()
        self.time_index.maybe_append(self._max_timestamp, self._max_timestamp_offset)
        self.offset_index.entries.trim()
        self.time_index.entries.trim()

    def flush(self) -> None:
        """Returns once everything is on the disk, but for the names in the directory."""
        # Before it is true: a trim on another thread meanwhile needs the next flush.
        self.has_unflushed_trim = False
        (self._file or self.file()).flush()
        self.flush_indexes()

    def flush_indexes(self) -> None:
        """Returns once the indexes are on the disk.

        Needed after a rebuild: recovery does not look at the log below the recovery point.
        """
        self.offset_index.entries.flush()
        self.time_index.entries.flush()
        self.transaction_index.flush()

    def release(self) -> None:
        """Lets go of descriptor and maps; they come back when needed."""
        self.let_go()
        self._disk.files.forget(self)
        self.offset_index.entries.release()
        self.time_index.entries.release()
        self.transaction_index.release()

    def let_go(self) -> None:
        """See `port.Holder`."""
        self._file = None

    @property
    def written(self) -> int:
        """See `port.Holder`."""
        return self.size_bytes

    def change_suffix(self, suffix: str) -> None:
        """Renames all files that are there, the log last: `.cleaned` → `.swap` → none, or → `.deleted`.

        The caller flushes the directory.
        """
        for kind in reversed(file_name.SEGMENT_FILES):
            old = self.path(kind)
            if self._disk.status(old) is not None:
                self._disk.rename(old, f"{self.directory}/{file_name.name_of(self.base_offset, kind, suffix)}")
        self.suffix = suffix
        self._take_paths()

    def relocate(self, directory: str) -> None:
        """Says that the directory was renamed; open files stay good."""
        self.directory = directory
        self._take_paths()

    def _take_paths(self) -> None:
        self.offset_index.entries.path = self.path(file_name.OFFSET_INDEX)
        self.time_index.entries.path = self.path(file_name.TIME_INDEX)
        self.transaction_index.path = self.path(file_name.TRANSACTION_INDEX)

    def delete(self) -> None:
        """Removes its files, the log last; slices that were given out stay readable."""
        self.release()
        for kind in reversed(file_name.SEGMENT_FILES):
            self._disk.remove(self.path(kind))

    def file(self) -> File:
        """The open log file."""
        file = self._file
        if file is None:
            file = self._disk.open(self.path(), Access.WRITE)
            self._file = file
            self._disk.files.note(self)
        return file
