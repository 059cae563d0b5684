"""One segment: what goes in comes out, and its indexes never lie for long."""

import struct
import threading

import pytest

from ottla.protocol.records.batch import Batch, batches
from ottla.storage.disk.atomic import read_whole
from ottla.storage.disk.port import Access, File
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.errors import CorruptFileError
from ottla.storage.log_config import LogConfig
from ottla.storage.segment.segment import Segment
from tests.unit.storage.log_builder import NOW_MS, data_batch, placed

CONFIG = LogConfig(segment_index_bytes=120, index_interval_bytes=150)


@pytest.fixture
def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directory("/s")
    return made


def fill(disk: SimulatedDisk, *, base_offset: int = 100, count: int = 6) -> tuple[Segment, list[bytes]]:
    """A segment of batches of two records, each a millisecond after the one before."""
    segment = Segment.create(disk, "/s", base_offset, CONFIG)
    stored = []
    for index in range(count):
        data = placed(data_batch(2, value=bytes(40), timestamp=NOW_MS + index), base_offset + 2 * index)
        segment.append(data, Batch(data).last_offset, Batch(data).max_timestamp)
        stored.append(bytes(data))
    return segment, stored


def entries(segment: Segment) -> list[tuple[int, int]]:
    index = segment.offset_index.entries
    return [index.entry(slot) for slot in range(index.count)]


def test_index_points_at_the_batch_that_follows_the_interval(disk: SimulatedDisk) -> None:
    segment, stored = fill(disk)
    size = len(stored[0])
    # A batch has 153 bytes: every one but the first comes after more than 150.
    assert entries(segment) == [(2 * index + 1, index * size) for index in range(1, 6)]
    times = segment.time_index.entries
    assert [times.entry(slot) for slot in range(times.count)] == [
        (NOW_MS + index, 2 * index + 1) for index in range(1, 6)
    ]


def test_every_offset_is_located(disk: SimulatedDisk) -> None:
    segment, stored = fill(disk)
    size = len(stored[0])
    assert [segment.locate(offset) for offset in range(99, 113)] == [
        (0, size),
        *((index * size, size) for index in range(6) for _ in range(2)),
        None,
    ]


def test_sealed_segment_has_the_bytes_that_kafka_expects(disk: SimulatedDisk) -> None:
    segment, stored = fill(disk, count=3)
    assert len(read_whole(disk, "/s/00000000000000000100.index") or b"") == 120
    segment.seal()
    assert read_whole(disk, "/s/00000000000000000100.log") == b"".join(stored)
    size = len(stored[0])
    assert read_whole(disk, "/s/00000000000000000100.index") == struct.pack(">iiii", 3, size, 5, 2 * size)
    assert read_whole(disk, "/s/00000000000000000100.timeindex") == struct.pack(">qiqi", NOW_MS + 1, 3, NOW_MS + 2, 5)
    assert disk.status("/s/00000000000000000100.txnindex") is None


def test_last_timestamp_gets_its_entry_when_sealed(disk: SimulatedDisk) -> None:
    segment = Segment.create(disk, "/s", 0, LogConfig())
    data = data_batch(3)
    segment.append(data, 2, NOW_MS)
    segment.seal()
    assert read_whole(disk, "/s/00000000000000000000.timeindex") == struct.pack(">qi", NOW_MS, 2)
    assert read_whole(disk, "/s/00000000000000000000.index") == b""


def test_several_batches_are_written_at_once(disk: SimulatedDisk) -> None:
    segment, stored = fill(disk)
    other = Segment.create(disk, "/s", 100, CONFIG, suffix=".cleaned")
    data = b"".join(stored)
    other.append_many(data, batches(data))
    assert entries(other) == entries(segment)
    assert [bytes(batch.data) for batch in other.scan()] == stored
    other.seal()
    other.change_suffix(".swap")
    assert sorted(disk.list("/s"))[1:6:2] == [
        "00000000000000000100.index.swap",
        "00000000000000000100.log.swap",
        "00000000000000000100.timeindex.swap",
    ]
    other.delete()
    assert len(disk.list("/s")) == 3
    assert other.size_bytes == segment.size_bytes


@pytest.mark.parametrize(("offset", "left", "end"), [(31, 2, 31), (20, 1, 11), (11, 1, 11), (10, 0, 10), (101, 3, 101)])
def test_truncation_drops_the_batch_that_holds_the_offset(
    disk: SimulatedDisk, offset: int, left: int, end: int
) -> None:
    segment = Segment.create(disk, "/s", 10, LogConfig(index_interval_bytes=0, segment_index_bytes=80))
    for first, last in ((10, 10), (11, 30), (31, 100)):
        data = placed(data_batch(last - first + 1, timestamp=NOW_MS + first), first)
        segment.append(data, last, NOW_MS + first)
    assert segment.truncate_to(offset) == end
    assert [batch.base_offset for batch in segment.scan()] == [10, 11, 31][:left]
    assert segment.max_timestamp == ([-1] + [NOW_MS + first for first in (10, 11, 31)])[left]
    assert segment.next_offset == [10, 11, 31, 101][left]


