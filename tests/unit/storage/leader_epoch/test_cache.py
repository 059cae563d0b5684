"""Leader epochs in memory and on disk."""

import pytest

from ottla.storage.disk.atomic import read_whole, write_atomically
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.errors import CorruptFileError
from ottla.storage.leader_epoch.cache import LeaderEpochCache

PATH = "/p/leader-epoch-checkpoint"


@pytest.fixture
def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directory("/p")
    return made


@pytest.fixture
def cache(disk: SimulatedDisk) -> LeaderEpochCache:
    made = LeaderEpochCache(disk, PATH)
    for epoch, start in ((0, 0), (1, 50), (3, 80)):
        made.note(epoch, start)
    made.flush_noted()
    return made


@pytest.mark.parametrize(
    ("epoch", "expected"),
    [(0, (0, 50)), (1, (1, 80)), (2, (1, 80)), (3, (3, 100)), (4, (-1, -1)), (-1, (-1, -1))],
)
def test_end_offset_of_an_epoch(cache: LeaderEpochCache, epoch: int, expected: tuple[int, int]) -> None:
    assert cache.end_offset_for(epoch, 100) == expected


def test_end_offset_of_an_epoch_from_before_the_log_start(cache: LeaderEpochCache) -> None:
    cache.truncate_from_start(60)
    assert cache.end_offset_for(0, 100) == (0, 60)


def test_truncation_from_either_end(disk: SimulatedDisk, cache: LeaderEpochCache) -> None:
    cache.truncate_from_start(55)
    assert cache.entries == ((1, 55), (3, 80))
    cache.truncate_from_end(80)
    assert cache.entries == ((1, 55),)
    assert LeaderEpochCache(disk, PATH).entries == ((1, 55),)
    cache.truncate_from_end(0)
    assert (cache.latest_epoch, read_whole(disk, PATH)) == (-1, b"0\n0\n")


def test_new_leader_overrules_what_contradicts_it(cache: LeaderEpochCache) -> None:
    cache.note(4, 60)
    assert cache.entries == ((0, 0), (1, 50), (4, 60))
    cache.note(4, 70)
    assert cache.entries[-1] == (4, 60)
    cache.note(2, 90)
    assert cache.entries == ((0, 0), (1, 50), (2, 90))


@pytest.mark.parametrize(("offset", "epoch"), [(0, 0), (49, 0), (50, 1), (79, 1), (80, 3), (1000, 3)])
def test_epoch_of_an_offset(cache: LeaderEpochCache, offset: int, epoch: int) -> None:
    assert cache.epoch_for(offset) == epoch


def test_offset_before_all_epochs_has_none(cache: LeaderEpochCache) -> None:
    cache.truncate_from_start(10)
    assert cache.epoch_for(9) is None


def test_file_is_kafkas(disk: SimulatedDisk, cache: LeaderEpochCache) -> None:
    assert cache.latest_epoch == 3
    assert read_whole(disk, PATH) == b"0\n3\n0 0\n1 50\n3 80\n"


@pytest.mark.parametrize(
    "noise", [b"1\n0\n", b"0\n2\n0 0\n", b"0\n1\n0\n", b"0\n1\nx y\n", b"\xff\xfe", b"0\n1\n0 0 0\n"]
)
def test_noise_is_refused(disk: SimulatedDisk, noise: bytes) -> None:
    write_atomically(disk, PATH, noise)
    with pytest.raises(CorruptFileError, match=PATH):
        LeaderEpochCache(disk, PATH)
