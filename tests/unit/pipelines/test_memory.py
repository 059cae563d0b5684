"""What the kernel's files say about free memory, on a machine and in containers."""

from pathlib import Path

import pytest

from ottla.pipelines.memory import available_bytes

MEGABYTE = 1024 * 1024


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Eight gigabytes are free."""
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text(f"MemTotal: 9999999 kB\nMemAvailable:   {8000 * 1024} kB\nSwapFree: 0 kB\n")
    return tmp_path


def _write(directory: Path, **files: object) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (directory / name.replace("__", ".")).write_text(f"{value}\n")


def test_a_machine_without_limits(machine: Path) -> None:
    assert available_bytes(machine) == 8000 * MEGABYTE


def test_a_system_that_does_not_say(tmp_path: Path) -> None:
    assert available_bytes(tmp_path) is None


def test_a_container_sees_its_own_group_as_the_root(machine: Path) -> None:
    (machine / "proc/self/cgroup").write_text("0::/\n")
    group = machine / "sys/fs/cgroup"
    _write(group, memory__max=1500 * MEGABYTE, memory__current=300 * MEGABYTE)
    assert available_bytes(machine) == 1200 * MEGABYTE
    _write(group, memory__max="max")
    assert available_bytes(machine) == 8000 * MEGABYTE


def test_what_files_take_is_given_up_on_demand(machine: Path) -> None:
    (machine / "proc/self/cgroup").write_text("0::/\n")
    stat = f"anon {200 * MEGABYTE}\nactive_file {300 * MEGABYTE}\ninactive_file {2400 * MEGABYTE}"
    _write(machine / "sys/fs/cgroup", memory__max=3000 * MEGABYTE, memory__current=2900 * MEGABYTE, memory__stat=stat)
    assert available_bytes(machine) == 2800 * MEGABYTE


def test_the_tightest_group_above_counts(machine: Path) -> None:
    (machine / "proc/self/cgroup").write_text("0::/user.slice/session.scope\n")
    base = machine / "sys/fs/cgroup/user.slice"
    _write(base / "session.scope", memory__max="max", memory__current=0)
    _write(base, memory__max=1000 * MEGABYTE, memory__current=100 * MEGABYTE)
    assert available_bytes(machine) == 900 * MEGABYTE


def test_groups_of_the_first_version(machine: Path) -> None:
    (machine / "proc/self/cgroup").write_text("5:cpu:/\n4:memory:/docker/abc\n0::/\n")
    base = machine / "sys/fs/cgroup/memory"
    _write(base, memory__limit_in_bytes=2**63 - 4096, memory__usage_in_bytes=10 * MEGABYTE)
    assert available_bytes(machine) == 8000 * MEGABYTE
    _write(base / "docker/abc", memory__limit_in_bytes=700 * MEGABYTE, memory__usage_in_bytes=600 * MEGABYTE,
           memory__stat=f"inactive_file 1\ntotal_inactive_file {100 * MEGABYTE}\ntotal_active_file 0")  # fmt: skip
    assert available_bytes(machine) == 200 * MEGABYTE
