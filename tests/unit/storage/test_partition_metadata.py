"""The file that says which topic a directory belongs to."""

import pytest

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.storage.disk.atomic import read_whole, write_atomically
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.errors import CorruptFileError
from ottla.storage.partition_metadata import read_partition_metadata, write_partition_metadata

TOPIC = Uuid.parse("AAAAAAAAAAAAAAAAAAAAAQ")


def test_file_is_kafkas_and_comes_back() -> None:
    disk = SimulatedDisk()
    disk.make_directory("/p")
    assert read_partition_metadata(disk, "/p") is None
    write_partition_metadata(disk, "/p", TOPIC)
    assert read_whole(disk, "/p/partition.metadata") == b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"
    assert read_partition_metadata(disk, "/p") == TOPIC
    with pytest.raises(ValueError, match="zero"):
        write_partition_metadata(disk, "/p", ZERO_UUID)


@pytest.mark.parametrize(
    "noise",
    [b"", b"version: 0", b"version: 1\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ", b"version: 0\ntopic_id: x", b"\xff",
     b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\nmore: 1"],
)  # fmt: skip
def test_noise_is_refused(noise: bytes) -> None:
    disk = SimulatedDisk()
    disk.make_directory("/p")
    write_atomically(disk, "/p/partition.metadata", noise)
    with pytest.raises(CorruptFileError, match=r"/p/partition\.metadata"):
        read_partition_metadata(disk, "/p")
