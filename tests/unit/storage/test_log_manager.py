import errno
import gc
import logging
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from ottla.base.config import ConfigError
from ottla.base.ids import Uuid
from ottla.protocol.errors import InconsistentTopicIdError
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import Fault, SimulatedDisk
from ottla.storage.errors import CorruptFileError, StorageError
from ottla.storage.log.log import Log
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.meta_properties import MetaProperties, write_meta_properties
from ottla.storage.producer_state.entry import ProducerEntry
from ottla.storage.producer_state.state import EXPIRY_STEP
from ottla.storage.topic_partition import TopicPartition
from tests.unit.storage.cleaner.cleaning import ManualClock
from tests.unit.storage.log_builder import NOW_MS, append, data_batch, offsets

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
TOPIC_ID = Uuid(b"0123456789abcdef")


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW_MS)


def make(disk: SimulatedDisk, clock: ManualClock, *directories: str, **options: object) -> LogManager:
    return LogManager(
        LogManagerOptions(directories=directories or ("/data",), disk=disk, clock=clock, lock_directory=None, **options)  # type: ignore[arg-type]
    )


def load(disk: SimulatedDisk, clock: ManualClock, *directories: str, **options: object) -> LogManager:
    manager = make(disk, clock, *directories, **options)
    manager.load()
    return manager


def fill(manager: LogManager, partition: TopicPartition, count: int = 3) -> None:
    log = manager.get_or_create(partition, TOPIC_ID)
    for _ in range(count):
        append(log, data_batch())
    log.update_high_watermark(log.log_end_offset)


def names(disk: SimulatedDisk, directory: str = "/data") -> list[str]:
    return sorted(disk.list(directory))


# Starting and stopping


def test_a_clean_stop_leaves_everything_for_a_clean_start(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock)
    fill(manager, A0)
    manager.shutdown(broker_epoch=9)
    assert {".kafka_cleanshutdown", "recovery-point-offset-checkpoint", "a-0"} <= set(names(disk))
    again = load(disk, clock)
    home = again.directories.all()[0]
    assert home.clean_shutdown_epoch == 9
    assert ".kafka_cleanshutdown" not in names(disk)
    log = again.get(A0)
    assert log is not None
    assert (offsets(log), log.high_watermark, log.recovery_point) == ([0, 1, 2], 3, 3)
    assert again.topic_id(A0) == TOPIC_ID


def test_without_a_clean_stop_logs_are_recovered(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock)
    fill(manager, A0)
    manager.maintenance.checkpoint()
    again = load(disk, clock)
    assert again.directories.all()[0].clean_shutdown_epoch is None
    log = again.get(A0)
    assert log is not None
    assert (offsets(log), log.high_watermark) == ([0, 1, 2], 3)


def test_deleted_records_do_not_come_back(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock)
    fill(manager, A0)
    log = manager.get(A0)
    assert log is not None
    log.increment_log_start_offset(2)
    manager.shutdown()
    again = load(disk, clock).get(A0)
    assert again is not None
    assert offsets(again) == [2]


def test_a_directory_that_is_named_like_no_partition_refuses(disk: SimulatedDisk, clock: ManualClock) -> None:
    disk.make_directory("/data/lost+found")
    with pytest.raises(CorruptFileError, match=r"/data/lost\+found: not in the form of topic-partition"):
        load(disk, clock)


def test_noise_in_a_checkpoint_refuses(disk: SimulatedDisk, clock: ManualClock) -> None:
    disk.make_directory("/data")
    disk.open("/data/log-start-offset-checkpoint", Access.CREATE).write(0, [b"noise"])
    with pytest.raises(CorruptFileError, match="log-start-offset-checkpoint: line 1"):
        load(disk, clock)


def test_names_decide_what_is_removed_kept_aside_or_left_alone(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock)
    fill(manager, A0)
    manager.shutdown()
    for name in ("b-0.123-delete", "c-0.123-stray", "__cluster_metadata-0", "remote-log-index-cache"):
        disk.make_directory(f"/data/{name}")
    disk.open("/data/b-0.123-delete/file", Access.CREATE)
    again = load(disk, clock)
    assert [partition for partition, _ in again.all_logs()] == [A0]
    assert "b-0.123-delete" not in names(disk)
    assert {"c-0.123-stray", "__cluster_metadata-0", "remote-log-index-cache"} <= set(names(disk))
    assert again.directories.all()[0].stray_paths == ["/data/c-0.123-stray"]


