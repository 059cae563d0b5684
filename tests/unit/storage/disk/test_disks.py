"""Both disks do the same, as long as nothing fails."""

import errno
import os
from pathlib import Path

import pytest

from ottla.storage.disk.atomic import read_whole, write_atomically
from ottla.storage.disk.local import LocalDisk
from ottla.storage.disk.port import Access, Disk
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.disk.tree import remove_tree
from ottla.storage.errors import StorageError


@pytest.fixture(params=["local", "simulated"])
def disk(request: pytest.FixtureRequest) -> Disk:
    return LocalDisk() if request.param == "local" else SimulatedDisk()


@pytest.fixture
def home(disk: Disk, tmp_path: Path) -> str:
    directory = f"{tmp_path}/a/b"
    disk.make_directory(directory)
    return directory


def test_file_keeps_what_is_written_at_a_position(disk: Disk, home: str) -> None:
    file = disk.open(f"{home}/f", Access.CREATE)
    file.write(0, [b"hello ", bytearray(b"world")])
    file.write(6, [memoryview(b"there")])
    assert file.read(0, 100) == b"hello there"
    assert file.read(6, 2) == b"th"
    assert (file.size(), os.fstat(file.fileno()).st_size) == (11, 11)
    file.truncate(5)
    file.flush()
    assert disk.open(f"{home}/f", Access.READ).read(0, 100) == b"hello"


def test_map_and_file_are_the_same_bytes(disk: Disk, home: str) -> None:
    file = disk.open(f"{home}/f", Access.CREATE)
    file.truncate(4096)
    file.allocate(0, 4096)
    mapped = file.map(4096)
    mapped[10:13] = b"abc"
    assert file.read(10, 3) == b"abc"
    file.write(0, [b"x"])
    assert mapped[0:1] == b"x"


def test_file_that_was_removed_stays_readable_for_those_who_hold_it(disk: Disk, home: str) -> None:
    file = disk.open(f"{home}/f", Access.CREATE)
    file.write(0, [b"kept"])
    disk.remove(f"{home}/f")
    assert disk.status(f"{home}/f") is None
    assert file.read(0, 4) == b"kept"


def test_names_are_listed_renamed_and_removed(disk: Disk, home: str) -> None:
    for name in ("one", "two"):
        disk.open(f"{home}/{name}", Access.CREATE).write(0, [name.encode()])
    disk.rename(f"{home}/one", f"{home}/two")
    disk.remove(f"{home}/gone")
    assert disk.list(home) == ["two"]
    assert read_whole(disk, f"{home}/two") == b"one"
    found = disk.status(home)
    assert found is not None
    assert found.is_directory
    disk.rename(home, f"{home}-delete")
    assert disk.list(f"{home}-delete") == ["two"]
    disk.remove(f"{home}-delete/two")
    disk.flush_directory(f"{home}-delete")
    disk.remove(f"{home}-delete")
    assert disk.status(f"{home}-delete") is None


def test_file_is_replaced_as_a_whole(disk: Disk, home: str) -> None:
    path = f"{home}/checkpoint"
    assert read_whole(disk, path) is None
    write_atomically(disk, path, b"a long first version")
    write_atomically(disk, path, b"second")
    assert read_whole(disk, path) == b"second"
    assert disk.list(home) == ["checkpoint"]


@pytest.mark.parametrize("access", [Access.READ, Access.WRITE])
def test_error_names_the_path(disk: Disk, home: str, access: Access) -> None:
    with pytest.raises(StorageError, match=f"{home}/none") as caught:
        disk.open(f"{home}/none", access)
    assert (caught.value.path, caught.value.errno) == (f"{home}/none", errno.ENOENT)
    assert caught.value.code == 56


def test_directory_that_is_not_empty_stays(disk: Disk, home: str) -> None:
    disk.open(f"{home}/f", Access.CREATE)
    with pytest.raises(StorageError):
        disk.remove(home)
    with pytest.raises(StorageError):
        disk.list(f"{home}/none")
    assert disk.free_bytes(home) > 0


def test_descriptor_closes_with_its_last_holder(tmp_path: Path) -> None:
    file = LocalDisk().open(f"{tmp_path}/f", Access.CREATE)
    descriptor = file.fileno()
    del file
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_a_tree_goes_with_everything_in_it(disk: Disk, home: str) -> None:
    disk.make_directory(f"{home}/tree/inner/innermost")
    disk.open(f"{home}/tree/file", Access.CREATE)
    disk.open(f"{home}/tree/inner/innermost/file", Access.CREATE)
    remove_tree(disk, f"{home}/tree")
    assert disk.list(home) == []


def test_what_a_link_in_a_tree_points_at_stays(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").write_text("stays")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to(tmp_path / "elsewhere")
    remove_tree(LocalDisk(), str(tmp_path / "tree"))
    assert not (tmp_path / "tree").exists()
    assert (tmp_path / "elsewhere" / "file").read_text() == "stays"
