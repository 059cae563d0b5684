"""Looks once for offsets between a log's segments that no file holds, because one is gone.

A read skips them unreported, as in Apache Kafka: after compaction they are nothing unusual. Where nothing was
compacted, as `contiguity` has it, the operator has to know.
"""

import logging
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from ottla.storage.errors import CorruptFileError
from ottla.storage.log.log import Log
from ottla.storage.segment.segment import Segment

_log = logging.getLogger(__name__)


def tell_of_holes(log: Log, run_on_writer: Callable[[Callable[[], None]], None]) -> None:
    """Logs the holes of a log that compaction has not made; on threads that may wait.

    The writer looks for the end of each segment, one segment at a time: it has others to serve.
    """
    for segment, following in pairwise(log.segments.all()):
        if log.contiguity.holds_at(following.base_offset):
            run_on_writer(partial(_look, log, segment, following))


def _look(log: Log, segment: Segment, following: Segment) -> None:
    if segment not in log.segments.all() or log.segments.after(segment) is not following:
        return
    try:
        end_offset = segment.next_offset
    except CorruptFileError:
        return  # It was told.
    segment.release()
    if end_offset < following.base_offset:
        _log.error(
            "%s: offsets %d to %d are in no file, and readers go on at %s",
            segment.path(),
            end_offset,
            following.base_offset - 1,
            following.path(),
        )
