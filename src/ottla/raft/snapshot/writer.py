"""A snapshot's bytes: header control batch, the state as records, footer control batch.

Its name is the log position it covers: every record before `offset`, the last of them of `epoch`. Header batches carry
kraft.version and voters as of there, so a replica that starts from the snapshot knows who votes. Offsets inside count
from 0 and mean nothing.
"""

from collections.abc import Iterable

from ottla.protocol.control_record import KRaftVersionRecord, SnapshotFooterRecord, SnapshotHeaderRecord
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.raft.identity import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch
from ottla.raft.log.control_batch import BatchPlace, ControlMessage, write_control_batch
from ottla.raft.voters.voter_set import VoterSet

_BATCH_BYTES = 1 << 20
_RECORD_OVERHEAD_BYTES = 24


class SnapshotWriter:
    """Collects the records of one snapshot.

    The state must be that of exactly the records before the snapshot's offset. `finish` gives the bytes to store.
    """

    def __init__(self, snapshot_id: OffsetAndEpoch, last_contained_timestamp_ms: int, now_ms: int) -> None:
        self.snapshot_id = snapshot_id
        self._now_ms = now_ms
        self._header = SnapshotHeaderRecord(version=0, last_contained_log_timestamp=last_contained_timestamp_ms)
        self._out = bytearray()
        self._next_offset = 0
        self._values: list[bytes] = []
        self._values_bytes = 0

    def begin(self, kraft_version: int, voters: VoterSet | None) -> None:
        """Writes the header with the quorum's own state at that point of the log."""
        messages: list[ControlMessage] = [self._header]
        if kraft_version >= 1:
            messages.append(KRaftVersionRecord(version=0, kraft_version=kraft_version))
            if voters is not None:
                messages.append(voters.record())
        self._write_control(messages)

    def append(self, values: Iterable[bytes]) -> None:
        """Takes record values of the state."""
        for value in values:
            self._values.append(value)
            self._values_bytes += len(value) + _RECORD_OVERHEAD_BYTES
            if self._values_bytes >= _BATCH_BYTES:
                self._write_values()

    def finish(self) -> bytes:
        """Writes the footer; the whole file."""
        self._write_values()
        self._write_control([SnapshotFooterRecord(version=0)])
        return bytes(self._out)

    def _write_values(self) -> None:
        if not self._values:
            return
        base = self._next_offset
        records = [(base + delta, self._now_ms, None, value, ()) for delta, value in enumerate(self._values)]
        options = BatchOptions(base_offset=base, partition_leader_epoch=self.snapshot_id.epoch)
        self._out += write_batch(records, options)
        self._next_offset += len(records)
        self._values, self._values_bytes = [], 0

    def _write_control(self, messages: list[ControlMessage]) -> None:
        place = BatchPlace(self._next_offset, self.snapshot_id.epoch, self._now_ms)
        self._out += write_control_batch(place, messages)
        self._next_offset += len(messages)


def bootstrap_snapshot(kraft_version: int, voters: VoterSet | None, values: Iterable[bytes], now_ms: int) -> bytes:
    """Writes the snapshot at `BOOTSTRAP_SNAPSHOT_ID` when a directory is formatted: first voters and first records."""
    writer = SnapshotWriter(BOOTSTRAP_SNAPSHOT_ID, last_contained_timestamp_ms=0, now_ms=now_ms)
    writer.begin(kraft_version, voters)
    writer.append(values)
    return writer.finish()
