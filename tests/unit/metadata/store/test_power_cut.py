"""The power goes at every operation of a node's life in turn: what was promised is there afterwards."""

from dataclasses import dataclass, field
from random import Random

import pytest

from ottla.metadata.store.metadata_log import MetadataLog
from ottla.metadata.store.quorum_state_file import QuorumStateFile
from ottla.metadata.store.snapshot_directory import SnapshotDirectory
from ottla.protocol.records.batch import batches
from ottla.raft.identity import OffsetAndEpoch
from ottla.raft.quorum_state import ElectionState, encode
from ottla.storage.disk.simulated import PowerCut, SimulatedDisk
from tests.unit.metadata.store.stored_batch import DIRECTORY, at, batch, open_log, snapshot


@dataclass
class Life:
    """What a node did to its disk, and what it may count on."""

    disk: SimulatedDisk
    promised: dict[int, bytes] = field(default_factory=dict)
    """Flushed batches by their base offsets."""
    appended: dict[int, set[bytes]] = field(default_factory=dict)
    pending: dict[int, bytes] = field(default_factory=dict)
    votes: list[str] = field(default_factory=list)
    vote_done: bool = True
    snapshots_promised: OffsetAndEpoch | None = None

    def live(self) -> None:
        log = open_log(self.disk)
        snapshots = SnapshotDirectory.open(self.disk, DIRECTORY, log)
        votes = QuorumStateFile(self.disk, DIRECTORY)
        self.vote(votes, 1)
        for index in range(5):
            self.append(log, batch(2 * index, epoch=1, mark=index))
        self.flush(log)
        self.append(log, batch(10, epoch=1))
        self.append(log, batch(12, epoch=1, fill=300))
        self.store(snapshots, at(6, 1))
        self.flush(log)
        self.vote(votes, 2)
        self.truncate(log, 10)
        self.append(log, batch(10, epoch=2, mark=9))
        self.flush(log)
        self.store(snapshots, at(10, 1))
        self.forget(12)
        snapshots.delete_before(at(10, 1))
        self.append(log, batch(12, epoch=2))
        self.flush(log)
        self.restart(snapshots, at(100, 5))
        self.vote(votes, 3)
        self.append(log, batch(100, epoch=5))
        self.flush(log)
        self.append(log, batch(102, epoch=5, fill=600))
        self.append(log, batch(104, epoch=5))
        log.close()
        self.promised |= self.pending

    def append(self, log: MetadataLog, data: bytes) -> None:
        [one] = batches(data)
        self.appended.setdefault(one.base_offset, set()).add(data)
        self.pending[one.base_offset] = data
        log.append(data)

    def flush(self, log: MetadataLog) -> None:
        log.flush()
        self.promised |= self.pending
        self.pending.clear()

    def truncate(self, log: MetadataLog, offset: int) -> None:
        self.promised = {base: data for base, data in self.promised.items() if base < offset}
        log.truncate_to(offset)

    def forget(self, offset: int) -> None:
        """What lies before may go: a snapshot has it."""
        self.promised = {base: data for base, data in self.promised.items() if base >= offset}

    def store(self, snapshots: SnapshotDirectory, snapshot_id: OffsetAndEpoch) -> None:
        snapshots.store(snapshot_id, snapshot(snapshot_id))
        self.snapshots_promised = snapshot_id

    def restart(self, snapshots: SnapshotDirectory, snapshot_id: OffsetAndEpoch) -> None:
        part = snapshots.part_writer(snapshot_id)
        data = snapshot(snapshot_id)
        part.append(data[:70])
        part.append(data[70:])
        part.freeze()
        self.snapshots_promised = snapshot_id
        self.forget(snapshot_id.offset)
        snapshots.restart_log_at(snapshot_id)

    def vote(self, votes: QuorumStateFile, epoch: int) -> None:
        self.vote_done = False
        self.votes.append(encode(ElectionState(epoch=epoch, leader_id=1), kraft_version=1))
        votes.write(self.votes[-1])
        self.vote_done = True

    def check(self) -> None:
        """What a restart finds."""
        log = open_log(self.disk)
        snapshots = SnapshotDirectory.open(self.disk, DIRECTORY, log)
        found = {one.base_offset: bytes(one.data) for one in self.stored(log)}
        assert found.items() >= self.promised.items()
        assert all(data in self.appended[base] for base, data in found.items())
        assert log.flushed_end_offset == log.end_offset
        latest = snapshots.latest_id
        assert (latest is not None and latest >= self.snapshots_promised) if self.snapshots_promised else True
        assert log.start_offset == 0 or (latest is not None and latest.offset >= log.start_offset)
        vote = QuorumStateFile(self.disk, DIRECTORY).read()
        allowed = self.votes[-1:] if self.vote_done else self.votes[-2:]
        assert vote in allowed or (vote is None and not self.vote_done and len(self.votes) < 2) or not self.votes
        self.go_on(log, snapshots)

    def go_on(self, log: MetadataLog, snapshots: SnapshotDirectory) -> None:
        """As the quorum does at its start; then one more batch lives through a clean stop."""
        latest = snapshots.latest_id
        if latest is not None and latest > at(log.end_offset, log.last_epoch):
            snapshots.restart_log_at(latest)
        more = batch(log.end_offset, epoch=9)
        end = log.end_offset
        log.append(more)
        log.close()
        assert open_log(self.disk).read(end, 1) == more

    @staticmethod
    def stored(log: MetadataLog) -> list[object]:
        offset, found = log.start_offset, []
        while offset < log.end_offset:
            for one in batches(log.read(offset, 1 << 20)):
                found.append(one)
                offset = one.next_offset
        return found


def formatted_disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directory("/data")
    disk.flush_directory("/")
    return disk


def operations_of_a_life() -> int:
    life = Life(formatted_disk())
    before = life.disk.operations
    life.live()
    operations = life.disk.operations - before
    life.check()
    return operations


@pytest.mark.parametrize("seed", range(4))
def test_power_cut_at_every_operation(seed: int) -> None:
    for operations in range(operations_of_a_life()):
        life = Life(formatted_disk())
        life.disk.cut_after(operations)
        try:
            life.live()
        except PowerCut:
            life.disk.crash(Random(seed * 10_000 + operations))
        life.check()
