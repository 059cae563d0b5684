"""A node's disk: keeps what was flushed, may keep some of the rest, tears the last write, and fails on demand."""

from random import Random

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.raft.identity import OffsetAndEpoch
from ottla.raft.log.memory_log import MemoryLog, MemoryQuorumState, MemorySnapshots


class DiskFailedError(OttlaError):
    """The disk did not do what it was asked; the process that asked stops."""


@frozen
class DiskProfile:
    """The bounds of the duration of a flush."""

    flush_ms_min: int = 0
    flush_ms_max: int = 3


class SimulatedDisk:
    """The disk of one node: log, snapshots and quorum-state. It outlives the node's process."""

    def __init__(self, random: Random, profile: DiskProfile, directory_id: Uuid) -> None:
        self.directory_id = directory_id
        self.log = SimulatedLog(self)
        self.snapshots = SimulatedSnapshots(self, self.log)
        self.quorum_state = SimulatedQuorumState(self)
        self.is_failing = False
        self._random = random
        self._profile = profile

    def flush_delay_ms(self) -> int:
        """A random duration for the flush that begins now."""
        return self._random.randint(self._profile.flush_ms_min, self._profile.flush_ms_max)

    def replaced(self) -> "SimulatedDisk":
        """An empty disk in place of this one, with a directory id of its own."""
        directory_id = Uuid(self._random.getrandbits(128).to_bytes(16, "big"))
        return SimulatedDisk(self._random, self._profile, directory_id)

    def write_or_fail(self) -> None:
        """Called before every write; raises `DiskFailedError` while the disk fails."""
        if self.is_failing:
            raise DiskFailedError("the disk has failed")

    def crash(self) -> None:
        """Cuts the power: flushed bytes stay, and a random beginning of the others.

        In one of four cases the last truncation is undone instead, as it was not flushed.
        """
        unflushed = self.log.unflushed()
        if self._random.randrange(4) == 0:
            self.log.crash_before_truncation()
        else:
            self.log.crash(unflushed[: self._random.randint(0, len(unflushed))])


class SimulatedLog(MemoryLog):
    """A log on a disk that can fail."""

    def __init__(self, disk: SimulatedDisk) -> None:
        super().__init__()
        self._disk = disk

    def append(self, data: bytes) -> None:
        self._disk.write_or_fail()
        super().append(data)


class SimulatedSnapshots(MemorySnapshots):
    """Snapshots on a disk that can fail."""

    def __init__(self, disk: SimulatedDisk, log: MemoryLog) -> None:
        super().__init__(log)
        self._disk = disk

    def store(self, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        self._disk.write_or_fail()
        super().store(snapshot_id, data)


class SimulatedQuorumState(MemoryQuorumState):
    """quorum-state on a disk that can fail."""

    def __init__(self, disk: SimulatedDisk) -> None:
        super().__init__()
        self._disk = disk

    def write(self, text: str) -> None:
        self._disk.write_or_fail()
        super().write(text)
