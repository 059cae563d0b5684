"""The doctor's checks of a broker's data directory on this machine: rights, room, limits."""

import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ottla.cli.commands.doctor.finding import Finding, doubtful, fine, wrong
from ottla.cli.output.quantity import bytes_text

_FREE_BYTES_MIN: Final = 1_000_000_000
_FREE_SHARE_DOUBTFUL: Final = 0.10
_FILES_MIN: Final = 4096


def examine(path: str) -> Iterator[Finding]:
    """Checks a directory; those that make no sense without it are left out."""
    directory = Path(path)
    if not directory.is_dir():
        said = f"{path} is no directory" if directory.exists() else f"{path} does not exist"
        yield wrong("data", said, f"give the broker's own: ottla broker --data {path} would make it")
        return
    yield _permission(directory)
    yield _format(directory)
    yield examine_room(path, *_room(directory))
    yield _limit()


def _permission(directory: Path) -> Finding:
    me = os.geteuid()
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        return wrong("rights", f"user {me} may not write to {directory}", f"sudo chown -R {me} {directory}")
    foreign = next((entry for entry in directory.iterdir() if entry.stat().st_uid != me), None)
    if foreign is not None and me != 0:
        return wrong(
            "rights",
            f"{foreign} belongs to user {foreign.stat().st_uid}, not {me}: a broker of {me} may not change it",
            f"sudo chown -R {me} {directory}",
        )
    return fine("rights", f"{directory} can be read and written")


def _format(directory: Path) -> Finding:
    found = directory / "meta.properties"
    if found.is_file():
        return fine("format", "meta.properties is there: the directory is a broker's")
    if any(directory.iterdir()):
        return doubtful("format", "no meta.properties, and not empty", "is this the right directory?")
    return fine("format", "empty: `ottla broker` formats it by itself")


def _room(directory: Path) -> tuple[int, int, float]:
    volume = os.statvfs(directory)
    inodes = volume.f_favail / volume.f_files if volume.f_files else 1.0
    return volume.f_bavail * volume.f_frsize, volume.f_blocks * volume.f_frsize, inodes


def examine_room(path: str, free_bytes: int, total_bytes: int, free_inodes: float) -> Finding:
    """Whether the volume has room: in bytes, and in files."""
    share = free_bytes / total_bytes if total_bytes else 0.0
    said = f"{bytes_text(free_bytes)} of {bytes_text(total_bytes)} free ({share:.0%})"
    fix = f"delete topics, lower retention.ms or retention.bytes, or move {path} to a larger disk"
    if free_bytes < _FREE_BYTES_MIN or free_inodes < 0.01:
        return wrong("disk", f"{said}: it is full" + (" (no inodes left)" if free_inodes < 0.01 else ""), fix)
    if share < _FREE_SHARE_DOUBTFUL:
        return doubtful("disk", said, fix)
    return fine("disk", said)


def _limit() -> Finding:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < _FILES_MIN:
        return doubtful("limit", f"a process may open {soft} files", f"ulimit -n {min(hard, 65536)} before the broker")
    return fine("limit", f"a process may open {soft:,} files")
