"""How much memory there is for programs that are yet to be started: of the machine, and within a container's limit.

A limit holds for a whole branch of control groups, so each group above ours is asked, too. Pages that only hold what is
on a disk count as taken there, and are given up as soon as somebody needs them: here they are free.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple


class _Names(NamedTuple):
    """The file names of a version of control groups, and the lines of file pages in `memory.stat`."""

    limit: str
    taken: str
    file_pages: tuple[str, str]


_VERSION_1: Final = _Names(
    "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_active_file", "total_inactive_file")
)
_VERSION_2: Final = _Names("memory.max", "memory.current", ("active_file", "inactive_file"))


def available_bytes(root: Path = Path("/")) -> int | None:
    """The memory available without swapping, None where the kernel does not say; `root` is where its files are."""
    text = _text(root / "proc/meminfo")
    found = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    machine = [int(found[1]) * 1024] if found else []
    return min([*machine, *_within_limits(root)], default=None)


def _within_limits(root: Path) -> Iterator[int]:
    """The remaining memory of each limited group."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            names, base = _VERSION_2, root / "sys/fs/cgroup"
        elif "memory" in controllers.split(","):
            names, base = _VERSION_1, root / "sys/fs/cgroup/memory"
        else:
            continue
        # In a container the path may be the host's, and only the last of these is there.
        group = Path(path)
        for each in (group, *group.parents):
            yield from _left(base / each.relative_to("/"), names)


def _left(group: Path, names: _Names) -> Iterator[int]:
    limit, taken = _text(group / names.limit).strip(), _text(group / names.taken).strip()
    if limit.isdigit() and taken.isdigit():
        stat = dict(line.split() for line in _text(group / "memory.stat").splitlines())
        yield int(limit) - int(taken) + sum(int(stat.get(name, 0)) for name in names.file_pages)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