def test_a_partition_that_the_cluster_does_not_know_is_kept_aside(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock)
    fill(manager, A0)
    fill(manager, B0)
    manager.shutdown()
    again = make(disk, clock, unique_id=lambda: "77")
    again.load(is_stray=lambda partition, topic_id: partition == A0 and topic_id == TOPIC_ID)
    assert [partition for partition, _ in again.all_logs()] == [B0]
    assert "a-0.77-stray" in names(disk)
    assert again.get_or_create(A0, None).log_end_offset == 0


def test_a_copy_beside_the_live_log_refuses(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock)
    fill(manager, A0)
    manager.shutdown()
    disk.make_directory("/data/a-0.123-future")
    with pytest.raises(CorruptFileError, match="a-0 has a second directory"):
        load(disk, clock)


def test_the_same_partition_in_two_directories_refuses(disk: SimulatedDisk, clock: ManualClock) -> None:
    for directory in ("/one", "/two"):
        manager = load(disk, clock, directory)
        append(manager.get_or_create(A0, None), data_batch())
        manager.shutdown()
    with pytest.raises(CorruptFileError, match="a-0 has a second directory"):
        load(disk, clock, "/one", "/two")


@pytest.mark.parametrize("is_used", [True, False])
def test_what_a_failing_disk_left_of_a_log_that_was_made_elsewhere_then_goes(
    disk: SimulatedDisk, clock: ManualClock, is_used: bool
) -> None:
    manager = load(disk, clock, "/one", "/two")
    disk.fail(Fault("write", path_ending="/one/a-0/partition.metadata.tmp"))
    log = manager.get_or_create(A0, TOPIC_ID)
    assert log.directory == "/two/a-0"
    if is_used:
        append(log, data_batch())
    with pytest.raises(StorageError, match="/one/a-0"):
        manager.shutdown()
    disk.heal()
    again = load(disk, clock, "/one", "/two").get(A0)
    assert again is not None
    assert (again.directory, again.log_end_offset, again.topic_id) == ("/two/a-0", int(is_used), TOPIC_ID)


def test_whose_directory_it_is_is_checked(disk: SimulatedDisk, clock: ManualClock) -> None:
    disk.make_directory("/data")
    directory_id = Uuid(b"d" * 16)
    write_meta_properties(disk, "/data", MetaProperties("mine", 1, directory_id))
    manager = make(disk, clock)
    assert manager.directories.identify("mine", 1)["/data"].cluster_id == "mine"
    assert manager.directories.all()[0].directory_id == directory_id
    with pytest.raises(StorageError, match=r"Invalid cluster\.id"):
        manager.directories.identify("other", 1)


def test_loading_says_how_far_it_is(disk: SimulatedDisk, clock: ManualClock, caplog: pytest.LogCaptureFixture) -> None:
    manager = load(disk, clock)
    for partition in range(3):
        fill(manager, TopicPartition("a", partition))
    manager.shutdown()

    class Slow(ManualClock):
        def monotonic_ms(self) -> int:
            self.time_ms += 3000
            return self.time_ms

    with caplog.at_level(logging.INFO):
        load(disk, Slow(NOW_MS))
    said = [record.message for record in caplog.records]
    assert "[/data] loading 3 logs after clean stop" in said
    assert any("of 3 logs loaded" in line for line in said)


# Directories that fail


def test_a_directory_broken_at_the_start_is_offline_and_the_rest_serves(
    disk: SimulatedDisk, clock: ManualClock
) -> None:
    manager = load(disk, clock, "/one", "/two")
    fill(manager, A0)
    fill(manager, B0)
    manager.shutdown()
    broken = next(home.path for home in manager.directories.all() if A0 in home.logs)
    disk.fail(Fault("open", errno.EIO, path_ending=f"{broken}/a-0/00000000000000000000.log"))
    again = load(disk, clock, "/one", "/two")
    assert [home.path for home in again.directories.offline()] == [broken]
    assert again.get(A0) is None
    assert again.get(B0) is not None
    with pytest.raises(StorageError, match="a-0 may be in a log directory that is offline"):
        again.get_or_create(A0, None)
    assert again.get_or_create(A1, None, is_new=True).log_end_offset == 0
    with pytest.raises(StorageError, match="offline"):
        again.delete([A0])


