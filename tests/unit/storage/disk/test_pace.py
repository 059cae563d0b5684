"""When a disk is taken for slow, and when it is stuck."""

from pathlib import Path

from ottla.storage.disk.block_device import BlockDevice
from ottla.storage.disk.pace import HANGING_SECONDS, SLOW_SECONDS, DiskPace


class Watch:
    """A pace whose time a test moves, and what it tells."""

    def __init__(self) -> None:
        self.now = 100.0
        self.changes: list[bool] = []
        self.pace = DiskPace(lambda: self.now)
        self.pace.changed = self.changes.append

    def pass_time(self, seconds: float) -> None:
        """As the loop looks after it."""
        until = self.now + seconds
        while self.now < until:
            self.now = min(self.now + 0.2, until)
            self.pace.look()


def test_a_slow_write_counts_for_some_seconds() -> None:
    watch = Watch()
    watch.pace.took(SLOW_SECONDS / 2)
    assert not watch.pace.is_slow
    watch.pace.took(SLOW_SECONDS)
    assert watch.pace.is_slow
    watch.pass_time(4)
    watch.pace.took(SLOW_SECONDS)
    watch.pass_time(4)
    assert watch.pace.is_slow
    watch.pass_time(2)
    assert watch.changes == [True, False]


def test_what_hangs_is_a_sign_before_it_ends() -> None:
    watch = Watch()
    with watch.pace.under_way():
        watch.pass_time(HANGING_SECONDS / 2)
        assert not watch.pace.is_stuck
        watch.pass_time(HANGING_SECONDS)
        assert watch.pace.is_stuck
        assert watch.pace.is_slow
        watch.pass_time(60)
        assert watch.pace.is_slow
    assert not watch.pace.is_stuck
    watch.pass_time(6)
    assert watch.changes == [True, False]


def test_what_ends_in_time_is_no_sign() -> None:
    watch = Watch()
    for _ in range(20):
        with watch.pace.under_way():
            watch.pass_time(HANGING_SECONDS / 2)
    assert watch.changes == []


def test_a_disk_may_be_taken_for_slow_whatever_it_does() -> None:
    watch = Watch()
    watch.pace.is_always_slow = True
    watch.pass_time(60)
    assert watch.changes == [True]
    assert not watch.pace.is_stuck


def test_a_disk_in_memory_has_no_pace() -> None:
    pace = DiskPace(is_timed=False)
    pace.took(60)
    with pace.under_way(0):
        pace.look()
    assert not pace.is_slow


def device_of(tmp_path: Path) -> tuple[BlockDevice, Path]:
    """The device of a directory, and where the system would count for it."""
    number = tmp_path.stat().st_dev
    stat = tmp_path / "dev" / f"{number >> 8 & 0xFFF}:{number & 0xFF}" / "stat"
    stat.parent.mkdir(parents=True)
    stat.write_text(counts(0, 0))
    return BlockDevice(str(tmp_path), str(tmp_path / "dev")), stat


def counts(completed: int, in_flight: int) -> str:
    return f"  10 0 80 4 {completed} 0 800 90 {in_flight} 100 200 0 0 0 0 3 9\n"


def test_a_device_that_completes_nothing_is_noticed(tmp_path: Path) -> None:
    device, stat = device_of(tmp_path)
    seen = []
    for completed, in_flight in ((5, 0), (5, 2), (6, 2), (6, 3), (6, 1), (6, 0), (6, 1)):
        stat.write_text(counts(completed, in_flight))
        seen.append(device.is_idle_with_work())
    assert seen == [False, False, False, True, True, False, False]


def test_a_file_system_without_a_device_says_nothing(tmp_path: Path) -> None:
    device = BlockDevice(str(tmp_path), str(tmp_path / "nothing"))
    assert not device.is_idle_with_work()
    assert not BlockDevice(str(tmp_path / "absent")).is_idle_with_work()
