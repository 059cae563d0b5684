import subprocess
import sys
from pathlib import Path

import pytest

from ottla.storage.directory_lock import DirectoryInUseError, DirectoryLock
from ottla.storage.errors import StorageError

# What Java's FileChannel.tryLock does: a POSIX lock of the whole file.
_TRY_LOCK = """
import fcntl, sys
with open(sys.argv[1], "r+") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        print("free")
    except OSError:
        print("locked")
"""


def seen_by_another_process(path: Path) -> str:
    done = subprocess.run([sys.executable, "-c", _TRY_LOCK, str(path)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_directory_has_one_holder_at_a_time(tmp_path: Path) -> None:
    lock = DirectoryLock.acquire(str(tmp_path))
    with pytest.raises(DirectoryInUseError, match="is using this directory"):
        DirectoryLock.acquire(str(tmp_path), patience_ms=0)
    assert seen_by_another_process(tmp_path / ".lock") == "locked"
    lock.release()
    DirectoryLock.acquire(str(tmp_path)).release()


def test_a_release_removes_the_file_and_may_be_repeated(tmp_path: Path) -> None:
    lock = DirectoryLock.acquire(str(tmp_path))
    assert (tmp_path / ".lock").exists()
    lock.release()
    lock.release()
    assert not (tmp_path / ".lock").exists()


def test_a_file_left_by_a_crash_does_not_lock(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    DirectoryLock.acquire(str(tmp_path)).release()


def test_a_directory_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file or directory"):
        DirectoryLock.acquire(str(tmp_path / "none"))
