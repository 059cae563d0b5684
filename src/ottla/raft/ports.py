"""The ports of the state machine: a log, snapshots beside it, a file for votes, and dice.

Every call returns when it is done; an implementation that cannot do what it is asked raises, and the process stops.
"""

from typing import Protocol

from ottla.raft.identity import OffsetAndEpoch


class LogPort(Protocol):
    """The log of `__cluster_metadata-0`: whole v2 batches that have their offsets and leader epochs."""

    @property
    def start_offset(self) -> int:
        """The first offset kept."""
        ...

    @property
    def end_offset(self) -> int:
        """The offset after the last record, flushed or not."""
        ...

    @property
    def flushed_end_offset(self) -> int:
        """The offset after the last record that survives a crash; never beyond `end_offset`."""
        ...

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record; of the latest snapshot if the log is empty behind it; else 0."""
        ...

    def append(self, batches: bytes) -> None:
        """Writes whole batches that continue at `end_offset`; durable after the next flush."""
        ...

    def read(self, offset: int, max_bytes: int) -> bytes:
        """Whole batches from the one that holds `offset`, at least one if there is any, else up to `max_bytes`."""
        ...

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        """The largest epoch up to `epoch` that the log knows, and the offset where the next one starts.

        With epochs 1 from 0, 3 from 10 and the end at 20: 1 → 10@1, 2 → 10@1, 3 → 20@3, 4 → 20@3; and of an epoch
        before the first known one, 0 → 0@0, which is that epoch and the start of the first.
        """
        ...

    def truncate_to(self, offset: int) -> None:
        """Drops the batch that holds `offset` and everything behind it."""
        ...


class SnapshotPort(Protocol):
    """The `.checkpoint` files beside the log."""

    @property
    def latest_id(self) -> OffsetAndEpoch | None:
        """The newest snapshot."""
        ...

    @property
    def earliest_id(self) -> OffsetAndEpoch | None:
        """The oldest snapshot."""
        ...

    def size(self, snapshot_id: OffsetAndEpoch) -> int | None:
        """Bytes in a snapshot; None if there is no such one."""
        ...

    def read(self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int) -> bytes:
        """A range of a snapshot's bytes."""
        ...

    def store(self, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        """Writes a whole snapshot; durable and visible when it returns."""
        ...

    def part_writer(self, snapshot_id: OffsetAndEpoch) -> "SnapshotPartWriter":
        """A snapshot that arrives in pieces; it is invisible until it is frozen."""
        ...

    def restart_log_at(self, snapshot_id: OffsetAndEpoch) -> None:
        """Empties the log and lets it begin where the snapshot ends; drops older snapshots. Durable at once."""
        ...

    def delete_before(self, snapshot_id: OffsetAndEpoch) -> None:
        """Lets the log begin no earlier than where the snapshot ends; drops older snapshots."""
        ...


class SnapshotPartWriter(Protocol):
    """A snapshot on its way in (`.checkpoint.part`)."""

    @property
    def size(self) -> int:
        """Bytes so far."""
        ...

    def append(self, data: bytes) -> None:
        """The next bytes."""
        ...

    def freeze(self) -> None:
        """Complete: durable and visible when it returns."""
        ...

    def discard(self) -> None:
        """Not wanted any more."""
        ...


class QuorumStatePort(Protocol):
    """The `quorum-state` file."""

    def read(self) -> str | None:
        """The file's text; None if there is none."""
        ...

    def write(self, text: str) -> None:
        """Replaces the text; durable when it returns (write, fsync, rename)."""
        ...


class RandomPort(Protocol):
    """Dice; a `random.Random` is one as it stands."""

    def randrange(self, stop: int, /) -> int:
        """A number from 0 up to, and without, `stop`."""
        ...
