from random import Random

import pytest

from ottla.storage.checkpoint import OffsetCheckpoint
from ottla.storage.clean_shutdown import read_clean_shutdown, remove_clean_shutdown, write_clean_shutdown
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import PowerCut, SimulatedDisk
from ottla.storage.errors import CorruptFileError
from ottla.storage.topic_partition import DirectoryKind, TopicPartition, directory_name, parse_directory_name


@pytest.fixture
def disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directory("/data")
    return disk


def put(disk: SimulatedDisk, name: str, text: str) -> None:
    file = disk.open(f"/data/{name}", Access.CREATE)
    file.truncate(0)
    file.write(0, [text.encode()])


def contents(disk: SimulatedDisk, name: str) -> bytes:
    file = disk.open(f"/data/{name}", Access.READ)
    return file.read(0, file.size())


def test_offsets_are_written_as_kafka_writes_them_and_read_back(disk: SimulatedDisk) -> None:
    checkpoint = OffsetCheckpoint(disk, "/data", "recovery-point-offset-checkpoint")
    offsets = {TopicPartition("a", 0): 5, TopicPartition("b-c", 12): 1 << 40}
    checkpoint.write(offsets)
    assert contents(disk, "recovery-point-offset-checkpoint") == b"0\n2\na 0 5\nb-c 12 1099511627776\n"
    assert checkpoint.read() == offsets


def test_a_missing_file_has_no_offsets(disk: SimulatedDisk) -> None:
    assert OffsetCheckpoint(disk, "/data", "none").read() == {}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("1\n0\n", 1),
        ("noise", 1),
        ("0\n", 2),
        ("0\nx\n", 2),
        ("0\n1\n", 2),
        ("0\n1\na 0 5\nb 0 5\n", 2),
        ("0\n2\na 0 5\na 0 6\n", 2),
        ("0\n1\na 0\n", 3),
        ("0\n2\na 0 5\nb zero 5\n", 4),
        ("0\n1\na 0 5 6\n", 3),
    ],
)
def test_noise_is_refused_with_path_and_line(disk: SimulatedDisk, text: str, line: int) -> None:
    put(disk, "checkpoint", text)
    with pytest.raises(CorruptFileError, match=f"/data/checkpoint: line {line}:"):
        OffsetCheckpoint(disk, "/data", "checkpoint").read()


def test_a_crash_at_any_step_leaves_the_old_or_the_new_file(disk: SimulatedDisk) -> None:
    old, new = {TopicPartition("a", 0): 1}, {TopicPartition("a", 0): 2}
    for step in range(10):
        checkpoint = OffsetCheckpoint(disk, "/data", "c")
        checkpoint.write(old)
        disk.cut_after(step)
        try:
            checkpoint.write(new)
            finished = True
        except PowerCut:
            finished = False
        disk.crash(Random(step))
        found = OffsetCheckpoint(disk, "/data", "c").read()
        assert found == new if finished else found in (old, new)
    assert finished


def test_a_clean_stop_leaves_its_mark_with_the_epoch(disk: SimulatedDisk) -> None:
    assert read_clean_shutdown(disk, "/data") is None
    write_clean_shutdown(disk, "/data", 42)
    assert contents(disk, ".kafka_cleanshutdown") == b'{"version":0,"brokerEpoch":42}'
    assert read_clean_shutdown(disk, "/data") == 42
    remove_clean_shutdown(disk, "/data")
    assert read_clean_shutdown(disk, "/data") is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version":0}', '{"brokerEpoch":"x"}'])
def test_a_mark_that_does_not_tell_the_epoch_still_counts(disk: SimulatedDisk, text: str) -> None:
    put(disk, ".kafka_cleanshutdown", text)
    assert read_clean_shutdown(disk, "/data") == -1


@pytest.mark.parametrize(
    ("name", "topic", "partition", "kind"),
    [
        ("a-0", "a", 0, DirectoryKind.LIVE),
        ("my-topic-12", "my-topic", 12, DirectoryKind.LIVE),
        ("a.b_c-3", "a.b_c", 3, DirectoryKind.LIVE),
        ("x-1.0123abc-delete", "x", 1, DirectoryKind.DELETE),
        ("x-1.0123abc-future", "x", 1, DirectoryKind.FUTURE),
        ("x.y-1.0123abc-stray", "x.y", 1, DirectoryKind.STRAY),
    ],
)
def test_directory_names_say_whose_they_are(name: str, topic: str, partition: int, kind: DirectoryKind) -> None:
    assert parse_directory_name(name) == (TopicPartition(topic, partition), kind)


@pytest.mark.parametrize(
    "name", ["", "a", "lost+found", "-0", "a-", "a-x", "a--1-delete", "a-0-delete", "a-99999999999"]
)
def test_other_names_are_of_no_partition(name: str) -> None:
    assert parse_directory_name(name) is None


def test_a_long_topic_name_still_fits_with_its_suffix() -> None:
    name = directory_name(TopicPartition("t" * 249, 7), DirectoryKind.DELETE, "0" * 32)
    assert len(name) == 255
    assert name.endswith(f"-7.{'0' * 32}-delete")


def test_an_empty_file_holds_nothing_as_when_apache_kafka_has_just_started(disk: SimulatedDisk) -> None:
    put(disk, "empty", "")
    assert OffsetCheckpoint(disk, "/data", "empty").read() == {}


def test_a_file_that_cannot_be_read_says_what_it_is_good_for(disk: SimulatedDisk) -> None:
    for name, consequence in (
        ("recovery-point-offset-checkpoint", "read anew"),
        ("log-start-offset-checkpoint", "back"),
    ):
        put(disk, name, "0\nx\n")
        with pytest.raises(CorruptFileError, match=f"{name}: .*starts without this file, but then .*{consequence}"):
            OffsetCheckpoint(disk, "/data", name).read()
