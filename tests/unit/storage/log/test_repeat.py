"""Repeated batches after a restart: a snapshot holds the last of a producer only, the log holds the others."""

import pytest

from ottla.protocol.errors import OutOfOrderSequenceNumberError
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log import repeat
from ottla.storage.log.append_info import FROM_CLIENT
from ottla.storage.log.loader import Shutdown
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from tests.unit.storage.log_builder import NOW_MS, SMALL, append, open_log, produced

_LARGE = LogConfig(segment_bytes=1 << 20, index_interval_bytes=100)


@pytest.fixture
def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directory("/data")
    return made


def _restarted(disk: SimulatedDisk, log: Log, config: LogConfig = SMALL) -> Log:
    log.close(NOW_MS)
    return open_log(disk, config, Shutdown.CLEAN, recovery_point=log.log_end_offset)


def _again(log: Log, sequence: int, count: int = 2) -> tuple[int, int]:
    info = append(log, produced(7, 0, sequence, count), options=FROM_CLIENT)
    return info.first_offset, info.last_offset


@pytest.mark.parametrize("config", [SMALL, _LARGE], ids=["many segments", "one segment"])
def test_each_of_the_last_five_is_recognised_after_a_restart(disk: SimulatedDisk, config: LogConfig) -> None:
    log = open_log(disk, config)
    for turn in range(12):
        append(log, produced(7, 0, 2 * turn, 2), options=FROM_CLIENT)
        append(log, produced(8, 0, 3 * turn, 3), options=FROM_CLIENT)
    end_offset = log.log_end_offset
    for turn in range(7, 12):
        again = _restarted(disk, log, config)
        assert _again(again, 2 * turn) == (5 * turn, 5 * turn + 1)
        assert again.log_end_offset == end_offset
        log = again
    with pytest.raises(OutOfOrderSequenceNumberError):
        _again(_restarted(disk, log, config), 2 * 6)


def test_what_is_appended_after_the_restart_counts_too(disk: SimulatedDisk) -> None:
    log = open_log(disk)
    for turn in range(6):
        _again(log, 2 * turn)
    log = _restarted(disk, log)
    assert _again(log, 12) == (12, 13)
    assert _again(log, 8) == (8, 9)
    assert _again(log, 4) == (4, 5)
    with pytest.raises(OutOfOrderSequenceNumberError):
        _again(log, 2)
    assert _again(log, 14) == (14, 15)


def test_a_batch_that_the_log_never_had_stays_out_of_order(disk: SimulatedDisk) -> None:
    log = open_log(disk)
    for turn in range(6):
        _again(log, 2 * turn)
    log = _restarted(disk, log)
    for sequence, count in [(9, 2), (8, 1), (14, 2), (20, 2)]:
        with pytest.raises(OutOfOrderSequenceNumberError):
            _again(log, sequence, count)


def test_batches_of_an_older_epoch_are_not_taken_for_those_of_this_one(disk: SimulatedDisk) -> None:
    log = open_log(disk)
    for turn in range(4):
        _again(log, 2 * turn)
    append(log, produced(7, 1, 0, 2), options=FROM_CLIENT)
    append(log, produced(7, 1, 2, 2), options=FROM_CLIENT)
    log = _restarted(disk, log)
    assert append(log, produced(7, 1, 0, 2), options=FROM_CLIENT).first_offset == 8
    with pytest.raises(OutOfOrderSequenceNumberError):
        append(log, produced(7, 1, 6, 2), options=FROM_CLIENT)


def test_the_search_ends_after_so_many_bytes(disk: SimulatedDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    log = open_log(disk, _LARGE)
    _again(log, 0)
    for turn in range(40):
        append(log, produced(8, 0, 3 * turn, 3), options=FROM_CLIENT)
    _again(log, 2)
    monkeypatch.setattr(repeat, "SEARCH_BYTES", 1_000)
    log = _restarted(disk, log, _LARGE)
    with pytest.raises(OutOfOrderSequenceNumberError):
        _again(log, 0)
