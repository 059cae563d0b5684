"""A process that appends is killed with -9 again and again; what it said was flushed is there, and goes on."""

import subprocess
import sys
from pathlib import Path

from ottla.storage.disk.local import LocalDisk
from ottla.storage.log.loader import LoadOptions
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from tests.unit.storage.log_builder import NOW_MS, append, data_batch

ROUNDS = 6
CONFIG = LogConfig(segment_bytes=100_000, segment_index_bytes=24_000, index_interval_bytes=500)


def open_log(path: str, recovery_point: int) -> Log:
    return Log.open(LocalDisk(), path, CONFIG, LoadOptions("orders", 0, NOW_MS, recovery_point=recovery_point))


def write_until_killed(path: str, recovery_point: int) -> None:
    """Appends for ever, and says after each flush how far the disk has it."""
    log = open_log(path, recovery_point)
    print("opened", log.log_end_offset, flush=True)
    while True:
        for index in range(50):
            append(log, data_batch(3, value=bytes(20 * index)))
        log.flush(NOW_MS)
        print("flushed", log.recovery_point, flush=True)


def test_log_survives_kill_9(tmp_path: Path) -> None:
    path = f"{tmp_path}/orders-0"
    flushed = 0
    for count in range(1, ROUNDS + 1):
        command = [sys.executable, "-m", "tests.simulation.storage.test_log_kill", path, str(flushed)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            opened = int(writer.stdout.readline().split()[1])
            assert opened >= flushed
            for _ in range(count):
                flushed = int(writer.stdout.readline().split()[1])
            writer.kill()
        log = open_log(path, flushed)
        assert log.log_end_offset >= flushed
        found = [batch.base_offset for segment in log.segments for batch in segment.scan()]
        assert found == list(range(0, log.log_end_offset, 3))


if __name__ == "__main__":
    write_until_killed(sys.argv[1], int(sys.argv[2]))
