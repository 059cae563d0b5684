"""Brings producer state up to an offset: the newest good snapshot, then the batches after it."""

import logging
from collections.abc import Sequence
from itertools import zip_longest

from ottla.protocol.records.batch import Batch
from ottla.storage.disk.port import Disk
from ottla.storage.errors import RebuildableFileError
from ottla.storage.producer_state.snapshot import read_snapshot
from ottla.storage.producer_state.snapshot_directory import SnapshotDirectory
from ottla.storage.producer_state.state import ProducerState
from ottla.storage.segment.segment import Segment

_log = logging.getLogger(__name__)


def load_snapshot(disk: Disk, snapshots: SnapshotDirectory, state: ProducerState, offset_max: int, now_ms: int) -> None:
    """Loads the newest good snapshot up to an offset; `state.end_offset` says how far it reaches, 0 if there is none.

    A damaged one is removed.
    """
    for offset in reversed(snapshots.offsets):
        if offset > offset_max:
            continue
        try:
            state.load(read_snapshot(disk, snapshots.path(offset)), offset, now_ms)
        except RebuildableFileError as problem:
            _log.warning("%s; trying the one before", problem)
            snapshots.remove(offset)
        else:
            return
    state.clear(0)


def replay_segments(state: ProducerState, segments: Sequence[Segment], end_offset: int) -> None:
    """Takes in the batches from `state.end_offset` up to an offset; segments that lie before it are not touched."""
    begin = state.end_offset
    for segment, following in zip_longest(segments, segments[1:]):
        is_before = following is not None and following.base_offset <= begin
        if is_before or segment.base_offset >= end_offset or begin >= end_offset or not segment.size_bytes:
            continue
        found = segment.locate(begin)
        if found is None:
            continue
        for batch in segment.scan(found[0]):
            if batch.base_offset >= end_offset:
                break
            replay(state, batch)
    state.end_offset = max(begin, end_offset)


def replay(state: ProducerState, batch: object) -> None:
    """Takes in one batch; old messages have no producer."""
    if isinstance(batch, Batch) and batch.producer_id >= 0:
        completed = state.replay(batch)
        if completed is not None:
            state.complete(completed)
