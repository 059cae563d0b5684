"""What a clean stop makes the disk do: a node closes thousands of logs, and its users wait for it."""

from collections import Counter

from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log.loader import Shutdown
from tests.unit.storage.log_builder import DIRECTORY, NOW_MS, append, offsets, open_log, produced


class WatchedDisk(SimulatedDisk):
    """Counts what is flushed."""

    def __init__(self) -> None:
        super().__init__()
        self.make_directory("/data")
        self.flushed: Counter[str] = Counter()

    def step(self, operation: str, path: str) -> bool:
        if operation.startswith("flush"):
            self.flushed[path.rpartition("/")[2]] += 1
        return super().step(operation, path)


def test_no_file_is_flushed_twice() -> None:
    disk = WatchedDisk()
    log = open_log(disk)
    for sequence in range(5):
        append(log, produced(7, 0, sequence))
    log.close(NOW_MS)
    del disk.flushed[DIRECTORY.rpartition("/")[2]], disk.flushed["data"]
    assert set(disk.flushed.values()) == {1}
    assert {"00000000000000000000.log", "00000000000000000005.snapshot"} <= set(disk.flushed)
    again = open_log(disk, shutdown=Shutdown.CLEAN, recovery_point=5)
    assert (offsets(again), again.producers.entries[7].last_sequence) == (list(range(5)), 4)


def test_a_log_that_was_only_read_is_not_written_again() -> None:
    disk = WatchedDisk()
    log = open_log(disk)
    append(log, produced(7, 0, 0))
    log.close(NOW_MS)
    for _ in range(2):
        again = open_log(disk, shutdown=Shutdown.CLEAN, recovery_point=1)
        before = {name: disk.status(f"{DIRECTORY}/{name}") for name in disk.list(DIRECTORY)}
        disk.flushed.clear()
        assert offsets(again) == [0]
        again.close(NOW_MS)
        assert not disk.flushed["00000000000000000000.log"]
        assert {name: disk.status(f"{DIRECTORY}/{name}") for name in disk.list(DIRECTORY)} == before
    assert open_log(disk, shutdown=Shutdown.CLEAN, recovery_point=1).producers.entries[7].last_sequence == 0
