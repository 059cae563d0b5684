"""Recovers a log after a crash: reads it from the segment that holds the recovery point on.

Each batch must be whole, match its CRC, and neither its offset nor its leader epoch may go back. The log ends before
the first that does not; that one and everything after it was never flushed, so its durability was not promised. If it
lies below the recovery point it *was* flushed: then the disk lost something that it had confirmed, and the log is not
touched. Indexes, epochs and producer state of what was read are built anew; snapshots in that range are not used.

Offsets that no batch holds are no damage: compaction takes them out, and a topic may have been compacted whatever its
settings are now. Only where `contiguity` says that a segment reached up to the next one has its end been lost.
"""

import logging
from collections.abc import Sequence

from ottla.protocol.records.batch import Batch
from ottla.storage.disk.port import Disk
from ottla.storage.errors import CorruptFileError
from ottla.storage.leader_epoch.cache import LeaderEpochCache
from ottla.storage.log.loaded import LoadedLog
from ottla.storage.log.producer_replay import load_snapshot, replay_segments
from ottla.storage.log.recovery_walk import RecoveryWalk
from ottla.storage.producer_state.state import ProducerState
from ottla.storage.segment.scan import StoredBatch
from ottla.storage.segment.segment import Segment

_log = logging.getLogger(__name__)


def recover(disk: Disk, loaded: LoadedLog, now_ms: int) -> None:
    """Reads and repairs the segments that may not have been flushed; brings producer state to the log end."""
    suspects = loaded.segments.from_offset(loaded.recovery_point)
    first = suspects[0].base_offset
    if loaded.segments.first.base_offset < first:
        before = loaded.segments.from_offset(first - 1)[0]
        before.trim_unwritten()
        before.release()
    for offset in loaded.snapshots.offsets:
        if offset > first:
            loaded.snapshots.remove(offset)
    producers = loaded.producers
    load_snapshot(disk, loaded.snapshots, producers, first, now_ms)
    begin = producers.end_offset
    earlier = [segment for segment in loaded.segments if segment.base_offset < first]
    replay_segments(producers, earlier, first)
    for segment in earlier:
        if first > begin:
            segment.release()
    for slot, segment in enumerate(suspects):
        if slot and _lacks_end(loaded, suspects[slot - 1], segment):
            _drop(loaded, suspects[slot:])
            break
        if slot:
            suspects[slot - 1].seal()
            loaded.snapshots.write(segment.base_offset, producers.entries.values())
        following = suspects[slot + 1 :]
        if _recover_segment(segment, loaded, following) and not _goes_on(loaded, following):
            _drop(loaded, following)
            break
    # What was built anew, indexes and epochs, is flushed before the recovery point moves: a crash until then leads here
    # again. The names of the new files are flushed now, as a later flush need not know that they are new.
    for segment in suspects:
        if segment in loaded.segments.all():
            # With thousands of partitions descriptors would run out before the first one is served.
            segment.release()
    disk.flush_directory(loaded.directory)


def _goes_on(loaded: LoadedLog, following: Sequence[Segment]) -> bool:
    """Whether the next segment begins where one ends that was cut: then what was cut off was no part of the log.

    A preallocated segment ends in zeros until it is rolled, and again if the power goes before its trim is flushed.
    """
    return bool(following) and following[0].base_offset == loaded.producers.end_offset


def _lacks_end(loaded: LoadedLog, before: Segment, segment: Segment) -> bool:
    """Whether the end of the segment before was lost without a trace while this one survived."""
    if segment.base_offset <= loaded.recovery_point or not loaded.contiguity.holds_at(segment.base_offset):
        return False
    return before.next_offset < segment.base_offset


def _recover_segment(segment: Segment, loaded: LoadedLog, following: Sequence[Segment]) -> bool:
    """Rebuilds what belongs to a segment; answers whether its tail was torn and had to be cut."""
    segment.forget_indexes()
    segment.transaction_index.reset()
    offset_max = min(segment.offset_max, following[0].base_offset - 1 if following else segment.offset_max)
    flushed_end = loaded.recovery_point if loaded.contiguity.is_as_appended(segment.base_offset) else 0
    walk = RecoveryWalk(segment.scan(), segment.base_offset, offset_max, flushed_end)
    for position, batch in walk:
        segment.index(position, batch)
        _take_in(segment, batch, loaded.epochs, loaded.producers)
    next_offset, problem = walk.next_offset, walk.problem
    loaded.producers.end_offset = next_offset
    if problem is None:
        return False
    if next_offset < loaded.recovery_point:
        raise CorruptFileError(
            f"{problem}, at position {walk.end} (offset {next_offset}), though everything below offset "
            f"{loaded.recovery_point} was on the disk",
            segment.path(),
        )
    _log.warning(
        "%s: %d bytes cut off at offset %d: %s", segment.path(), segment.size_bytes - walk.end, next_offset, problem
    )
    segment.cut(walk.end)
    return True


def _take_in(segment: Segment, batch: StoredBatch, epochs: LeaderEpochCache, producers: ProducerState) -> None:
    """Replays a batch: its epoch, its producer, and an aborted transaction that it ends."""
    if batch.partition_leader_epoch > epochs.latest_epoch:
        epochs.note(batch.partition_leader_epoch, batch.base_offset)
    if batch.producer_id >= 0 and isinstance(batch, Batch):
        completed = producers.replay(batch)
        aborted = None if completed is None else producers.complete(completed)
        if aborted is not None:
            segment.transaction_index.append(aborted)


def _drop(loaded: LoadedLog, segments: Sequence[Segment]) -> None:
    """Removes what lies behind a torn or missing tail; newest first, so that a crash leaves no gap."""
    for segment in reversed(segments):
        _log.warning("%s: dropped, it lies behind the end of the log", segment.path())
        segment.delete()
        loaded.snapshots.remove(segment.base_offset)
    loaded.segments.remove(segments)
