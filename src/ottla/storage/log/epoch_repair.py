"""Builds the history of leader epochs anew where its file was lost: every batch says in which epoch it was written.

Apache Kafka goes on without a history then, and truncates by high watermark instead, which can lose records.
"""

import logging
from collections.abc import Iterable

from ottla.storage.leader_epoch.cache import LeaderEpochCache
from ottla.storage.segment.segment import Segment

_log = logging.getLogger(__name__)


def rebuild_epochs(epochs: LeaderEpochCache, segments: Iterable[Segment]) -> None:
    """Takes in the epochs of all batches and writes the file, so that the next start finds one."""
    for segment in segments:
        for batch in segment.scan():
            if batch.partition_leader_epoch > epochs.latest_epoch:
                epochs.note(batch.partition_leader_epoch, batch.base_offset)
        segment.release()
    _log.warning("%s: lost, built anew from the batches: %d epochs", epochs.path, len(epochs.entries))
    epochs.flush()
