"""A state machine that remembers everything as one number: equal numbers mean equal histories.

It is what stands on top of the quorum when nothing else does, and it takes a snapshot every so many records.
"""

import struct
import zlib
from collections.abc import Callable

from ottla.protocol.records.batch import batches
from ottla.protocol.records.reader import decode_batch
from ottla.raft.effect import ApplyCommitted
from ottla.raft.identity import LeaderAndEpoch, OffsetAndEpoch
from ottla.testing.simulation.network import Frame
from ottla.testing.simulation.raft.raft_part import RaftPart

_STATE = struct.Struct(">qI")
_NEVER_MS = 2**62
_SNAPSHOT_DELAY_MS = 20


class DigestPart:
    """Counts and checksums the values of the committed log."""

    def __init__(self, raft: RaftPart, snapshot_every: int, applied: Callable[[int, int, bytes], None]) -> None:
        self.count = 0
        self.checksum = 0
        self.next_offset = 0
        self._raft = raft
        self._snapshot_every = snapshot_every
        self._applied = applied
        """Called with epoch, offset and value of each record."""
        self._since_snapshot = 0
        self._last_epoch = 0
        self._last_timestamp_ms = 0
        raft.listeners.append(self)

    @property
    def state(self) -> tuple[int, int]:
        return self.count, self.checksum

    @property
    def deadline_ms(self) -> int:
        return _NEVER_MS

    def start(self) -> None:
        """Does nothing: the quorum speaks first."""

    def wake(self) -> None:
        """Never asked for."""

    def receive(self, frame: Frame) -> None:
        """Never called: a digest has no requests."""

    def apply_committed(self, effect: ApplyCommitted) -> None:
        for batch in batches(effect.batches):
            self._last_epoch, self._last_timestamp_ms = batch.partition_leader_epoch, batch.max_timestamp
            if not batch.is_control:
                for offset, _, _, value, _ in decode_batch(batch):
                    self._apply(self._last_epoch, offset, value or b"")
        self.next_offset = effect.last_offset + 1
        self._since_snapshot += effect.last_offset + 1 - effect.base_offset
        if self._snapshot_every and self._since_snapshot >= self._snapshot_every:
            self._since_snapshot = 0
            self._raft.node.later(_SNAPSHOT_DELAY_MS, self._snapshot)

    def load_snapshot(self, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        self.count = self.checksum = 0
        for batch in batches(data):
            if not batch.is_control:
                for _, _, _, value, _ in decode_batch(batch):
                    self.count, self.checksum = _STATE.unpack(value or b"")
        self.next_offset = snapshot_id.offset
        self._last_epoch = snapshot_id.epoch
        self._since_snapshot = 0

    def leader_changed(self, leader: LeaderAndEpoch) -> None:
        """A digest does not care who leads."""

    def _apply(self, epoch: int, offset: int, value: bytes) -> None:
        self.count += 1
        self.checksum = zlib.crc32(value, self.checksum)
        self._applied(epoch, offset, value)

    def _snapshot(self) -> None:
        node, core = self._raft.node, self._raft.core
        snapshot_id = OffsetAndEpoch(offset=self.next_offset, epoch=self._last_epoch)
        writer = core.begin_snapshot(snapshot_id, self._last_timestamp_ms, node.clock.now_ms())
        if writer is None:
            return
        writer.append([_STATE.pack(self.count, self.checksum)])
        core.store_snapshot(writer)
        node.note(f"snapshot {snapshot_id}")
        if node.random.randrange(2):
            core.delete_before_snapshot(snapshot_id)
