"""A log directory that another holder has is waited for, for as long as the patience lasts."""

import threading
from pathlib import Path

import pytest

from ottla.storage.directory_lock import DirectoryInUseError, DirectoryLock
from ottla.storage.disk.local import LocalDisk
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from tests.unit.storage.cleaner.cleaning import ManualClock
from tests.unit.storage.log_builder import NOW_MS
from tests.unit.storage.test_directory_lock import seen_by_another_process


def test_a_lock_that_is_given_back_soon_is_waited_for(tmp_path: Path) -> None:
    held = DirectoryLock.acquire(str(tmp_path))
    release = threading.Timer(0.05, held.release)
    release.start()
    lock = DirectoryLock.acquire(str(tmp_path), patience_ms=10_000)
    release.join()
    assert seen_by_another_process(tmp_path / ".lock") == "locked"
    lock.release()


def test_two_managers_do_not_share_a_directory(tmp_path: Path) -> None:
    options = LogManagerOptions(directories=(str(tmp_path),), disk=LocalDisk(), clock=ManualClock(NOW_MS))
    first = LogManager(options)
    with pytest.raises(DirectoryInUseError):
        LogManager(options)
    first.load()
    first.shutdown()
    assert not (tmp_path / ".lock").exists()
    LogManager(options).directories.release()
