"""Snapshots beside the log: whole or not there, and never less than the log needs."""

import pytest

from ottla.metadata.store.metadata_log import MetadataLog
from ottla.metadata.store.metadata_log_config import MetadataLogConfig
from ottla.metadata.store.retention import oldest_snapshot_to_keep
from ottla.metadata.store.snapshot_directory import SnapshotDirectory
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import Fault, SimulatedDisk
from ottla.storage.errors import CorruptFileError, StorageError
from tests.unit.metadata.store.node import START_MS
from tests.unit.metadata.store.stored_batch import DIRECTORY, at, batch, open_log, snapshot

DAY_MS = 86_400_000


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


def opened(disk: SimulatedDisk) -> tuple[MetadataLog, SnapshotDirectory]:
    log = open_log(disk)
    return log, SnapshotDirectory.open(disk, DIRECTORY, log)


def filled(disk: SimulatedDisk) -> tuple[MetadataLog, SnapshotDirectory]:
    """Nine batches of two records, with snapshots at 6, 12 and 18."""
    log, snapshots = opened(disk)
    for index in range(9):
        log.append(batch(2 * index, epoch=1 + index // 3))
    log.flush()
    for days, offset in enumerate((6, 12, 18)):
        timestamp_ms = START_MS + days * DAY_MS
        snapshots.store(at(offset, offset // 6), snapshot(at(offset, offset // 6), timestamp_ms=timestamp_ms))
    return log, snapshots


def checkpoints(disk: SimulatedDisk) -> list[str]:
    return sorted(name for name in disk.list(DIRECTORY) if ".checkpoint" in name)


def test_stored_snapshots_are_found_again(disk: SimulatedDisk) -> None:
    filled(disk)
    _, snapshots = opened(disk)
    assert (snapshots.earliest_id, snapshots.latest_id) == (at(6, 1), at(18, 3))
    data = snapshot(at(12, 2), timestamp_ms=START_MS + DAY_MS)
    assert snapshots.size(at(12, 2)) == len(data)
    assert snapshots.read(at(12, 2), 10, 20) == data[10:30]
    assert snapshots.size(at(12, 1)) is None


def test_parts_become_visible_when_they_are_whole(disk: SimulatedDisk) -> None:
    _, snapshots = opened(disk)
    data = snapshot(at(40, 2))
    part = snapshots.part_writer(at(40, 2))
    part.append(data[:50])
    assert (part.size, snapshots.latest_id) == (50, None)
    assert checkpoints(disk) == ["00000000000000000040-0000000002.checkpoint.part"]
    part.append(data[50:])
    part.freeze()
    assert snapshots.latest_id == at(40, 2)
    assert checkpoints(disk) == ["00000000000000000040-0000000002.checkpoint"]


def test_a_part_that_arrived_broken_is_refused(disk: SimulatedDisk) -> None:
    _, snapshots = opened(disk)
    part = snapshots.part_writer(at(40, 2))
    part.append(snapshot(at(40, 2))[:-30])
    with pytest.raises(CorruptFileError, match="ends inside a batch"):
        part.freeze()
    assert snapshots.latest_id is None
    part.discard()
    assert checkpoints(disk) == []


def test_leftovers_go_at_the_start(disk: SimulatedDisk) -> None:
    filled(disk)
    for name in (
        "00000000000000000020-0000000003.checkpoint.part",
        "00000000000000000020-0000000003-8012345.checkpoint.part",
        "00000000000000000002-0000000001.checkpoint.deleted",
    ):
        disk.open(f"{DIRECTORY}/{name}", Access.CREATE).write(0, [b"half"])
    opened(disk)
    assert [name[:20] for name in checkpoints(disk)] == [f"{offset:020d}" for offset in (6, 12, 18)]


def test_a_log_that_begins_nowhere_is_refused(disk: SimulatedDisk) -> None:
    _, snapshots = filled(disk)
    snapshots.delete_before(at(18, 3))
    disk.remove(snapshots.path(at(18, 3)))
    with pytest.raises(CorruptFileError, match="begins at offset 12, and no snapshot holds what was before"):
        opened(disk)


@pytest.mark.parametrize(
    ("position", "complaint"), [(90, "offset .* where 1 is next"), (150, "CRC"), (None, "no footer")]
)
def test_a_broken_snapshot_that_alone_holds_something_is_refused(
    disk: SimulatedDisk, position: int | None, complaint: str
) -> None:
    _, snapshots = filled(disk)
    snapshots.delete_before(at(18, 3))
    path = snapshots.path(at(18, 3))
    break_snapshot(disk, path, position)
    with pytest.raises(CorruptFileError, match=complaint) as refusal:
        opened(disk)
    assert refusal.value.path == path


@pytest.mark.parametrize("position", [90, 150, None])
@pytest.mark.parametrize("older", [0, 2])
def test_a_broken_snapshot_goes_if_the_log_holds_the_same(
    disk: SimulatedDisk, position: int | None, older: int
) -> None:
    log, snapshots = filled(disk)
    ids = snapshots.ids
    for known in ids[: 2 - older]:
        disk.remove(snapshots.path(known))
    break_snapshot(disk, snapshots.path(ids[2]), position)
    again, left = opened(disk)
    assert left.ids == ids[2 - older : 2]
    assert (again.start_offset, again.end_offset) == (log.start_offset, log.end_offset)


def break_snapshot(disk: SimulatedDisk, path: str, position: int | None) -> None:
    file = disk.open(path, Access.WRITE)
    if position is None:
        file.truncate(file.size() - 75)
    else:
        file.write(position, [b"\xaa"])


def test_deleting_takes_older_snapshots_and_their_log(disk: SimulatedDisk) -> None:
    log, snapshots = filled(disk)
    snapshots.delete_before(at(12, 2))
    assert (snapshots.ids, log.start_offset) == ([at(12, 2), at(18, 3)], 12)
    assert len(checkpoints(disk)) == 2


def test_what_could_not_be_deleted_is_still_known(disk: SimulatedDisk) -> None:
    _, snapshots = filled(disk)
    disk.fail(Fault("rename", path_ending="12-0000000002.checkpoint"))
    with pytest.raises(StorageError):
        snapshots.delete_before(at(18, 3))
    assert snapshots.ids == [at(12, 2), at(18, 3)]
    assert [snapshots.size(known) is not None for known in snapshots.ids] == [True, True]


def test_restart_leaves_an_empty_log_behind_the_snapshot(disk: SimulatedDisk) -> None:
    log, snapshots = filled(disk)
    snapshots.store(at(100, 7), snapshot(at(100, 7)))
    snapshots.restart_log_at(at(100, 7))
    log.close()
    log, snapshots = opened(disk)
    assert (log.start_offset, log.end_offset, log.flushed_end_offset, log.last_epoch) == (100, 100, 100, 7)
    assert snapshots.ids == [at(100, 7)]
    log.append(batch(100, epoch=8))
    assert log.last_epoch == 8


@pytest.mark.parametrize(
    ("config", "days", "kept"),
    [
        (MetadataLogConfig(), 3, None),
        (MetadataLogConfig(), 8.5, at(18, 3)),
        (MetadataLogConfig(retention_ms=-1), 100, None),
        (MetadataLogConfig(retention_ms=4 * DAY_MS), 4.5, at(12, 2)),
        (MetadataLogConfig(retention_ms=DAY_MS), 100, at(18, 3)),
        (MetadataLogConfig(retention_bytes=0), 0, at(18, 3)),
        (MetadataLogConfig(retention_bytes=-1), 0, None),
    ],
)
def test_retention(disk: SimulatedDisk, config: MetadataLogConfig, days: float, kept: object) -> None:
    log, snapshots = filled(disk)
    assert oldest_snapshot_to_keep(config, log, snapshots, START_MS + int(days * DAY_MS)) == kept


def test_retention_by_size_stops_when_enough_is_gone(disk: SimulatedDisk) -> None:
    log, snapshots = filled(disk)
    size = snapshots.size(at(6, 1)) or 0
    config = MetadataLogConfig(retention_bytes=log.size_bytes + 3 * size - 1, retention_ms=-1)
    assert oldest_snapshot_to_keep(config, log, snapshots, START_MS) == at(12, 2)
