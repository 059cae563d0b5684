"""Which of too many open files are closed."""

import errno
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.storage.disk.held_open import HeldOpen, held_files, held_maps
from ottla.storage.disk.local import LocalDisk
from ottla.storage.disk.port import Access, File
from ottla.storage.errors import ResourceShortageError


class Opened:
    """Something that can be open."""

    def __init__(self) -> None:
        self.written = 0
        self.is_open = True

    def let_go(self) -> None:
        self.is_open = False


def noted(held: HeldOpen, count: int) -> list[Opened]:
    found = [Opened() for _ in range(count)]
    for one in found:
        held.note(one)
    return found


def test_the_ones_not_used_for_longest_go_first() -> None:
    found = noted(held := HeldOpen("files", 3), 5)
    assert [one.is_open for one in found] == [False, False, True, True, True]
    assert len(held) == 3


def test_what_was_written_to_since_stays_for_another_turn() -> None:
    first, second, third = noted(held := HeldOpen("files", 3), 3)
    first.written = 7
    others = noted(held, 1)
    assert (first.is_open, second.is_open, third.is_open) == (True, False, True)
    others += noted(held, 3)
    assert (first.is_open, third.is_open, len(others)) == (False, False, 4)


def test_where_all_are_written_to_some_go_all_the_same() -> None:
    held = HeldOpen("files", 2)
    for one in (found := noted(held, 2)):
        one.written += 1
    noted(held, 1)
    assert sum(one.is_open for one in found) == 1


def test_what_is_gone_or_closed_holds_nothing_open() -> None:
    first, second = noted(held := HeldOpen("files", 2), 2)
    held.forget(first)
    del second
    noted(held, 2)
    assert len(held) == 2
    assert first.is_open


def test_those_that_are_gone_do_not_keep_the_others_open() -> None:
    held = HeldOpen("files", 100)
    noted(held, 50)
    [last] = noted(held, 1)
    assert held.shrink()
    assert not last.is_open
    assert not held.shrink()


def test_it_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    noted(HeldOpen("files", 2), 9)
    assert caplog.text.count("more than 2 files are in use") == 1


def test_half_of_what_the_system_allows_is_for_files() -> None:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert 16 <= held_files().count_max <= max(limit // 2, 16)
    assert held_maps().count_max >= 16


class Reopening:
    """A file that is opened when it is needed, as segments do it."""

    def __init__(self, disk: LocalDisk, path: str) -> None:
        self.written = 0
        self._disk = disk
        self._path = path
        self._file: File | None = None

    def file(self) -> File:
        if self._file is None:
            self._file = self._disk.open(self._path, Access.CREATE)
            self._disk.files.note(self)
        return self._file

    def let_go(self) -> None:
        self._file = None


@pytest.fixture
def few_descriptors() -> Iterator[None]:
    """Room for 64 more descriptors than are open now."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(name) for name in os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 64, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("few_descriptors")
def test_where_no_descriptor_is_left_others_are_closed(tmp_path: Path) -> None:
    disk = LocalDisk()
    disk.files.count_max = 1_000_000
    files = [Reopening(disk, f"{tmp_path}/{number}") for number in range(200)]
    for turn in range(2):
        for number, one in enumerate(files):
            one.file().write(turn, (b"%d" % (number % 10),))
    assert all(one.file().read(0, 2) == b"%d%d" % (number % 10, number % 10) for number, one in enumerate(files))


@pytest.mark.usefixtures("few_descriptors")
def test_a_shortage_that_nothing_helps_against_is_no_fault_of_the_disk(tmp_path: Path) -> None:
    disk = LocalDisk()
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = []

    def take_all() -> None:
        for number in range(limit):
            taken.append(disk.open(f"{tmp_path}/{number}", Access.CREATE))

    with pytest.raises(ResourceShortageError, match="Too many open files") as refused:
        take_all()
    assert refused.value.errno == errno.EMFILE
    assert refused.value.is_passing
