from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random

import pytest

from ottla.protocol.compression import CompressionType
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.cleaner.cleaner_config import CleanerConfig
from ottla.storage.cleaner.log_cleaner import LogCleaner
from ottla.storage.cleaner.work_order import Report, WorkOrder
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import Fault, PowerCut, SimulatedDisk
from ottla.storage.log.log import Log
from ottla.storage.log_manager import LogManager
from tests.unit.storage.cleaner.cleaning import (
    COMPACT,
    ORDERS,
    T0,
    ManualClock,
    WorkerHere,
    cleaner_of,
    manager_on,
    put,
)
from tests.unit.storage.legacy_builder import message, wrapper, write_segment
from tests.unit.storage.log_builder import FROM_COORDINATOR, UNVERIFIED, marker, produced, records

DAY_MS = 86_400_000
# Offsets, keys and values before and after, as PRODUCT.md has them.
EXAMPLE = [
    (13, "K1", "V5"), (17, "K5", "V2"), (19, "K2", "V7"), (20, "K7", "V1"), (21, "K8", "V4"), (22, "K4", "V6"),
    (23, "K1", "V1"), (24, "K1", "V2"), (25, "K1", "V9"), (26, "K9", "V6"), (27, "K8", "V22"), (28, "K2", "V25"),
]  # fmt: skip
CLEANED = [
    (17, "K5", "V2"), (20, "K7", "V1"), (22, "K4", "V6"), (25, "K1", "V9"), (26, "K9", "V6"), (27, "K8", "V22"),
    (28, "K2", "V25"),
]  # fmt: skip


def pairs(log: Log) -> list[tuple[int, str, str | None]]:
    return [
        (offset, key.decode(), None if value is None else value.decode())  # type: ignore[attr-defined,misc]
        for offset, _, key, value, _ in records(log)
    ]


def test_the_worked_example_holds() -> None:
    disk, clock = SimulatedDisk(), ManualClock()
    manager = manager_on(disk, clock)
    log = manager.get_or_create(ORDERS, None)
    for offset, key, value in EXAMPLE:
        batch = write_batch([(offset, T0, key.encode(), value.encode(), ())], BatchOptions(partition_leader_epoch=0))
        log.append_as_follower(batch, 0, T0)
    log.update_high_watermark(log.log_end_offset)
    log.roll(T0)
    finished = cleaner_of(manager, disk).clean_filthiest(T0)
    assert finished is not None
    assert (finished.clean_offset, finished.records_read, finished.records_kept) == (29, 12, 7)
    assert pairs(log) == CLEANED
    assert manager.directories.all()[0].cleaner_offsets.read() == {ORDERS: 29}
    manager.shutdown()
    again = manager_on(disk, clock).get(ORDERS)
    assert again is not None
    assert pairs(again) == CLEANED


def test_a_clean_log_is_left_alone_until_it_is_dirty_again() -> None:
    disk, clock = SimulatedDisk(), ManualClock()
    manager = manager_on(disk, clock)
    log = manager.get_or_create(ORDERS, None)
    put(log, ("a", "1"), ("b", "1"))
    log.roll(T0)
    cleaner = cleaner_of(manager, disk)
    assert cleaner.clean_filthiest(T0) is not None
    assert cleaner.clean_filthiest(T0) is None
    put(log, ("a", "2"))
    log.roll(T0)
    assert cleaner.clean_filthiest(T0) is not None
    assert pairs(log) == [(1, "b", "1"), (2, "a", "2")]


def test_the_dirtiest_log_goes_first_and_a_low_share_waits() -> None:
    disk, clock = SimulatedDisk(), ManualClock()
    topics: dict[str, dict[str, object]] = {"orders": COMPACT, "other": {**COMPACT, "min.cleanable.dirty.ratio": "0.6"}}
    manager = manager_on(disk, clock, topics)
    orders = manager.get_or_create(ORDERS, None)
    other = manager.get_or_create(ORDERS._replace(topic="other"), None)
    cleaner = cleaner_of(manager, disk)
    for log in (orders, other):
        put(log, ("a", "1" * 100))
        log.roll(T0)
    assert [found.dirty_ratio for found in cleaner.due(T0)] == [1.0, 1.0]
    assert cleaner.clean_filthiest(T0) is not None
    assert cleaner.clean_filthiest(T0) is not None
    put(orders, ("b", "1" * 200))
    put(other, ("b", "1" * 100))
    orders.roll(T0)
    other.roll(T0)
    assert [found.partition.topic for found in cleaner.due(T0)] == ["orders"]