def test_without_any_directory_there_is_no_start(disk: SimulatedDisk, clock: ManualClock) -> None:
    disk.make_read_only()
    with pytest.raises(StorageError, match="no log directory is usable"):
        make(disk, clock, "/one", "/two")


def test_a_full_disk_takes_only_its_directory_offline(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock, "/one", "/two")
    fill(manager, A0)
    fill(manager, B0)
    log = manager.get(A0)
    assert log is not None
    disk.fill_up(10)
    with pytest.raises(StorageError, match="No space left on device") as full:
        append(log, data_batch())
    home = manager.fail(full.value)
    assert home is not None
    assert manager.get(A0) is None
    disk.heal()
    other = manager.get(B0)
    assert other is not None
    append(other, data_batch())
    assert manager.directories.offline_partitions() == {A0}


def test_periodic_work_goes_on_when_a_directory_fails(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock, "/one", "/two")
    fill(manager, A0)
    fill(manager, B0)
    disk.fail(Fault("rename", path_ending="/one/recovery-point-offset-checkpoint.tmp"))
    manager.maintenance.checkpoint()
    assert [home.path for home in manager.directories.online()] == ["/two"]
    assert "recovery-point-offset-checkpoint" in names(disk, "/two")


def test_a_log_that_cannot_be_flushed_leaves_no_mark_of_a_clean_stop(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock)
    fill(manager, A0)
    disk.fail(Fault("flush", path_ending=".log"))
    with pytest.raises(StorageError):
        manager.shutdown()
    assert ".kafka_cleanshutdown" not in names(disk)


# Making, deleting, moving


def test_new_logs_go_where_the_fewest_are(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock, "/one", "/two")
    for partition in range(6):
        fill(manager, TopicPartition("a", partition), 0)
    assert [len(home.logs) for home in manager.directories.all()] == [3, 3]


def test_cordoned_directories_take_no_new_logs_but_named_ones_do(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock, "/one", "/two", cordoned=frozenset({"/one"}))
    one, two = manager.directories.all()
    one.directory_id = Uuid(b"1" * 16)
    for partition in range(3):
        fill(manager, TopicPartition("a", partition), 0)
    assert (len(one.logs), len(two.logs)) == (0, 3)
    manager.get_or_create(B0, None, directory_id=one.directory_id)
    assert list(one.logs) == [B0]


def test_a_topic_of_the_same_name_is_not_the_same_topic(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock)
    fill(manager, A0)
    assert manager.get_or_create(A0, TOPIC_ID) is manager.get(A0)
    with pytest.raises(InconsistentTopicIdError):
        manager.get_or_create(A0, Uuid(b"x" * 16))


def test_a_deleted_log_is_renamed_at_once_and_removed_after_the_delay(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock, unique_id=lambda: "99")
    fill(manager, A0)
    manager.maintenance.checkpoint()
    log = manager.get(A0)
    assert log is not None
    reading = log.read(0, 1000, 3).records
    assert reading is not None
    manager.delete([A0])
    assert manager.get(A0) is None
    assert "a-0.99-delete" in names(disk)
    assert manager.directories.all()[0].recovery_points.read() == {}
    assert len(reading.read()) == len(data_batch()) * 3
    manager.maintenance.remove_due(NOW_MS + 59_999)
    assert "a-0.99-delete" in names(disk)
    manager.maintenance.remove_due(NOW_MS + 60_000)
    assert "a-0.99-delete" not in names(disk)
    assert manager.get_or_create(A0, None).log_end_offset == 0


