"""A disk that is cut off: its files stay as they are, and nobody who writes on notices."""

from pathlib import Path

import pytest

from ottla.storage.disk.atomic import read_whole, write_atomically
from ottla.storage.disk.port import Access
from ottla.storage.errors import StorageError
from ottla.testing.severable_disk import SeverableDisk


def contents(directory: Path) -> dict[str, bytes | None]:
    return {path.name: path.read_bytes() if path.is_file() else None for path in directory.iterdir()}


def test_until_the_cut_it_is_a_disk(tmp_path: Path) -> None:
    disk = SeverableDisk()
    disk.make_directory(f"{tmp_path}/sub")
    file = disk.open(f"{tmp_path}/file", Access.CREATE)
    file.write(0, [b"hello", b" world"])
    file.allocate(11, 5)
    file.truncate(5)
    file.map(5)[0] = ord("J")
    file.flush()
    disk.rename(f"{tmp_path}/file", f"{tmp_path}/renamed")
    disk.flush_directory(str(tmp_path))
    assert (file.size(), file.read(0, 99)) == (5, b"Jello")
    assert sorted(disk.list(str(tmp_path))) == ["renamed", "sub"]
    disk.remove(f"{tmp_path}/sub")
    assert contents(tmp_path) == {"renamed": b"Jello"}
    assert disk.free_bytes(str(tmp_path)) > 0


def test_after_the_cut_nothing_changes(tmp_path: Path) -> None:
    disk = SeverableDisk()
    file = disk.open(f"{tmp_path}/file", Access.CREATE)
    file.write(0, [b"hello"])
    disk.sever()
    file.write(0, [b"world"])
    file.truncate(0)
    file.allocate(0, 4096)
    file.flush()
    file.map(5)[0] = ord("J")
    disk.open(f"{tmp_path}/file", Access.WRITE).write(0, [b"again"])
    disk.make_directory(f"{tmp_path}/sub")
    disk.rename(f"{tmp_path}/file", f"{tmp_path}/other")
    disk.remove(f"{tmp_path}/file")
    disk.flush_directory(str(tmp_path))
    assert contents(tmp_path) == {"file": b"hello"}
    assert file.read(0, 5) == b"hello"


def test_what_is_made_after_the_cut_is_found_by_its_maker_alone(tmp_path: Path) -> None:
    disk = SeverableDisk()
    disk.sever()
    write_atomically(disk, f"{tmp_path}/checkpoint", b"new")
    assert read_whole(disk, f"{tmp_path}/checkpoint") == b""
    assert contents(tmp_path) == {}
    with pytest.raises(StorageError):
        disk.open(f"{tmp_path}/never-made", Access.READ)