def test_lags_hold_cleaning_back_and_hurry_it_up() -> None:
    disk, clock = SimulatedDisk(), ManualClock()
    lagging: dict[str, object] = {
        **COMPACT, "min.compaction.lag.ms": "1000", "max.compaction.lag.ms": "5000", "min.cleanable.dirty.ratio": "1",
    }  # fmt: skip
    manager = manager_on(disk, clock, {"orders": lagging})
    log = manager.get_or_create(ORDERS, None)
    put(log, ("a", "1"), timestamp=T0)
    log.roll(T0)
    put(log, ("a", "2"), timestamp=T0 + 2000)
    log.roll(T0)
    cleaner = cleaner_of(manager, disk)
    assert cleaner.due(T0 + 900) == []
    assert cleaner.due(T0 + 2500) == []
    [due] = cleaner.due(T0 + 5001)
    assert (due.is_overdue, due.first_dirty_offset, due.end_offset) == (True, 0, 2)


def test_the_active_segment_and_open_transactions_are_not_touched() -> None:
    disk, clock = SimulatedDisk(), ManualClock()
    manager = manager_on(disk, clock)
    log = manager.get_or_create(ORDERS, None)
    put(log, ("a", "1"))
    log.roll(T0)
    log.append_as_leader(produced(7, 0, 0, transactional=True), 0, T0, UNVERIFIED)
    log.roll(T0)
    put(log, ("a", "2"))
    log.roll(T0)
    put(log, ("a", "3"))
    [due] = cleaner_of(manager, disk).due(T0)
    assert due.end_offset == 1


def test_aborted_records_go_and_the_index_keeps_what_readers_need() -> None:
    disk, clock = SimulatedDisk(), ManualClock()
    manager = manager_on(disk, clock)
    log = manager.get_or_create(ORDERS, None)
    log.append_as_leader(produced(7, 0, 0, 2, transactional=True), 0, T0, UNVERIFIED)
    log.append_as_leader(marker(7, 0, ControlRecordType.ABORT), 0, T0, FROM_COORDINATOR)
    log.append_as_leader(produced(7, 0, 2, 2, transactional=True), 0, T0, UNVERIFIED)
    log.append_as_leader(marker(7, 0, ControlRecordType.COMMIT), 0, T0, FROM_COORDINATOR)
    log.update_high_watermark(log.log_end_offset)
    log.roll(T0)
    cleaner = cleaner_of(manager, disk)
    assert cleaner.clean_filthiest(T0) is not None
    assert [record[0] for record in records(log)] == [2, 3, 4, 5]
    assert [entry.first_offset for entry in log.aborted_transactions(0, 6)] == [0]
    put(log, ("x", "1"))
    log.roll(T0)
    assert cleaner.clean_filthiest(T0 + 1) is not None
    assert [record[0] for record in records(log)] == [2, 3, 4, 5, 6]
    put(log, ("x", "2"))
    log.roll(T0)
    assert cleaner.clean_filthiest(T0 + 2 + DAY_MS) is not None
    assert [record[0] for record in records(log)] == [3, 4, 5, 7]
    assert log.aborted_transactions(0, 6) == []


def test_a_map_that_is_full_cleans_what_it_knows_and_the_rest_the_next_time() -> None:
    disk, clock = SimulatedDisk(), ManualClock()
    manager = manager_on(disk, clock)
    log = manager.get_or_create(ORDERS, None)
    for number in range(40):
        put(log, (f"k{number % 20}", str(number)))
    log.roll(T0)
    cleaner = cleaner_of(manager, disk, CleanerConfig(dedupe_buffer_size=24 * 10, io_buffer_load_factor=1.0))
    rounds = 0
    while (finished := cleaner.clean_filthiest(T0)) is not None:
        rounds += 1
        assert finished.keys <= 10
    assert rounds == 4
    assert pairs(log) == [(number, f"k{number % 20}", str(number)) for number in range(20, 40)]


def test_a_batch_with_more_keys_than_fit_makes_the_log_uncleanable() -> None:
    disk, clock = SimulatedDisk(), ManualClock()
    manager = manager_on(disk, clock)
    log = manager.get_or_create(ORDERS, None)
    put(log, *[(f"k{number}", "v") for number in range(11)])
    log.roll(T0)
    cleaner = cleaner_of(manager, disk, CleanerConfig(dedupe_buffer_size=24 * 10, io_buffer_load_factor=1.0))
    assert cleaner.clean_filthiest(T0) is None
    assert list(cleaner.uncleanable) == [ORDERS]


