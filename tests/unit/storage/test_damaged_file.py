"""One damaged file among many logs: that log's trouble, and nobody else's."""

from pathlib import Path

import pytest

from ottla.base.ids import Uuid
from ottla.storage.cleaner.cleaner_config import CleanerConfig
from ottla.storage.cleaner.log_cleaner import LogCleaner
from ottla.storage.disk.local import LocalDisk
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.errors import CorruptFileError
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.topic_partition import TopicPartition
from tests.unit.storage.cleaner.cleaning import ManualClock, WorkerHere
from tests.unit.storage.log_builder import NOW_MS, append, data_batch, offsets

DAMAGED, HEALTHY = TopicPartition("a", 0), TopicPartition("b", 0)
TOPIC_ID = Uuid(b"0123456789abcdef")
DAY_MS = 86_400_000
CONFIG = LogConfig(segment_bytes=200, index_interval_bytes=100, retention_ms=7 * DAY_MS)
FIRST_SEGMENT = f"/data/a-0/{0:020d}.log"


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW_MS)


def load(disk: SimulatedDisk, clock: ManualClock, config: LogConfig = CONFIG) -> LogManager:
    options = LogManagerOptions(
        directories=("/data",), disk=disk, clock=clock, lock_directory=None, default_config=config
    )
    manager = LogManager(options)
    manager.load()
    return manager


def log_of(manager: LogManager, partition: TopicPartition) -> Log:
    log = manager.get(partition)
    assert log is not None
    return log


def stopped(disk: SimulatedDisk, clock: ManualClock, config: LogConfig = CONFIG) -> None:
    """Two logs of several segments each, after a clean stop."""
    manager = load(disk, clock, config)
    for partition in (DAMAGED, HEALTHY):
        log = manager.get_or_create(partition, None)
        for _ in range(8):
            append(log, data_batch())
        log.update_high_watermark(log.log_end_offset)
        assert len(log.segments) == 4
    manager.shutdown()


def cut_first_segment(disk: SimulatedDisk) -> None:
    file = disk.open(FIRST_SEGMENT, Access.WRITE)
    file.truncate(file.size() - 3)


def test_retention_goes_on_beside_a_damaged_segment(disk: SimulatedDisk, clock: ManualClock) -> None:
    stopped(disk, clock)
    cut_first_segment(disk)
    manager = load(disk, clock)
    clock.time_ms = NOW_MS + 8 * DAY_MS
    manager.maintenance.cleanup(clock.now_ms())
    assert manager.directories.offline() == []
    assert log_of(manager, HEALTHY).log_start_offset == 8


def test_a_damaged_segment_that_is_old_enough_goes_as_well(disk: SimulatedDisk, clock: ManualClock) -> None:
    stopped(disk, clock)
    cut_first_segment(disk)
    manager = load(disk, clock)
    status = disk.status(FIRST_SEGMENT)
    assert status is not None
    manager.maintenance.cleanup(max(NOW_MS, status.modified_ms) + 8 * DAY_MS)
    assert log_of(manager, DAMAGED).log_start_offset == 8


def test_compaction_goes_on_beside_a_damaged_log(disk: SimulatedDisk, clock: ManualClock) -> None:
    compact = LogConfig(
        segment_bytes=200,
        index_interval_bytes=100,
        cleanup_policy=frozenset({"compact"}),
        min_cleanable_dirty_ratio=0.0,
        min_compaction_lag_ms=1,
    )
    stopped(disk, clock, compact)
    cut_first_segment(disk)
    manager = load(disk, clock, compact)
    for partition in (DAMAGED, HEALTHY):
        log_of(manager, partition).update_high_watermark(8)
    cleaner = LogCleaner(manager, CleanerConfig(), lambda order: WorkerHere(disk, order))
    for _ in range(3):
        cleaner.clean_filthiest(NOW_MS + DAY_MS)
    assert list(cleaner.uncleanable) == [DAMAGED]
    assert manager.directories.offline() == []
    assert len(offsets(log_of(manager, HEALTHY))) < 8


def test_a_truncation_that_meets_the_damage_takes_only_its_log_offline(disk: SimulatedDisk, clock: ManualClock) -> None:
    stopped(disk, clock)
    disk.open(FIRST_SEGMENT, Access.WRITE).write(8, [b"\xff"])
    manager = load(disk, clock)
    with pytest.raises(CorruptFileError):
        manager.truncate_to({DAMAGED: 1})
    assert log_of(manager, DAMAGED).offline_error is not None
    assert manager.maintenance.flush_due(NOW_MS + DAY_MS) == 0
    manager.maintenance.checkpoint()
    assert manager.directories.offline() == []
    append(log_of(manager, HEALTHY), data_batch())


