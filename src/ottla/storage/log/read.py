"""Reading: from an offset to a slice of a file, without touching the records."""

from typing import TYPE_CHECKING

from ottla.protocol.errors import OffsetOutOfRangeError
from ottla.storage.log.fetch_data import FetchData
from ottla.storage.segment.segment import Segment

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


def read(log: "Log", offset: int, bytes_max: int, end_offset: int, *, whole_batch: bool) -> FetchData:
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
            found = segment.read(offset, bytes_max, limit, whole_batch=whole_batch)
            if segment is not active:
                log.warm(segment)
            # Compaction leaves gaps: the offset may lie after the last batch of its segment, and the next goes on.
            if found is not None:
                return FetchData(found if found.length else None, segment.base_offset)
    return FetchData(None, segments[0].base_offset)


def _position_limit(log: "Log", segment: Segment, end_offset: int) -> int:
    """Where in the segment the batches end that lie below the offset."""
    following = log.segments.after(segment)
    if following is not None and following.base_offset <= end_offset:
        return segment.size_bytes
    found = segment.locate(end_offset)
    return segment.size_bytes if found is None else found[0]