def test_a_corrupt_segment_makes_the_log_uncleanable_and_loses_nothing() -> None:
    disk, clock = SimulatedDisk(), ManualClock()
    manager = manager_on(disk, clock)
    log = manager.get_or_create(ORDERS, None)
    put(log, ("a", "1"), ("a", "2"))
    log.roll(T0)
    path = f"{log.directory}/00000000000000000000.log"
    size = disk.open(path, Access.READ).size()
    disk.open(path, Access.WRITE).write(size - 1, [b"\xff"])
    cleaner = cleaner_of(manager, disk)
    assert cleaner.clean_filthiest(T0) is None
    assert list(cleaner.uncleanable) == [ORDERS]
    assert not [name for name in disk.list(log.directory) if name.endswith(".cleaned")]
    assert disk.open(path, Access.READ).size() == size
    assert cleaner.clean_filthiest(T0) is None


def test_a_disk_error_takes_the_directory_offline() -> None:
    disk, clock = SimulatedDisk(), ManualClock()
    manager = manager_on(disk, clock)
    log = manager.get_or_create(ORDERS, None)
    put(log, ("a", "1"), ("a", "2"))
    log.roll(T0)
    disk.fail(Fault("rename", path_ending=".cleaned"))
    assert cleaner_of(manager, disk).clean_filthiest(T0) is None
    assert manager.get(ORDERS) is None
    assert manager.directories.offline_partitions() == {ORDERS}


def test_a_paused_log_is_not_cleaned() -> None:
    disk, clock = SimulatedDisk(), ManualClock()
    manager = manager_on(disk, clock)
    log = manager.get_or_create(ORDERS, None)
    put(log, ("a", "1"), ("a", "2"))
    log.roll(T0)
    cleaner = cleaner_of(manager, disk)
    with manager.cleaning.paused(ORDERS):
        assert cleaner.clean_filthiest(T0) is None
    assert cleaner.clean_filthiest(T0) is not None


def test_truncation_makes_the_log_dirty_from_where_it_was_cut() -> None:
    disk, clock = SimulatedDisk(), ManualClock()
    manager = manager_on(disk, clock)
    log = manager.get_or_create(ORDERS, None)
    for number in range(6):
        put(log, ("a", str(number)))
        log.roll(T0)
    cleaner = cleaner_of(manager, disk)
    assert cleaner.clean_filthiest(T0) is not None
    assert manager.directories.all()[0].cleaner_offsets.read() == {ORDERS: 6}
    manager.truncate_to({ORDERS: 2})
    assert manager.directories.all()[0].cleaner_offsets.read()[ORDERS] <= 2


def build(disk: SimulatedDisk) -> None:
    """A log that is on the disk and dirty, left in order."""
    manager = manager_on(disk, ManualClock())
    log = manager.get_or_create(ORDERS, None)
    for number in range(12):
        put(log, (f"k{number % 5}", f"v{number}" * 10), (f"t{number}", None))
    log.roll(T0)
    manager.shutdown()


def last_values(log: Log) -> dict[str, str | None]:
    return {key: value for _, key, value in pairs(log)}


@pytest.mark.parametrize("seed", range(2))
def test_power_cut_at_any_step_of_cleaning_loses_no_key(seed: int) -> None:
    disk = SimulatedDisk()
    build(disk)
    cut = 0
    while True:
        manager = manager_on(disk, ManualClock())
        log = manager.get(ORDERS)
        assert log is not None
        log.update_high_watermark(log.log_end_offset)
        before, end = last_values(log), log.log_end_offset
        put(log, ("k0", f"new-{cut}" * 10), ("k1", f"new-{cut}" * 5))
        log.roll(T0)
        log.flush(T0)
        before |= {"k0": f"new-{cut}" * 10, "k1": f"new-{cut}" * 5}
        disk.cut_after(cut)
        try:
            finished = cleaner_of(manager, disk).clean_filthiest(T0)
            manager.maintenance.remove_due(T0 + DAY_MS)
        except PowerCut:
            finished = None
        disk.crash(Random(seed * 1000 + cut))
        recovered = manager_on(disk, ManualClock())
        again = recovered.get(ORDERS)
        assert again is not None
        assert last_values(again) == before
        assert again.log_end_offset == end + 2
        offsets = [offset for offset, _, _ in pairs(again)]
        assert offsets == sorted(set(offsets))
        if finished is not None:
            break
        recovered.shutdown()
        cut += 1
    assert cut > 20


