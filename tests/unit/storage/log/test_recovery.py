"""What recovery takes for damage after a crash, and what it does not: no setting of today has a say in it."""

from dataclasses import replace

import pytest

from ottla.protocol.records.batch import Batch
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.segment.segment import Segment
from tests.unit.storage.log_builder import (
    DIRECTORY,
    NOW_MS,
    SMALL,
    append,
    data_batch,
    offsets,
    open_log,
    placed,
    replace_segments,
)

COMPACTED = replace(SMALL, cleanup_policy=frozenset({"compact"}))
CONFIGS = [SMALL, COMPACTED]


@pytest.fixture
def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directory("/data")
    return made


@pytest.fixture
def log(disk: SimulatedDisk) -> Log:
    """Segments [0, 4) [4, 8) [8, 12), a batch for each offset, nothing flushed."""
    made = open_log(disk)
    for offset in range(12):
        if offset in (4, 8):
            made.roll(NOW_MS)
        append(made, data_batch())
    return made


def clean(log: Log, slot: int, kept: list[int]) -> None:
    """Replaces a segment by one that holds only some of its offsets, as the cleaner does."""
    old = log.segments.all()[slot]
    new = Segment.create(log.disk, log.directory, old.base_offset, log.config, suffix=".cleaned")
    for batch in old.scan():
        if isinstance(batch, Batch) and batch.base_offset in kept:
            new.append(bytes(batch.data), batch.last_offset, batch.max_timestamp)
    new.seal()
    new.flush()
    replace_segments(log, [old], [new])
    for segment in log.take_deleted():
        segment.delete()


def cut(disk: SimulatedDisk, base_offset: int, batches: int) -> None:
    """Takes whole batches from a segment's end, so that nothing in the file itself looks wrong."""
    file = disk.open(f"{DIRECTORY}/{base_offset:020d}.log", Access.WRITE)
    file.truncate(file.size() - batches * len(data_batch()))


def claims(disk: SimulatedDisk) -> list[str]:
    return [name for name in disk.list(DIRECTORY) if name.startswith("contiguous-from-")]


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("recovery_point", [0, 8, 12])
def test_what_compaction_left_stays_whatever_the_policy_is_now(
    disk: SimulatedDisk, log: Log, config: LogConfig, recovery_point: int
) -> None:
    clean(log, 0, [1])
    clean(log, 1, [4, 6])
    again = open_log(disk, config, recovery_point=recovery_point)
    assert offsets(again) == [1, 4, 6, 8, 9, 10, 11]
    assert again.log_end_offset == 12
    assert [segment.base_offset for segment in again.segments] == [0, 4, 8]


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("cleaned", [True, False])
def test_a_segment_that_lost_its_end_takes_the_later_ones_along(
    disk: SimulatedDisk, log: Log, config: LogConfig, *, cleaned: bool
) -> None:
    if cleaned:
        clean(log, 0, [2])
    cut(disk, 4, 1)
    again = open_log(disk, config)
    assert offsets(again) == [2, 4, 5, 6] if cleaned else [0, 1, 2, 3, 4, 5, 6]
    assert again.log_end_offset == 7


@pytest.mark.parametrize("config", CONFIGS)
def test_where_nothing_is_claimed_every_gap_passes(disk: SimulatedDisk, log: Log, config: LogConfig) -> None:
    """A log that Apache Kafka had: it may have been cleaned beyond every offset that a checkpoint names."""
    for name in claims(disk):
        disk.remove(f"{DIRECTORY}/{name}")
    cut(disk, 0, 1)
    cut(disk, 4, 2)
    again = open_log(disk, config)
    assert offsets(again) == [0, 1, 2, 4, 5, 8, 9, 10, 11]
    assert claims(disk) == [f"contiguous-from-{12:020d}.deleted"]


def test_the_claim_is_made_with_the_log_and_gives_way_to_cleaning(disk: SimulatedDisk, log: Log) -> None:
    assert claims(disk) == [f"contiguous-from-{0:020d}.deleted"]
    clean(log, 0, [1])
    assert claims(disk) == [f"contiguous-from-{4:020d}.deleted"]
    log.truncate_to(2)
    assert claims(disk) == [f"contiguous-from-{2:020d}.deleted"]
    log.relocate("/data/orders-1")
    log.truncate_fully_and_start_at(1)
    assert "contiguous-from-00000000000000000001.deleted" in disk.list("/data/orders-1")


def test_a_follower_that_skips_more_than_an_index_can_express_claims_nothing_of_it(disk: SimulatedDisk) -> None:
    log = open_log(disk)
    append(log, data_batch())
    far = 2**31 + 10
    log.append_as_follower(placed(data_batch(), far), 0, NOW_MS)
    assert log.log_end_offset == far + 1
    assert offsets(open_log(disk)) == [0, far]


@pytest.mark.parametrize("config", CONFIGS)
def test_a_gap_within_a_segment_is_no_damage(disk: SimulatedDisk, config: LogConfig) -> None:
    log = open_log(disk)
    for offset in (3, 10, 400):
        log.append_as_follower(placed(data_batch(), offset), 0, NOW_MS)
    assert offsets(open_log(disk, config)) == [3, 10, 400]


@pytest.mark.parametrize(("wrong", "left"), [(1, [0]), (2, [0, 1])])
def test_a_batch_with_a_wrong_offset_ends_the_log(disk: SimulatedDisk, log: Log, wrong: int, left: list[int]) -> None:
    size = len(data_batch())
    disk.open(f"{DIRECTORY}/{0:020d}.log", Access.WRITE).write(wrong * size, [(2**20).to_bytes(8)])
    assert offsets(open_log(disk)) == left
    assert len(open_log(disk).segments) == 1


def test_a_last_batch_that_reaches_into_the_next_segment_is_wrong(disk: SimulatedDisk, log: Log) -> None:
    size = len(data_batch())
    disk.open(f"{DIRECTORY}/{4:020d}.log", Access.WRITE).write(3 * size, [(9).to_bytes(8)])
    assert offsets(open_log(disk, recovery_point=7)) == list(range(7))


def test_leader_epochs_do_not_go_back(disk: SimulatedDisk) -> None:
    log = open_log(disk)
    for epoch in (3, 5, 5, 4, 6):
        append(log, data_batch(), epoch)
    assert offsets(open_log(disk)) == [0, 1, 2]
