"""Makes sure that a segment's transaction index lacks nothing and says nothing wrong, before it is used or added to."""

import logging

from ottla.protocol.records.batch import Batch
from ottla.storage.errors import CorruptFileError, RebuildableFileError
from ottla.storage.index.transaction_index import AbortedTransaction, IndexDigest, TransactionIndex
from ottla.storage.log.producer_replay import load_snapshot, replay_segments
from ottla.storage.log.state import LogState
from ottla.storage.log.transaction_index_checkpoint import digest_of
from ottla.storage.producer_state.state import ProducerState
from ottla.storage.segment.segment import Segment

_log = logging.getLogger(__name__)


def ensure_complete(log: LogState, segment: Segment) -> None:
    """Checks the index once, and writes it anew if it is damaged or missing."""
    index = segment.transaction_index
    if index.is_complete:
        return
    if not _holds(index, digest_of(log, segment)):
        aborted = _replayed(log, segment)
        _log.warning("%s: lost or wrong, built anew from the batches: %d entries", index.path, len(aborted))
        index.reset()
        for entry in aborted:
            index.append(entry)
        index.flush()
    index.is_complete = True


def _holds(index: TransactionIndex, promised: IndexDigest | None) -> bool:
    try:
        return index.entries() is not None if promised is None else index.digest(promised.entries) == promised
    except RebuildableFileError:
        return False


def _replayed(log: LogState, segment: Segment) -> list[AbortedTransaction]:
    """The transactions whose abort marker lies in the segment, as the batches have it."""
    state = ProducerState(log.producers.expiration_ms)
    now_ms = 0  # Nobody is expired here: every open transaction matters.
    load_snapshot(log.disk, log.snapshots, state, segment.base_offset, now_ms)
    before = [other for other in log.segments if other.base_offset < segment.base_offset]
    replay_segments(state, before, segment.base_offset)
    aborted: list[AbortedTransaction] = []
    for batch in segment.scan():
        if not isinstance(batch, Batch) or batch.producer_id < 0:
            continue
        if not batch.crc_matches():
            raise CorruptFileError(f"the CRC of the batch at offset {batch.base_offset} does not match", segment.path())
        completed = state.replay(batch)
        entry = None if completed is None else state.complete(completed)
        if entry is not None:
            aborted.append(entry)
    return aborted
