"""Finishes or undoes what was under way when the process stopped, before any segment is opened.

`.deleted` files go. `.cleaned` files go, and with them `.swap` files of the same or later base offsets: the cleaner
was still renaming. Other `.swap` files are whole: the segments in their range go, and they take their place. Index
files without a log go.
"""

import logging

from ottla.storage.disk.atomic import TEMPORARY_SUFFIX
from ottla.storage.disk.port import Disk
from ottla.storage.log_config import LogConfig
from ottla.storage.segment import file_name
from ottla.storage.segment.file_name import FileName
from ottla.storage.segment.segment import Segment

_log = logging.getLogger(__name__)


def finish_interrupted(disk: Disk, directory: str, names: list[str], config: LogConfig) -> list[FileName]:
    """Cleans up among the files in a directory, and answers the segments' files and snapshots that are left."""
    found = _parsed(names)
    temporary = [name for name in names if name.endswith(TEMPORARY_SUFFIX)]
    for name in temporary:
        disk.remove(f"{directory}/{name}")
    interrupted = any(parsed.transient for parsed in found.values())
    if interrupted:
        _remove_unfinished(disk, directory, found)
        _complete_swaps(disk, directory, found, config)
        found = _parsed(disk.list(directory))
    if _remove_orphans(disk, directory, found) or interrupted or temporary:
        disk.flush_directory(directory)
    return list(found.values())


def _parsed(names: list[str]) -> dict[str, FileName]:
    return {name: parsed for name in names if (parsed := file_name.parse(name)) is not None}


def _remove_unfinished(disk: Disk, directory: str, found: dict[str, FileName]) -> None:
    cleaned = [parsed.base_offset for parsed in found.values() if parsed.transient == file_name.CLEANED]
    for name, parsed in list(found.items()):
        undone = parsed.transient == file_name.SWAP and cleaned and parsed.base_offset >= min(cleaned)
        if undone or parsed.transient in (file_name.CLEANED, file_name.DELETED):
            disk.remove(f"{directory}/{name}")
            del found[name]


def _complete_swaps(disk: Disk, directory: str, found: dict[str, FileName], config: LogConfig) -> None:
    """Every `.swap` that is left replaces the segments whose base offsets it covers."""
    swapped = sorted({parsed.base_offset for parsed in found.values() if parsed.transient == file_name.SWAP})
    for base_offset in swapped:
        if file_name.name_of(base_offset, file_name.LOG, file_name.SWAP) in found:
            segment = Segment.open(disk, directory, base_offset, config, suffix=file_name.SWAP)
            end_offset = max(segment.next_offset, base_offset + 1)
            _remove_range(disk, directory, base_offset, end_offset)
    for name, parsed in found.items():
        if parsed.transient == file_name.SWAP:
            disk.rename(f"{directory}/{name}", f"{directory}/{file_name.name_of(parsed.base_offset, parsed.kind)}")


def _remove_range(disk: Disk, directory: str, base_offset: int, end_offset: int) -> None:
    for name in disk.list(directory):
        parsed = file_name.parse(name)
        if parsed is None or parsed.transient or parsed.kind not in file_name.SEGMENT_FILES:
            continue
        if base_offset <= parsed.base_offset < end_offset:
            disk.remove(f"{directory}/{name}")


def _remove_orphans(disk: Disk, directory: str, found: dict[str, FileName]) -> bool:
    """Index files whose log is gone; answers whether there were any."""
    logs = {parsed.base_offset for parsed in found.values() if parsed.kind == file_name.LOG}
    orphans = [
        name
        for name, parsed in found.items()
        if parsed.base_offset not in logs and parsed.kind not in (file_name.LOG, file_name.SNAPSHOT)
    ]
    for name in orphans:
        _log.error("%s/%s: the log file that it belongs to is gone; this goes, too", directory, name)
        disk.remove(f"{directory}/{name}")
        del found[name]
    return bool(orphans)