@pytest.mark.parametrize("junk", [bytes(300), b"junk" * 20])
def test_junk_behind_a_log_is_cut_off_after_a_clean_stop(disk: SimulatedDisk, clock: ManualClock, junk: bytes) -> None:
    stopped(disk, clock)
    last = max(name for name in disk.list("/data/a-0") if name.endswith(".log"))
    file = disk.open(f"/data/a-0/{last}", Access.WRITE)
    file.write(file.size(), [junk])
    manager = load(disk, clock)
    assert manager.directories.offline_partitions() == set()
    log = log_of(manager, DAMAGED)
    append(log, data_batch())
    log.update_high_watermark(log.log_end_offset)
    assert offsets(log) == list(range(9))


def test_a_log_start_beyond_the_end_takes_nothing_away(disk: SimulatedDisk, clock: ManualClock) -> None:
    stopped(disk, clock)
    path = "/data/log-start-offset-checkpoint"
    disk.open(path, Access.WRITE).truncate(0)
    disk.open(path, Access.WRITE).write(0, [b"0\n1\na 0 999\n"])
    manager = load(disk, clock)
    assert manager.directories.offline_partitions() == {DAMAGED}
    manager.shutdown()
    assert disk.status(FIRST_SEGMENT) is not None
    disk.remove(path)
    assert offsets(log_of(load(disk, clock), DAMAGED)) == list(range(8))


def test_noise_in_the_cleaners_checkpoint_is_as_good_as_none(disk: SimulatedDisk, clock: ManualClock) -> None:
    stopped(disk, clock)
    disk.open("/data/cleaner-offset-checkpoint", Access.CREATE).write(0, [b"\xff\xff noise"])
    manager = load(disk, clock)
    assert manager.directories.all()[0].cleaner_offsets.read() == {}
    manager.delete([HEALTHY])
    assert manager.directories.offline() == []


def test_what_somebody_put_into_a_partitions_directory_goes_with_it(disk: SimulatedDisk, clock: ManualClock) -> None:
    stopped(disk, clock)
    disk.make_directory("/data/b-0/notes/old")
    left_over = f"/data/c-0.{0:032x}-delete/notes/old"
    disk.make_directory(left_over)
    manager = load(disk, clock)
    manager.delete([HEALTHY])
    manager.maintenance.remove_due(NOW_MS + DAY_MS)
    assert manager.directories.offline() == []
    assert {name for name in disk.list("/data") if name.endswith("-delete")} == set()


@pytest.mark.parametrize("name", [f"{0:020d}.log", f"{6:020d}.index", "leader-epoch-checkpoint", "partition.metadata"])
def test_a_directory_where_a_file_should_be_is_one_logs_trouble(clock: ManualClock, tmp_path: Path, name: str) -> None:
    options = LogManagerOptions(
        directories=(str(tmp_path),), disk=LocalDisk(), clock=clock, lock_directory=None, default_config=CONFIG
    )
    manager = LogManager(options)
    manager.load()
    for partition in (DAMAGED, HEALTHY):
        for _ in range(8):
            append(manager.get_or_create(partition, TOPIC_ID), data_batch())
    manager.shutdown()
    (tmp_path / "a-0" / name).unlink()
    (tmp_path / "a-0" / name).mkdir()
    manager = LogManager(options)
    manager.load()
    assert manager.directories.offline() == []
    assert log_of(manager, HEALTHY).log_end_offset == 8


def test_a_file_where_a_partitions_directory_should_be_is_one_logs_trouble(clock: ManualClock, tmp_path: Path) -> None:
    (tmp_path / "a-0").write_text("a note")
    options = LogManagerOptions(directories=(str(tmp_path),), disk=LocalDisk(), clock=clock, lock_directory=None)
    manager = LogManager(options)
    manager.load()
    with pytest.raises(CorruptFileError):
        manager.get_or_create(DAMAGED, TOPIC_ID)
    append(manager.get_or_create(HEALTHY, TOPIC_ID), data_batch())
    assert manager.directories.offline() == []
    assert (tmp_path / "a-0").read_text() == "a note"


def test_a_directory_where_the_identity_of_a_log_directory_should_be_takes_that_one_offline(
    clock: ManualClock, tmp_path: Path
) -> None:
    (tmp_path / "one" / "meta.properties").mkdir(parents=True)
    directories = (str(tmp_path / "one"), str(tmp_path / "two"))
    options = LogManagerOptions(directories=directories, disk=LocalDisk(), clock=clock, lock_directory=None)
    manager = LogManager(options)
    manager.directories.identify(None, 1)
    assert [home.path for home in manager.directories.online()] == [directories[1]]


def test_a_file_where_a_log_directory_was_takes_that_one_offline(clock: ManualClock, tmp_path: Path) -> None:
    directories = (str(tmp_path / "one"), str(tmp_path / "two"))
    options = LogManagerOptions(directories=directories, disk=LocalDisk(), clock=clock, lock_directory=None)
    manager = LogManager(options)
    manager.load()
    for partition in (DAMAGED, HEALTHY):
        append(manager.get_or_create(partition, TOPIC_ID), data_batch())
    (tmp_path / "one").rename(tmp_path / "aside")
    (tmp_path / "one").write_text("a note")
    manager.maintenance.checkpoint()
    assert [home.path for home in manager.directories.offline()] == [directories[0]]
    assert len(manager.all_logs()) == 1
