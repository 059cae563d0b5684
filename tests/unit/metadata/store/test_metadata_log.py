"""The quorum's log on a disk does what the one in memory does, and does not lose what it had."""

from random import Random

import pytest

from ottla.metadata.store.metadata_log import MetadataLog
from ottla.protocol.records.batch import batches
from ottla.raft.errors import RaftInvariantError
from ottla.raft.log.memory_log import MemoryLog
from ottla.storage.checkpoint import RECOVERY_POINT_CHECKPOINT
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.errors import CorruptFileError
from tests.unit.metadata.store.stored_batch import DIRECTORY, at, batch, open_log

FIRST_SEGMENT = f"{DIRECTORY}/00000000000000000000.log"


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


def written(disk: SimulatedDisk, batch_count: int = 9) -> MetadataLog:
    """A log of several segments, two records a batch, flushed."""
    log = open_log(disk)
    for index in range(batch_count):
        log.append(batch(2 * index, epoch=1 + index // 3))
    log.flush()
    return log


def damage(disk: SimulatedDisk, path: str, position: int) -> None:
    file = disk.open(path, Access.WRITE)
    [byte] = file.read(position, 1)
    file.write(position, [bytes([byte ^ 0x10])])


def contents(disk: SimulatedDisk) -> dict[str, bytes]:
    names = disk.list(DIRECTORY)
    return {name: disk.open(f"{DIRECTORY}/{name}", Access.READ).read(0, 1 << 20) for name in names}


def test_log_goes_on_where_it_ended(disk: SimulatedDisk) -> None:
    log = written(disk)
    log.close()
    again = open_log(disk)
    assert (again.start_offset, again.end_offset, again.flushed_end_offset, again.last_epoch) == (0, 18, 18, 3)
    again.append(batch(18, epoch=4))
    assert (again.end_offset, again.flushed_end_offset) == (20, 18)
    again.flush()
    assert again.flushed_end_offset == 20


@pytest.mark.parametrize("seed", range(30))
def test_log_answers_as_the_one_in_memory(disk: SimulatedDisk, seed: int) -> None:
    random = Random(seed)
    log, model = open_log(disk), MemoryLog()
    epoch = 1
    for _ in range(60):
        end, choice = model.end_offset, random.randrange(10)
        if choice < 5:
            epoch += random.randrange(3) // 2
            records = batch(end, epoch, records=random.randint(1, 4), fill=random.randint(1, 200))
            log.append(records)
            model.append(records)
        elif choice < 7:
            log.flush()
            model.flush()
        elif choice == 7 and end > log.high_watermark:
            cut = random.randrange(log.high_watermark, end)
            log.truncate_to(cut)
            model.truncate_to(cut)
        elif choice == 8 and end > model.start_offset:
            [last, *_] = batches(model.read(random.randrange(model.start_offset, end), 1))
            start = at(last.next_offset, last.partition_leader_epoch)
            log.advance_start(start)
            model.advance_start(start)
        elif choice == 9 and random.randrange(4) == 0:
            start = at(end + random.randrange(1, 50), epoch + 1)
            epoch += 1
            log.restart_at(start)
            model.restart_at(start)
        assert_same(log, model, random)


def assert_same(log: MetadataLog, model: MemoryLog, random: Random) -> None:
    assert (log.start_offset, log.end_offset, log.last_epoch) == (
        model.start_offset,
        model.end_offset,
        model.last_epoch,
    )
    assert log.flushed_end_offset <= log.end_offset
    for epoch in range(model.last_epoch, model.last_epoch + 3):
        assert log.end_offset_for_epoch(epoch) == model.end_offset_for_epoch(epoch)
    for offset in range(model.start_offset - 1, model.end_offset + 2):
        found, expected = log.read(offset, random.randint(1, 2000)), model.read(offset, 1 << 30)
        assert bool(found) == bool(expected)
        assert expected.startswith(found)


def test_end_of_an_epoch(disk: SimulatedDisk) -> None:
    log = open_log(disk)
    log.append(batch(0, epoch=1, records=10) + batch(10, epoch=3, records=10))
    found = [log.end_offset_for_epoch(epoch) for epoch in range(5)]
    assert found == [at(0, 0), at(10, 1), at(10, 1), at(20, 3), at(20, 3)]


def test_refuses_a_gap_and_half_a_batch(disk: SimulatedDisk) -> None:
    log = written(disk)
    with pytest.raises(RaftInvariantError, match="a batch at 20 where the log ends at 18"):
        log.append(batch(20, epoch=4))
    with pytest.raises(RaftInvariantError, match="end inside a batch"):
        log.append(batch(18, epoch=4)[:-1])
    assert log.end_offset == 18


def test_refuses_to_truncate_what_is_committed(disk: SimulatedDisk) -> None:
    log = written(disk)
    log.update_high_watermark(6)
    log.truncate_to(6)
    assert log.end_offset == 6
    with pytest.raises(RaftInvariantError, match="committed"):
        log.truncate_to(4)


@pytest.mark.parametrize("path", [FIRST_SEGMENT, f"{DIRECTORY}/00000000000000000012.log"])
@pytest.mark.parametrize("counted", [True, False], ids=["ours", "Apache Kafka's"])
def test_refuses_a_flipped_bit_and_changes_nothing(disk: SimulatedDisk, path: str, counted: bool) -> None:
    log = written(disk)
    log.close()
    damage(disk, path, 80)
    if not counted:
        disk.remove(f"{DIRECTORY}/{RECOVERY_POINT_CHECKPOINT}")
    before = contents(disk)
    with pytest.raises(CorruptFileError, match=r"CRC does not match.*no interrupted write") as refusal:
        open_log(disk)
    assert refusal.value.path == path
    assert contents(disk) == before


def test_refuses_a_flipped_bit_in_the_last_batch_only_if_it_was_flushed(disk: SimulatedDisk) -> None:
    log = written(disk, batch_count=1)
    log.append(batch(2, epoch=1))
    size = len(batch(0, epoch=1))
    damage(disk, FIRST_SEGMENT, size + 80)
    assert open_log(disk).end_offset == 2

    damage(disk, FIRST_SEGMENT, 80)
    with pytest.raises(CorruptFileError, match="on the disk up to offset 2"):
        open_log(disk)


def test_cuts_the_torn_end_of_a_foreign_log(disk: SimulatedDisk) -> None:
    written(disk, batch_count=2).close()
    disk.remove(f"{DIRECTORY}/{RECOVERY_POINT_CHECKPOINT}")
    disk.open(FIRST_SEGMENT, Access.WRITE).truncate(len(batch(0, 1)) + 100)
    assert open_log(disk).end_offset == 2


def test_refuses_a_log_that_became_shorter(disk: SimulatedDisk) -> None:
    written(disk, batch_count=2).close()
    disk.open(FIRST_SEGMENT, Access.WRITE).truncate(len(batch(0, 1)))
    with pytest.raises(CorruptFileError, match="ends at offset 2, but it was on the disk up to 4"):
        open_log(disk)


@pytest.mark.parametrize("counted", [True, False], ids=["ours", "Apache Kafka's"])
def test_refuses_a_missing_segment(disk: SimulatedDisk, counted: bool) -> None:
    written(disk).close()
    disk.remove(f"{DIRECTORY}/00000000000000000006.log")
    if not counted:
        disk.remove(f"{DIRECTORY}/{RECOVERY_POINT_CHECKPOINT}")
    with pytest.raises(CorruptFileError, match=r"the segment begins at offset 12.*where offset 6 should be"):
        open_log(disk)


@pytest.mark.parametrize("noise", [bytes(60), b"\xff\xfe noise"])
def test_noise_where_the_flushed_offset_is_kept_is_as_good_as_none(disk: SimulatedDisk, noise: bytes) -> None:
    written(disk).close()
    path = f"{DIRECTORY}/{RECOVERY_POINT_CHECKPOINT}"
    disk.open(path, Access.WRITE).write(0, [noise])
    assert open_log(disk).end_offset == 18
    disk.open(path, Access.WRITE).write(0, [noise])
    damage(disk, FIRST_SEGMENT, 80)
    with pytest.raises(CorruptFileError, match="whole batches follow"):
        open_log(disk)


def test_refuses_the_log_of_another_topic(disk: SimulatedDisk) -> None:
    written(disk).close()
    disk.open(f"{DIRECTORY}/partition.metadata", Access.WRITE).write(30, [b"B"])
    with pytest.raises(CorruptFileError, match=r"partition\.metadata: topic id .*AAAAAAAAAAAAAAAAAAAAAQ"):
        open_log(disk)


def test_snapshot_drops_whole_segments(disk: SimulatedDisk) -> None:
    log = written(disk)
    log.advance_start(at(14, 3))
    assert log.start_offset == 14
    assert log.read(13, 1000) == b""
    assert sorted(name for name in disk.list(DIRECTORY) if ".log" in name) == ["00000000000000000012.log"]
    log.close()
    assert open_log(disk).end_offset == 18
