"""Reading: from an offset to a slice of a file, without touching the records.

A thread that serves others does not wait for the disk: it asks `check_cached` first, and where that refuses has another
thread `read_ahead`. Older segments always are for another thread: to find a place in one takes its indexes, which have
to be loaded, may have to be built anew, and are read through maps, where no call could say that it would wait.
"""

from ottla.protocol.errors import OffsetOutOfRangeError
from ottla.storage.errors import ColdReadError
from ottla.storage.log.fetch_data import FetchData
from ottla.storage.log.lookup import aborted_in
from ottla.storage.log.state import LogState
from ottla.storage.segment.segment import Segment

_RECENT_BYTES = 8 << 20
"""What was written last is in the page cache."""
_PIECE_BYTES = 1 << 20


def check_cached(log: LogState, offset: int, bytes_max: int) -> None:
    """`ColdReadError` if a read from the offset may have to wait for the disk."""
    active = log.tail[1]
    if offset < active.base_offset:
        if offset >= log.log_start_offset:
            raise ColdReadError(f"offset {offset} is in an older segment", log.directory)
    elif offset < active.offset_index.last_offset:
        position = active.offset_index.floor(offset)[1]
        left = active.size_bytes - position
        if left > _RECENT_BYTES and not active.file().is_cached(position, min(left, bytes_max)):
            raise ColdReadError(f"offset {offset} is not in memory", log.directory)


def read_ahead(log: LogState, offset: int, bytes_max: int, *, is_committed: bool) -> None:
    """See `Log.read_ahead`."""
    end_offset = log.log_end_offset
    if not log.log_start_offset <= offset < end_offset:
        return
    found = read(log, offset, bytes_max, end_offset)
    if found.records is not None:
        end = found.records.position + found.records.length
        for position in range(found.records.position, end, _PIECE_BYTES):
            found.records.file.read(position, min(_PIECE_BYTES, end - position))
    if is_committed:
        aborted_in(log, found, offset, end_offset)


def read(log: LogState, offset: int, bytes_max: int, end_offset: int) -> FetchData:
    """See `Log.read`."""
    tail = log.tail
    log_end_offset = tail[0]
    if not log.log_start_offset <= offset <= log_end_offset:
        raise OffsetOutOfRangeError(
            f"Received request for offset {offset} for partition {log.topic}-{log.partition}, but we only have log "
            f"segments in the range {log.log_start_offset} to {log_end_offset}."
        )
    active = tail[1]
    segments = (active,) if offset >= active.base_offset else log.segments.from_offset(offset)
    if offset < end_offset:
        for segment in segments:
            if segment is active and end_offset >= log_end_offset:
                # Its size when the log ended there: an append that is under way is not to be seen.
                limit = tail[2]
            else:
                limit = _position_limit(log, segment, end_offset)
            found = segment.read(offset, bytes_max, limit, whole_batch=True)
            if segment is not active:
                log.warm(segment)
            # Compaction leaves gaps: the offset may lie after the last batch of its segment, and the next goes on.
            if found is not None:
                return FetchData(found if found.length else None, segment.base_offset)
    return FetchData(None, segments[0].base_offset)


def _position_limit(log: LogState, segment: Segment, end_offset: int) -> int:
    """The position in the segment at which the batches below the offset end."""
    following = log.segments.after(segment)
    if following is not None and following.base_offset <= end_offset:
        return segment.size_bytes
    found = segment.locate(end_offset)
    return segment.size_bytes if found is None else found[0]