def test_a_round_that_is_overtaken_by_a_truncation_changes_nothing_more() -> None:
    disk, clock = SimulatedDisk(), ManualClock()
    manager = manager_on(disk, clock)
    log = manager.get_or_create(ORDERS, None)
    for number in range(12):
        put(log, (f"k{number}", "v" * 100))
    log.roll(T0)

    class Overtaken(WorkerHere):
        stopped = 0

        def reports(self) -> Iterator[Report]:
            for number, report in enumerate(super().reports()):
                if number == 1:
                    manager.truncate_to({ORDERS: 5})
                yield report

        def stop(self) -> None:
            Overtaken.stopped += 1

    cleaner = LogCleaner(manager, CleanerConfig(), lambda order: Overtaken(disk, order))
    assert cleaner.clean_filthiest(T0) is None
    assert Overtaken.stopped == 1
    assert [offset for offset, _, _ in pairs(log)] == [0, 1, 2, 3, 4]
    assert manager.directories.all()[0].cleaner_offsets.read() == {}
    assert [name for name in disk.list(log.directory) if name.endswith(".log.cleaned")]
    log.update_high_watermark(log.log_end_offset)
    log.roll(T0)
    assert cleaner_of(manager, disk).clean_filthiest(T0) is not None
    assert not [name for name in disk.list(log.directory) if name.endswith(".cleaned")]
    assert [offset for offset, _, _ in pairs(log)] == [0, 1, 2, 3, 4]


class Serving:
    """The thread that serves clients: notes what it waits for, and may do something else after a change."""

    def __init__(self, disk: "WatchedDisk") -> None:
        self.disk = disk
        self.changes = 0
        self.between: Callable[[int], None] = lambda change: None

    def run_on_writer(self, change: Callable[[], None]) -> None:
        self.disk.is_serving = True
        change()
        self.disk.is_serving = False
        self.changes += 1
        self.between(self.changes)


class WatchedDisk(SimulatedDisk):
    """Notes what is flushed while clients are served."""

    def __init__(self) -> None:
        super().__init__()
        self.is_serving = False
        self.waits: list[str] = []

    def step(self, operation: str, path: str) -> bool:
        if self.is_serving and operation.startswith("flush"):
            self.waits.append(path)
        return super().step(operation, path)


def dirty_log(disk: WatchedDisk) -> tuple[LogManager, Log, Serving]:
    serving = Serving(disk)
    manager = manager_on(disk, ManualClock(), run_on_writer=serving.run_on_writer)
    log = manager.get_or_create(ORDERS, None)
    for number in range(12):
        put(log, (f"k{number % 5}", f"v{number}" * 10))
    log.roll(T0)
    log.flush(T0)
    return manager, log, serving


def test_who_serves_clients_waits_for_no_disk_while_a_log_is_cleaned() -> None:
    disk = WatchedDisk()
    manager, log, _ = dirty_log(disk)
    assert cleaner_of(manager, disk).clean_filthiest(T0) is not None
    assert [key for _, key, _ in pairs(log)] == [f"k{number % 5}" for number in range(7, 12)]
    assert manager.directories.all()[0].cleaner_offsets.read() == {ORDERS: 12}
    assert disk.waits == []


@pytest.mark.parametrize("overtaken_after", range(1, 8))
@pytest.mark.parametrize("cut_to", [1, 6, 20])
@pytest.mark.parametrize("crashes_at_once", [True, False])
def test_what_was_cut_off_between_two_steps_of_a_swap_stays_away(
    overtaken_after: int, cut_to: int, crashes_at_once: bool
) -> None:
    """[0 … 11] is being cleaned, and cut to 6 at any moment: after a crash nothing beyond 6 is there again."""
    for seed in range(3):
        disk = WatchedDisk()
        manager, log, serving = dirty_log(disk)

        def overtake(change: int, manager: LogManager = manager) -> None:
            if change == overtaken_after:
                manager.truncate_to({ORDERS: cut_to})
                if crashes_at_once:
                    raise PowerCut

        serving.between = overtake
        with suppress(PowerCut):
            cleaner_of(manager, disk).clean_filthiest(T0)
        kept, values, end = pairs(log), last_values(log), log.log_end_offset
        disk.crash(Random(seed))
        again = manager_on(disk, ManualClock()).get(ORDERS)
        assert again is not None
        # Where nothing is left of a segment its base offset is all that says where the log ends.
        assert again.log_end_offset == end if kept else again.log_end_offset <= end
        assert last_values(again) == values
        if cut_to < 12:
            assert pairs(again) == kept


# Old messages