def test_segments_that_retention_drops_are_removed_after_the_delay(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock)
    manager.update_topic_config("a", {"retention.ms": "1000"})
    fill(manager, A0)
    assert manager.maintenance.cleanup(NOW_MS + 5000) == 1
    assert "00000000000000000000.log.deleted" in names(disk, "/data/a-0")
    manager.maintenance.cleanup(NOW_MS + 5000 + 60_000)
    assert "00000000000000000000.log.deleted" not in names(disk, "/data/a-0")


def test_silent_producers_are_forgotten_a_step_at_a_time(disk: SimulatedDisk, clock: ManualClock) -> None:
    known: list[int] = []

    def run_on_writer(change: Callable[[], None]) -> None:
        change()
        known.append(len(log.producers.entries))

    manager = load(disk, clock, run_on_writer=run_on_writer)
    log = manager.get_or_create(A0, None)
    for producer_id in range(2 * EXPIRY_STEP + 1):
        log.producers.entries[producer_id] = ProducerEntry(producer_id)
    manager.maintenance.cleanup(NOW_MS)
    assert known == [EXPIRY_STEP + 1, 1, 0]


def test_a_topic_that_was_made_anew_is_looked_at_for_holes_again(
    disk: SimulatedDisk, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    manager = load(disk, clock)
    for _ in range(2):
        log = manager.get_or_create(A0, None)
        for _ in range(3):
            append(log, data_batch())
            log.roll(NOW_MS)
        log.segments.remove(log.segments.all()[1:2])
        manager.maintenance.cleanup(NOW_MS)
        manager.maintenance.cleanup(NOW_MS)
        assert caplog.text.count("offsets 1 to 1 are in no file") == 1
        caplog.clear()
        manager.delete([A0])


def test_deleted_logs_are_forgotten(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock)
    gc.collect()
    before = _log_count()
    fill(manager, A0)
    manager.maintenance.cleanup(NOW_MS)
    manager.delete([A0])
    manager.maintenance.cleanup(NOW_MS + 60_000)
    assert _log_count() == before


def _log_count() -> int:
    return sum(isinstance(found, Log) for found in gc.get_objects())


def test_a_log_moves_to_another_directory(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock, "/one", "/two", unique_id=lambda: "55")
    fill(manager, A0)
    source = manager.get(A0)
    assert source is not None
    target = "/two" if source.directory.startswith("/one") else "/one"
    copy = manager.open_future(A0, target)
    manager.add_future(A0, copy)
    assert copy.directory == f"{target}/a-0.55-future"
    assert manager.get_future(A0) is copy
    data = source.read(0, 10_000, 3).records
    assert data is not None
    copy.append_as_follower(data.read(), 0, NOW_MS)
    manager.begin_replacement(A0)()
    moved = manager.get(A0)
    assert moved is copy
    assert (moved.directory, offsets(moved), moved.high_watermark) == (f"{target}/a-0", [0, 1, 2], 3)
    assert manager.get_future(A0) is None
    assert source.directory.endswith("/a-0.55-delete")
    manager.shutdown()
    again = load(disk, clock, "/one", "/two").get(A0)
    assert again is not None
    assert (again.directory, offsets(again)) == (f"{target}/a-0", [0, 1, 2])


def test_a_move_under_way_is_found_again_after_a_restart(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock, "/one", "/two")
    fill(manager, A0)
    source = manager.get(A0)
    assert source is not None
    manager.open_future(A0, "/two" if source.directory.startswith("/one") else "/one")
    manager.shutdown()
    again = load(disk, clock, "/one", "/two")
    assert again.get(A0) is not None
    assert again.get_future(A0) is not None


# Settings


def test_settings_change_live(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock)
    fill(manager, A0)
    fill(manager, B0)
    a0, b0 = manager.get(A0), manager.get(B0)
    assert a0 is not None
    assert b0 is not None
    manager.update_topic_config("a", {"retention.ms": "5"})
    assert (a0.config.retention_ms, b0.config.retention_ms) == (5, 604_800_000)
    manager.update_default_config(replace(manager.configs.default, retention_ms=7, segment_ms=8))
    assert (a0.config.retention_ms, a0.config.segment_ms, b0.config.retention_ms) == (5, 8, 7)
    manager.update_topic_config("a", {})
    assert a0.config is b0.config
    with pytest.raises(ConfigError):
        manager.update_topic_config("a", {"retention.ms": "-5"})
    assert a0.config is b0.config


# Flushing


def test_logs_are_flushed_when_their_time_is_over(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock)
    manager.update_topic_config("a", {"flush.ms": "1000"})
    fill(manager, A0)
    fill(manager, B0)
    log = manager.get(A0)
    assert log is not None
    assert manager.maintenance.flush_due(NOW_MS + 999) == 0
    assert manager.maintenance.flush_due(NOW_MS + 1000) == 1
    assert log.recovery_point == 3
    assert manager.maintenance.flush_due(NOW_MS + 5000) == 0


@pytest.mark.parametrize(
    ("settings", "waits"), [({}, False), ({"flush.on.ack": "true"}, True), ({"flush.messages": "2"}, True)]
)
def test_an_acknowledgement_waits_for_the_disk_where_settings_say_so(
    disk: SimulatedDisk, clock: ManualClock, settings: dict[str, object], waits: bool
) -> None:
    manager = load(disk, clock)
    manager.update_topic_config("a", settings)
    fill(manager, A0)
    log = manager.get(A0)
    assert log is not None
    flushed = threading.Event()
    assert manager.maintenance.flush_after_append(log, 3, lambda error: flushed.set()) is waits
    if waits:
        assert flushed.wait(10)
        assert log.recovery_point == 3
    manager.shutdown()


# Damaged logs


def damage(disk: SimulatedDisk, partition: TopicPartition) -> bytes:
    """Flips a bit of a flushed batch, and takes the mark of the clean stop away; the file as it is then."""
    path = f"/data/{partition}/{0:020d}.log"
    file = disk.open(path, Access.WRITE)
    file.write(135, [bytes([file.read(135, 1)[0] ^ 1])])
    disk.remove("/data/.kafka_cleanshutdown")
    return file.read(0, file.size())


def stopped(disk: SimulatedDisk, clock: ManualClock, *partitions: TopicPartition) -> None:
    manager = load(disk, clock)
    for partition in partitions:
        fill(manager, partition)
    manager.shutdown()


def test_a_damaged_log_is_offline_and_the_others_serve(
    disk: SimulatedDisk, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    stopped(disk, clock, A0, A1)
    before = damage(disk, A0)
    manager = load(disk, clock)
    assert manager.get(A0) is None
    assert manager.directories.offline_partitions() == {A0}
    with pytest.raises(CorruptFileError, match=r"/data/a-0/0{20}\.log: the CRC does not match, at position 71"):
        manager.get_or_create(A0, TOPIC_ID)
    with pytest.raises(CorruptFileError):
        manager.get_or_create(A0, TOPIC_ID, is_new=True)
    assert "a-0 is offline, its log is damaged: /data/a-0/" in caplog.text
    fill(manager, A1)
    file = disk.open(f"/data/a-0/{0:020d}.log", Access.READ)
    assert file.read(0, file.size()) == before


def test_a_clean_stop_does_not_make_a_damaged_log_trusted(disk: SimulatedDisk, clock: ManualClock) -> None:
    stopped(disk, clock, A0, A1)
    damage(disk, A0)
    for _ in range(2):
        manager = load(disk, clock)
        manager.maintenance.checkpoint()
        assert manager.directories.offline_partitions() == {A0}
        manager.shutdown()
        assert ".kafka_cleanshutdown" in names(disk)


def test_a_damaged_log_that_was_mended_is_back_after_a_restart(disk: SimulatedDisk, clock: ManualClock) -> None:
    stopped(disk, clock, A0)
    damage(disk, A0)
    load(disk, clock).shutdown()
    damage(disk, A0)
    manager = load(disk, clock)
    assert manager.directories.offline_partitions() == set()
    fill(manager, A0, 1)
    log = manager.get(A0)
    assert log is not None
    assert offsets(log) == [0, 1, 2, 3]
    assert (log.high_watermark, log.topic_id) == (4, TOPIC_ID)
    assert manager.directories.all()[0].damaged_points.read() == {}


def test_a_damaged_log_can_be_deleted_and_made_anew(disk: SimulatedDisk, clock: ManualClock) -> None:
    stopped(disk, clock, A0)
    damage(disk, A0)
    manager = load(disk, clock)
    manager.delete([A0])
    assert "a-0" not in names(disk)
    log = manager.get_or_create(A0, TOPIC_ID)
    assert (log.log_end_offset, log.recovery_point) == (0, 0)
    assert manager.directories.offline_partitions() == set()


def test_noise_in_a_partitions_own_files_takes_only_that_partition_offline(
    disk: SimulatedDisk, clock: ManualClock
) -> None:
    stopped(disk, clock, A0, A1, B0)
    disk.open("/data/a-1/leader-epoch-checkpoint", Access.WRITE).write(0, [b"noise"])
    disk.open("/data/a-0/partition.metadata", Access.WRITE).write(0, [b"noise"])
    manager = load(disk, clock)
    assert manager.directories.offline_partitions() == {A0}
    assert manager.get(A1) is not None
    assert manager.get(B0) is not None


def test_a_damaged_copy_is_dropped_and_the_log_stays(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock, "/data", "/more")
    fill(manager, A0)
    manager.add_future(A0, manager.open_future(A0, "/more"))
    manager.shutdown()
    (copy,) = [name for name in names(disk, "/more") if name.endswith("-future")]
    disk.open(f"/more/{copy}/partition.metadata", Access.WRITE).write(0, [b"noise"])
    manager = load(disk, clock, "/data", "/more")
    assert copy not in names(disk, "/more")
    assert manager.get(A0) is not None
    assert manager.directories.offline_partitions() == set()


# Topic ids


def test_a_log_knows_its_topic_id_and_gets_one_if_it_had_none(disk: SimulatedDisk, clock: ManualClock) -> None:
    manager = load(disk, clock)
    old = manager.get_or_create(A0, None)
    assert old.topic_id is None
    assert manager.get_or_create(A0, TOPIC_ID).topic_id == TOPIC_ID
    manager.shutdown()
    again = load(disk, clock).get(A0)
    assert again is not None
    assert again.topic_id == TOPIC_ID


class WatchedDisk(SimulatedDisk):
    """Notes what the thread that serves clients waits for."""

    def __init__(self) -> None:
        super().__init__()
        self.is_serving = False
        self.waits: list[str] = []

    def run_on_writer(self, change: Callable[[], None]) -> None:
        self.is_serving = True
        change()
        self.is_serving = False

    def step(self, operation: str, path: str) -> bool:
        if self.is_serving and operation.startswith("flush"):
            self.waits.append(path)
        return super().step(operation, path)


def test_who_serves_clients_waits_for_no_disk_while_old_segments_go(clock: ManualClock) -> None:
    disk = WatchedDisk()
    manager = load(disk, clock, run_on_writer=disk.run_on_writer)
    fill(manager, A0)
    log = manager.get(A0)
    assert log is not None
    for epoch in (5, 6):
        log.assign_epoch_start(epoch)
        log.roll(NOW_MS)
        append(log, data_batch())
    log.update_high_watermark(log.log_end_offset)
    manager.update_topic_config("a", {"retention.bytes": 0})
    assert manager.maintenance.cleanup(NOW_MS) > 0
    assert log.log_start_offset > 0
    assert disk.waits == []
    # Nobody waits either while a flush is under way: the work is left for the next round.
    for _ in range(3):
        append(log, data_batch())
    log.update_high_watermark(log.log_end_offset)
    blocked = threading.Event()
    flush_runs = threading.Event()

    def flush(directory: str) -> None:
        flush_runs.set()
        assert blocked.wait(30)

    disk.flush_directory = flush  # type: ignore[method-assign]
    flushing = threading.Thread(target=log.flush_names)
    flushing.start()
    assert flush_runs.wait(30)
    cleaning = threading.Thread(target=manager.maintenance.cleanup, args=(NOW_MS,))
    cleaning.start()
    append(log, data_batch())
    assert (log.is_flushing, disk.is_serving) == (True, False)
    blocked.set()
    flushing.join()
    cleaning.join()
    assert disk.waits == []
