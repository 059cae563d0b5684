"""Processes killed with -9 while they write or compact: what was acknowledged is there after the restart."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.base.system_clock import SystemClock
from ottla.protocol.records.reader import read_tuples
from ottla.storage.cleaner.child import CleanerChild
from ottla.storage.cleaner.cleaner_config import CleanerConfig
from ottla.storage.cleaner.log_cleaner import LogCleaner
from ottla.storage.cleaner.work_order import Failed, Report, WorkOrder
from ottla.storage.log.log import Log
from tests.integration.storage.victim import CLEANED, KEYS, PARTITION, PRODUCER_ID, WRITTEN, batch_at, manager_of

ROUNDS = 4


def start(what: str, directory: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.integration.storage.victim", what, str(directory)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def run_and_kill(what: str, directory: Path, seconds: float) -> list[int]:
    """The numbers it printed until it was killed, some time after the first."""
    process = start(what, directory)
    assert process.stdout is not None
    numbers = [int(process.stdout.readline())]
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    numbers += [int(line) for line in process.stdout if line.endswith("\n")]
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    return numbers


def values(log: Log) -> dict[int, tuple[bytes | None, bytes | None]]:
    """Key and value by offset."""
    found: dict[int, tuple[bytes | None, bytes | None]] = {}
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        data = log.read(offset, 1 << 20, log.log_end_offset)
        if data.records is None:
            break
        records = read_tuples(data.records.read())
        found |= {record[0]: (record[2], record[3]) for record in records if record[0] >= offset}
        if not records or records[-1][0] < offset:
            break
        offset = records[-1][0] + 1
    return found


def test_acknowledged_records_survive_a_killed_writer(tmp_path: Path) -> None:
    chooser = random.Random(1)
    acknowledged = 0
    for _ in range(ROUNDS):
        acknowledged = max(acknowledged, *run_and_kill("write", tmp_path, chooser.uniform(0.05, 0.6)))
        manager = manager_of(str(tmp_path), WRITTEN)
        log = manager.get(PARTITION)
        assert log is not None
        assert log.log_end_offset >= acknowledged
        found = values(log)
        assert list(found) == list(range(log.log_end_offset))
        assert all(value == b"%d" % offset for offset, (_, value) in found.items())
        assert log.producers.entries[PRODUCER_ID].last_sequence == log.log_end_offset - 1
        manager.directories.release()
    assert acknowledged > 100


def test_no_key_is_lost_when_broker_and_cleaner_are_killed(tmp_path: Path) -> None:
    chooser = random.Random(2)
    end = 0
    for _ in range(ROUNDS):
        children = run_and_kill("clean", tmp_path, chooser.uniform(0.0, 0.8))
        wait_until_gone(children)
        manager = manager_of(str(tmp_path), CLEANED)
        log = manager.get(PARTITION)
        assert log is not None
        assert log.log_end_offset >= end
        end = log.log_end_offset
        check_last_values(log)
        assert not [name for name in os.listdir(log.directory) if name.endswith((".cleaned", ".swap", ".log.deleted"))]
        manager.directories.release()
    assert end > 2000


def check_last_values(log: Log) -> None:
    """The newest record of each key is there, at its offset and with its value."""
    found, end = values(log), log.log_end_offset
    for offset in range(max(end - KEYS, 0), end):
        assert found[offset] == (b"%d" % (offset % KEYS), b"%d" % offset)
    assert all(value == b"%d" % offset for offset, (_, value) in found.items())


def wait_until_gone(children: list[int]) -> None:
    """A cleaning process ends when its broker does."""
    deadline = time.monotonic() + 20
    while any(is_cleaning(pid) for pid in children):
        assert time.monotonic() < deadline, "a cleaning process outlives its broker"
        time.sleep(0.02)


def is_cleaning(pid: int) -> bool:
    try:
        return b"ottla.storage.cleaner.process" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


class DoomedChild(CleanerChild):
    """A cleaning process that is killed after so many of its reports; what it said after them is lost."""

    def __init__(self, order: WorkOrder, reports: int) -> None:
        super().__init__(order)
        self._left = reports
        if not reports:
            os.kill(self.pid, signal.SIGKILL)

    def reports(self) -> Iterator[Report]:
        for report in super().reports():
            yield report
            self._left -= 1
            if not self._left:
                os.kill(self.pid, signal.SIGKILL)
                yield Failed("killed", "", is_corrupt=False)
                return


@pytest.mark.parametrize("reports", [0, 1, 2, 3])
def test_a_killed_cleaner_leaves_the_log_whole_and_the_next_round_finishes(tmp_path: Path, reports: int) -> None:
    manager = manager_of(str(tmp_path), CLEANED)
    log = manager.get_or_create(PARTITION, None)
    for _ in range(400):
        log.append_as_leader(batch_at(log, 20), 0, SystemClock().now_ms())
    log.update_high_watermark(log.log_end_offset)
    before = len(values(log))
    doomed = LogCleaner(manager, CleanerConfig(), lambda order: DoomedChild(order, reports))
    assert doomed.clean_filthiest(SystemClock().now_ms()) is None
    assert not doomed.uncleanable
    check_last_values(log)
    assert (len(values(log)) < before) is (reports > 0)
    assert not [name for name in os.listdir(log.directory) if name.endswith((".cleaned", ".swap"))]
    assert LogCleaner(manager, CleanerConfig()).clean_filthiest(SystemClock().now_ms()) is not None
    check_last_values(log)
    assert len(values(log)) < KEYS + 400
    manager.shutdown()