def old_log(disk: SimulatedDisk, *segments: tuple[int, bytes]) -> LogManager:
    """A log of closed segments that were written to a while ago, and an empty active one."""
    disk.make_directory("/data/orders-0")
    disk.now_ms = T0 - 10 * DAY_MS
    for base_offset, data in segments:
        write_segment(disk, "/data/orders-0", base_offset, data)
    disk.now_ms = T0
    manager = manager_on(disk, ManualClock())
    log = manager.get(ORDERS)
    assert log is not None
    log.update_high_watermark(log.log_end_offset)
    log.roll(T0)
    return manager


def test_old_messages_are_compacted_into_batches_of_today() -> None:
    disk = SimulatedDisk()
    old = message(0, 0, (b"a", b"1")) + wrapper(1, 1, [(b"b", b"1"), (b"a", b"2")], CompressionType.GZIP, T0)
    manager = old_log(disk, (0, old), (3, message(3, 1, (b"b", None), timestamp=T0)))
    log = manager.get(ORDERS)
    assert log is not None
    put(log, ("c", "1"))
    log.roll(T0)
    finished = cleaner_of(manager, disk).clean_filthiest(T0)
    assert finished is not None
    assert (finished.records_read, finished.records_kept) == (5, 3)
    assert pairs(log) == [(2, "a", "2"), (3, "b", None), (4, "c", "1")]
    stored = [batch for segment in log.segments for batch in segment.scan()]
    assert [(type(batch), batch.base_offset, batch.last_offset) for batch in stored] == [
        (Batch, 2, 2), (Batch, 3, 3), (Batch, 4, 4),
    ]  # fmt: skip
    assert stored[1].delete_horizon_ms == T0 + DAY_MS  # type: ignore[union-attr]


@pytest.mark.parametrize("keys_max", [1, 2])
def test_a_map_that_is_full_stops_before_an_old_message(keys_max: int) -> None:
    disk = SimulatedDisk()
    manager = old_log(disk, (0, b"".join(message(index, 0, (b"%d" % index, b"")) for index in range(4))))
    config = CleanerConfig(dedupe_buffer_size=24 * keys_max, io_buffer_load_factor=1.0)
    finished = cleaner_of(manager, disk, config).clean_filthiest(T0)
    assert finished is not None
    assert finished.clean_offset == keys_max


def test_old_tombstones_go_from_what_was_clean_for_long() -> None:
    """Before there were delete horizons a segment's age told: here the clean one is older than the last clean one."""
    disk = SimulatedDisk()
    manager = old_log(
        disk,
        (0, message(0, 0, (b"a", None))),
        (1, message(1, 0, (b"b", None))),
        (2, message(2, 0, (b"c", b"1"))),
    )
    young = disk.open(f"/data/orders-0/{1:020d}.log", Access.WRITE)
    young.write(0, [young.read(0, young.size())])
    manager.directories.all()[0].cleaner_offsets.write({ORDERS: 2})
    log = manager.get(ORDERS)
    assert log is not None
    assert cleaner_of(manager, disk).clean_filthiest(T0) is not None
    assert pairs(log) == [(1, "b", None), (2, "c", "1")]


def test_the_last_old_message_of_a_round_may_go_and_leaves_its_offset() -> None:
    disk = SimulatedDisk()
    manager = old_log(disk, (0, message(0, 0, (b"a", b"1")) + message(1, 0, (None, b"no key"))))
    log = manager.get(ORDERS)
    assert log is not None
    assert cleaner_of(manager, disk).clean_filthiest(T0) is not None
    assert pairs(log) == [(0, "a", "1")]
    assert [batch.last_offset for segment in log.segments for batch in segment.scan()] == [0, 1]


@pytest.mark.parametrize("io_buffer_size", [0, 100, 700, 1 << 20])
def test_the_size_of_the_buffers_changes_nothing_but_the_memory(io_buffer_size: int) -> None:
    disk, clock = SimulatedDisk(), ManualClock()
    manager = manager_on(disk, clock)
    log = manager.get_or_create(ORDERS, None)
    for index in range(20):
        put(log, (f"k{index % 4}", "v" * (index * 15)), (f"x{index % 3}", "w"))
    log.roll(T0)
    sizes: list[int] = []
    config = CleanerConfig(io_buffer_size=io_buffer_size, threads=2)

    def start(order: WorkOrder) -> WorkerHere:
        return WorkerHere(disk, order, sizes.append)

    assert LogCleaner(manager, config, start).clean_filthiest(T0) is not None
    assert [key for _, key, _ in pairs(log)] == ["k0", "k1", "x2", "k2", "x0", "k3", "x1"]
    largest = max(len(batch.data) for segment in log.segments for batch in segment.scan())
    assert max(sizes) <= max(io_buffer_size // 4 + largest, 64 + largest)
