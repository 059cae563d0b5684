"""The simulated disk fails the way it was told to."""

import errno
from random import Random

import pytest

from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import Fault, PowerCut, SimulatedDisk
from ottla.storage.errors import StorageError


@pytest.fixture
def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directory("/d")
    made.flush_directory("/")
    return made


def test_what_was_flushed_survives_every_crash(disk: SimulatedDisk) -> None:
    outcomes = set()
    for seed in range(60):
        file = disk.open("/d/f", Access.CREATE)
        file.truncate(0)
        file.write(0, [b"kept"])
        file.flush()
        disk.flush_directory("/d")
        file.write(4, [b" or lost"])
        disk.crash(Random(seed))
        survived = disk.open("/d/f", Access.READ).read(0, 100)
        assert survived.startswith(b"kept")
        outcomes.add(survived)
    assert {b"kept", b"kept or lost"} <= outcomes
    assert len(outcomes) > 4, "torn in several places"


def test_name_without_directory_flush_may_be_lost_but_not_half(disk: SimulatedDisk) -> None:
    outcomes = set()
    for seed in range(20):
        fresh = SimulatedDisk()
        fresh.make_directory("/d")
        fresh.open("/d/old", Access.CREATE)
        fresh.flush_directory("/")
        fresh.flush_directory("/d")
        fresh.rename("/d/old", "/d/new")
        fresh.crash(Random(seed))
        outcomes.add(tuple(fresh.list("/d")))
    assert outcomes == {("old",), ("new",)}


def test_power_goes_after_so_many_operations_and_stays_away(disk: SimulatedDisk) -> None:
    disk.cut_after(2)
    file = disk.open("/d/f", Access.CREATE)
    file.write(0, [b"a"])
    with pytest.raises(PowerCut):
        file.write(1, [b"b"])
    with pytest.raises(PowerCut):
        disk.remove("/d/f")
    disk.crash(Random(0))
    disk.make_directory("/d/e")


def test_full_disk_takes_what_fits(disk: SimulatedDisk) -> None:
    file = disk.open("/d/f", Access.CREATE)
    disk.fill_up(3)
    with pytest.raises(StorageError, match="No space left on device") as caught:
        file.write(0, [b"hello"])
    assert caught.value.errno == errno.ENOSPC
    assert file.read(0, 10) == b"hel"
    with pytest.raises(StorageError):
        file.allocate(0, 4096)
    disk.heal()
    file.write(0, [b"hello"])
    assert file.read(0, 10) == b"hello"


def test_faults_hit_their_operation_and_path(disk: SimulatedDisk) -> None:
    log, index = disk.open("/d/f.log", Access.CREATE), disk.open("/d/f.index", Access.CREATE)
    disk.fail(Fault("flush", path_ending=".log"))
    index.flush()
    with pytest.raises(StorageError, match=r"/d/f\.log"):
        log.flush()
    disk.heal()
    disk.make_read_only()
    with pytest.raises(StorageError) as caught:
        log.write(0, [b"x"])
    assert caught.value.errno == errno.EROFS
    assert log.read(0, 1) == b""