def reopened(disk: SimulatedDisk) -> Segment:
    return Segment.open(disk, "/s", 100, CONFIG)


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("index", b""),
        ("index", b"\0" * 7),
        ("index", struct.pack(">ii", 3, 0x7FFF)),
        ("index", struct.pack(">ii", 5, 153)),
        ("index", struct.pack(">ii", 1, 77)),
        ("timeindex", b"\1" * 13),
        ("timeindex", struct.pack(">qi", NOW_MS + 99, 11)),
        ("timeindex", struct.pack(">qi", NOW_MS + 5, 99)),
    ],
)  # fmt: skip
def test_wrong_index_is_built_anew(disk: SimulatedDisk, name: str, contents: bytes) -> None:
    segment, stored = fill(disk)
    segment.seal()
    right = read_whole(disk, f"/s/00000000000000000100.{name}")
    file = disk.open(f"/s/00000000000000000100.{name}", Access.WRITE)
    file.truncate(0)
    file.write(0, [contents])
    again = reopened(disk)
    assert again.next_offset == 112
    assert again.locate(109) == (4 * len(stored[0]), len(stored[0]))
    assert (again.max_timestamp, again.max_timestamp_offset) == (NOW_MS + 5, 111)
    again.seal()
    assert read_whole(disk, f"/s/00000000000000000100.{name}") == right


def test_missing_indexes_are_built_anew(disk: SimulatedDisk) -> None:
    fill(disk)[0].seal()
    for name in ("index", "timeindex"):
        disk.remove(f"/s/00000000000000000100.{name}")
    assert entries_count(reopened(disk)) == 5


def entries_count(segment: Segment) -> int:
    segment.load()
    return segment.offset_index.entries.count


def test_wrong_entry_in_the_middle_is_noticed_when_used(disk: SimulatedDisk) -> None:
    segment, stored = fill(disk)
    segment.seal()
    size = len(stored[0])
    disk.open("/s/00000000000000000100.index", Access.WRITE).write(8, [struct.pack(">ii", 5, 3 * size)])
    again = reopened(disk)
    assert again.locate(105) == (2 * size, size)
    assert entries(again) == [(2 * index + 1, index * size) for index in range(1, 6)]


def test_hole_in_the_log_is_not_papered_over(disk: SimulatedDisk) -> None:
    segment, stored = fill(disk)
    segment.seal()
    disk.open(segment.path(), Access.WRITE).write(5 * len(stored[0]), [bytes(20)])
    with pytest.raises(CorruptFileError, match=r"00000000000000000100\.log"):
        reopened(disk).load()


def test_index_is_full_when_its_room_is_used_up(disk: SimulatedDisk) -> None:
    # 120 bytes are 10 entries of the time index, one of which is kept for sealing.
    segment, _ = fill(disk, count=10)
    assert segment.time_index.entries.count == 9
    assert segment.is_index_full
    segment.seal()


def test_released_segment_comes_back(disk: SimulatedDisk) -> None:
    segment, stored = fill(disk)
    found = segment.read(104, 1, segment.size_bytes, whole_batch=True)
    segment.release()
    assert found is not None
    assert (len(found), found.read()) == (len(stored[2]), stored[2])
    assert segment.locate(104) == (2 * len(stored[0]), len(stored[0]))
    data = placed(data_batch(1, timestamp=NOW_MS + 50), 112)
    segment.append(data, 112, NOW_MS + 50)
    assert segment.locate(112) == (6 * len(stored[0]), len(data))


class StallingDisk(SimulatedDisk):
    """Opens files with an ending only when told to go on."""

    def __init__(self, ending: str) -> None:
        super().__init__()
        self._ending = ending
        self.is_stalled = threading.Event()
        self.go_on = threading.Event()

    def open(self, path: str, access: Access) -> File:
        if path.endswith(self._ending) and access is Access.READ:
            self.is_stalled.set()
            assert self.go_on.wait(30)
        return super().open(path, access)


def test_a_segment_whose_indexes_take_long_to_read_does_not_hold_up_another() -> None:
    disk = StallingDisk("00000000000000000100.index")
    disk.make_directory("/s")
    for base_offset in (100, 200):
        written, _ = fill(disk, base_offset=base_offset)
        written.seal()
        written.flush()
    slow, quick = (Segment.open(disk, "/s", base_offset, CONFIG) for base_offset in (100, 200))
    reader = threading.Thread(target=slow.load)
    reader.start()
    try:
        assert disk.is_stalled.wait(30)
        assert quick.next_offset == 212
    finally:
        disk.go_on.set()
        reader.join()
    assert slow.next_offset == 112
