"""Logs that begin with messages of magic 0 and 1, as directories from before 2017 do."""

import pytest

from ottla.protocol.compression import CompressionType
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log.loader import Shutdown
from ottla.storage.log.log import Log
from tests.unit.storage.legacy_builder import Pair, message, wrapper, write_segment
from tests.unit.storage.log_builder import DIRECTORY, NOW_MS, SMALL, append, data_batch, offsets, open_log, records

TWO: list[Pair] = [(b"k", b"v"), (b"k", b"w")]


def old_messages() -> list[bytes]:
    """Offsets 0 to 9: plain ones, wrappers of both magics, and the smallest message there is at the end."""
    return [
        message(0, 0, (b"k", b"0")),
        message(1, 1, (b"k", b"1"), timestamp=NOW_MS + 1),
        wrapper(2, 0, TWO, CompressionType.GZIP),
        wrapper(4, 1, TWO, CompressionType.SNAPPY, NOW_MS + 5),
        wrapper(6, 1, [*TWO, (b"k", None)], CompressionType.GZIP, NOW_MS + 8),
        message(9, 0, (None, None)),
    ]


@pytest.fixture
def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directory(DIRECTORY)
    write_segment(made, DIRECTORY, 0, b"".join(old_messages()))
    return made


def opened(disk: SimulatedDisk, shutdown: Shutdown = Shutdown.UNCLEAN, recovery_point: int = 0) -> Log:
    return open_log(disk, SMALL, shutdown, recovery_point=recovery_point)


@pytest.mark.parametrize(("shutdown", "recovery_point"), [("UNCLEAN", 0), ("UNCLEAN", 5), ("CLEAN", 10)])
def test_every_old_record_is_there_whatever_the_start(disk: SimulatedDisk, shutdown: str, recovery_point: int) -> None:
    log = opened(disk, Shutdown[shutdown], recovery_point)
    assert offsets(log) == list(range(10))
    assert [offsets(log, start)[0] for start in range(10)] == list(range(10))


def test_new_batches_follow_old_messages(disk: SimulatedDisk) -> None:
    log = opened(disk)
    assert append(log, data_batch(2), leader_epoch=4).first_offset == 10
    log.close(NOW_MS)
    again = opened(disk, Shutdown.CLEAN, 12)
    assert offsets(again) == list(range(12))
    assert again.epochs.entries == ((4, 10),)


@pytest.mark.parametrize(("offset", "end"), [(9, 9), (8, 6), (7, 6), (6, 6), (3, 2), (1, 1)])
def test_truncation_drops_a_wrapper_that_reaches_beyond_the_offset(disk: SimulatedDisk, offset: int, end: int) -> None:
    log = opened(disk)
    log.truncate_to(offset)
    assert log.log_end_offset == end
    assert offsets(log) == list(range(end))


def test_a_torn_or_broken_old_message_is_where_the_log_ends(disk: SimulatedDisk) -> None:
    sizes = [len(each) for each in old_messages()]
    file = disk.open(f"{DIRECTORY}/{0:020d}.log", Access.WRITE)
    file.truncate(sum(sizes) - 3)
    assert opened(disk).log_end_offset == 9
    broken = sum(sizes[:4]) + 40
    file.write(broken, [bytes([file.read(broken, 1)[0] ^ 1])])
    assert opened(disk).log_end_offset == 6


def test_a_wrapper_around_nothing_readable_is_where_an_unflushed_log_ends(disk: SimulatedDisk) -> None:
    wrong = message(11, 1, (None, b"no gzip"), attributes=CompressionType.GZIP, timestamp=NOW_MS)
    write_segment(disk, DIRECTORY, 0, b"".join(old_messages()) + wrong)
    assert opened(disk).log_end_offset == 10


def test_times_of_old_messages_are_found(disk: SimulatedDisk) -> None:
    log = opened(disk)
    found = log.offset_for_timestamp(NOW_MS + 5)
    assert found is not None
    assert (found.timestamp, found.offset, found.leader_epoch) == (NOW_MS + 5, 5, None)
    newest = log.offset_of_max_timestamp()
    assert newest is not None
    assert (newest.timestamp, newest.offset) == (NOW_MS + 8, 8)
    assert [record[1] for record in records(log)][2:4] == [-1, -1]
