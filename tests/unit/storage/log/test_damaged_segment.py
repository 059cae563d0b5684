"""Damage in one segment: what lies before it is read, what is gone is told, and the other segments go on."""

import struct
from collections.abc import Callable

import pytest

from ottla.protocol.records.batch import Batch, batches
from ottla.storage.disk.port import Access, File
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.errors import CorruptFileError
from ottla.storage.log.hole import tell_of_holes
from ottla.storage.log.loader import Shutdown
from ottla.storage.log.log import Log
from tests.unit.storage.log_builder import DIRECTORY, NOW_MS, append, data_batch, open_log

END = 24
PER_SEGMENT = 8
"""Offsets in a segment: four batches of two records."""


@pytest.fixture
def disk() -> SimulatedDisk:
    """Three segments of four batches, after a clean stop."""
    made = SimulatedDisk()
    made.make_directory("/data")
    log = open_log(made)
    for index in range(END // 2):
        append(log, data_batch(2, value=bytes(200), timestamp=NOW_MS + index))
    assert [segment.base_offset for segment in log.segments] == [0, 8, 16]
    log.close(NOW_MS)
    return made


def reopened(disk: SimulatedDisk) -> Log:
    return open_log(disk, shutdown=Shutdown.CLEAN, recovery_point=END)


def segment_file(disk: SimulatedDisk, base_offset: int) -> File:
    return disk.open(f"{DIRECTORY}/{base_offset:020d}.log", Access.WRITE)


def batch_position(file: File, number: int) -> int:
    position = 0
    for _ in range(number):
        position += Batch(file.read(position, 10_000)).size
    return position


def readable(log: Log) -> list[int]:
    """The offsets that a fetch from each of them gives, and nothing but whole batches in order."""
    found = []
    for offset in range(log.log_start_offset, log.log_end_offset):
        try:
            data = log.read(offset, 100_000, log.log_end_offset).records
        except CorruptFileError:
            continue
        assert data is not None
        bounds = [(batch.base_offset, batch.next_offset) for batch in batches(data.read())]
        assert sum(batch.size for batch in batches(data.read())) == data.length, "nothing but batches"
        if bounds[0][0] <= offset < bounds[0][1]:
            found.append(offset)
    return found


def add(junk: bytes) -> Callable[[File], None]:
    return lambda file: file.write(file.size(), [junk])


def shorten(file: File) -> None:
    file.truncate(file.size() - 3)


@pytest.mark.parametrize(
    ("base_offset", "damage", "lost"),
    [
        (0, add(b"junk" * 20), []),
        (8, add(b"junk" * 20), []),
        (8, add(bytes(5000)), []),
        (8, add(b"\0"), []),
        (0, shorten, [6, 7]),
        (8, shorten, [14, 15]),
        (8, lambda file: file.truncate(30), list(range(8, 16))),
    ],
)
def test_what_lies_before_the_damage_is_read(
    disk: SimulatedDisk, base_offset: int, damage: Callable[[File], None], lost: list[int]
) -> None:
    damage(segment_file(disk, base_offset))
    log = reopened(disk)
    assert readable(log) == [offset for offset in range(END) if offset not in lost]
    assert readable(log) == [offset for offset in range(END) if offset not in lost], "as often as one asks"
    assert log.offset_for_timestamp(NOW_MS + 9) == (NOW_MS + 9, 18, 0)
    append(log, data_batch())
    assert log.log_end_offset == END + 1


@pytest.mark.parametrize("length", [0, 0x7FFFFF00])
def test_batches_behind_the_damage_are_read_where_the_index_leads_there(disk: SimulatedDisk, length: int) -> None:
    file = segment_file(disk, 8)
    file.write(batch_position(file, 1) + 8, [struct.pack(">i", length)])
    log = reopened(disk)
    for _ in range(2):
        for offset in (10, 11):
            with pytest.raises(CorruptFileError):
                log.read(offset, 1, END)
        assert Batch(log.read(14, 1, END).records.read()).base_offset == 14  # type: ignore[union-attr]


@pytest.mark.parametrize("flipped", [1 << 2, 1 << 5, 1 << 20, 1 << 40, 1 << 62])
@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("base_offset", [8, 16])
def test_nobody_is_given_a_batch_of_another_place_for_the_one_that_was_asked_for(
    disk: SimulatedDisk, base_offset: int, number: int, flipped: int
) -> None:
    """No CRC covers the base offset. Only a batch that is followed by none may lie beyond the offset."""
    file = segment_file(disk, base_offset)
    position = batch_position(file, number)
    offset = base_offset + 2 * number
    file.write(position, [struct.pack(">q", offset ^ flipped)])
    try:
        log = reopened(disk)
    except CorruptFileError:
        assert base_offset == 16, "an old segment is no reason to refuse the log"
        return
    assert log.log_end_offset == END
    for asked in (offset, offset + 1):
        if number < 3:
            with pytest.raises(CorruptFileError):
                log.read(asked, 1, END)


def test_a_log_that_ends_beyond_its_clean_stop_gives_out_no_offsets_from_there(disk: SimulatedDisk) -> None:
    file = segment_file(disk, 16)
    file.write(batch_position(file, 3), [struct.pack(">q", 22 + 64)])
    with pytest.raises(CorruptFileError, match="was left at 24"):
        reopened(disk)
    with pytest.raises(CorruptFileError, match="offset 86 where 22 is next"):
        open_log(disk, shutdown=Shutdown.DAMAGED, recovery_point=END)


def test_a_damaged_segment_can_be_truncated_before_the_damage(disk: SimulatedDisk) -> None:
    add(b"junk" * 20)(segment_file(disk, 8))
    log = reopened(disk)
    assert log.truncate_to(12)
    for _ in range(12, END):
        append(log, data_batch())
    assert readable(log) == list(range(END))


def test_a_missing_file_is_told(disk: SimulatedDisk, caplog: pytest.LogCaptureFixture) -> None:
    disk.remove(f"{DIRECTORY}/{8:020d}.log")
    log = reopened(disk)
    assert f"{8:020d}.index: the log file that it belongs to is gone" in caplog.text
    caplog.clear()
    tell_of_holes(log, lambda look: look())
    assert f"{0:020d}.log: offsets 8 to 15 are in no file" in caplog.text
    assert Batch(log.read(8, 1, END).records.read()).base_offset == 16  # type: ignore[union-attr]


def test_a_log_without_a_hole_is_not_told_of(disk: SimulatedDisk, caplog: pytest.LogCaptureFixture) -> None:
    tell_of_holes(reopened(disk), lambda look: look())
    assert caplog.text == ""
