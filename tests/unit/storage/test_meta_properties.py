import pytest

from ottla.base.ids import Uuid
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.errors import CorruptFileError
from ottla.storage.meta_properties import (
    ForeignDirectoryError,
    MetaProperties,
    check_meta_properties,
    fresh_directory_id,
    read_meta_properties,
    write_meta_properties,
)

CLUSTER = "b3R0bGEtZml4dHVyZS0wMQ"
MINE = MetaProperties(CLUSTER, 1, Uuid(b"0123456789abcdef"))


@pytest.fixture
def disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directory("/data")
    return disk


def put(disk: SimulatedDisk, text: str) -> None:
    disk.open("/data/meta.properties", Access.CREATE).write(0, [text.encode()])


def test_what_is_written_reads_back(disk: SimulatedDisk) -> None:
    assert read_meta_properties(disk, "/data") is None
    write_meta_properties(disk, "/data", MINE)
    assert read_meta_properties(disk, "/data") == MINE


def test_kafkas_file_reads(disk: SimulatedDisk) -> None:
    put(
        disk,
        f"#\n#Sun Nov 16 04:42:10 UTC 2025\ncluster.id={CLUSTER}\ndirectory.id=MDEyMzQ1Njc4OWFiY2RlZg\n"
        "node.id=1\nversion=1\n",
    )
    assert read_meta_properties(disk, "/data") == MINE


def test_the_file_of_zookeepers_times_reads(disk: SimulatedDisk) -> None:
    put(disk, f"version=0\nbroker.id=3\ncluster.id={CLUSTER}\n")
    assert read_meta_properties(disk, "/data") == MetaProperties(CLUSTER, 3, None, version=0)


@pytest.mark.parametrize(
    ("text", "error", "reason"),
    [
        ("version=2\nnode.id=1", ForeignDirectoryError, "version '2' is not one that this release knows"),
        ("node.id=1", ForeignDirectoryError, "there is no version in it"),
        ("", ForeignDirectoryError, "there is no version in it: it is damaged"),
        ("version=1\nnode.id=x", CorruptFileError, "node.id is 'x', no number"),
        ("version=1\ndirectory.id=short", CorruptFileError, "directory.id"),
        ("version=1\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAQ", ForeignDirectoryError, "is reserved"),
        ("version=1\ndirectory.id=AAAAAAAAAAAAAAAAAAAAYw", ForeignDirectoryError, "is reserved"),
    ],
)
def test_what_cannot_be_ours_is_refused(disk: SimulatedDisk, text: str, error: type[Exception], reason: str) -> None:
    put(disk, text)
    with pytest.raises(error, match=reason):
        read_meta_properties(disk, "/data")


@pytest.mark.parametrize(
    ("found", "cluster_id", "reason"),
    [
        ({"/a": MetaProperties(CLUSTER, 2, None)}, CLUSTER, r"/a/meta\.properties: node\.id is 2, this node is 1"),
        ({"/a": MetaProperties("other", 1, None)}, CLUSTER, r"Invalid cluster\.id: other"),
        (
            {"/a": MINE, "/b": MetaProperties("other", 1, None)},
            None,
            r"/b/meta\.properties: Invalid cluster\.id: other",
        ),
        ({"/a": MINE, "/b": MINE}, CLUSTER, r"/b/meta\.properties: directory\.id .* is also that of /a"),
    ],
)
def test_a_directory_of_another_cluster_or_node_is_refused(
    found: dict[str, MetaProperties], cluster_id: str | None, reason: str
) -> None:
    with pytest.raises(ForeignDirectoryError, match=reason):
        check_meta_properties(found, cluster_id, node_id=1)


def test_our_own_directories_are_fine() -> None:
    check_meta_properties({"/a": MINE, "/b": MetaProperties(CLUSTER, 1, Uuid(b"x" * 16))}, CLUSTER, node_id=1)
    check_meta_properties({"/a": MetaProperties(None, None, None)}, None, node_id=1)


def test_a_new_directory_id_is_never_one_of_the_reserved() -> None:
    good = b"0123456789abcdef"
    assert fresh_directory_id([bytes(16), (99).to_bytes(16), b"\xf8" + bytes(15), good]) == good
