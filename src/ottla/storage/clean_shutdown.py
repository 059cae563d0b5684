"""The mark that a log directory was left in order: `.kafka_cleanshutdown`, with the broker epoch of that time.

It is written last on the way down and removed first on the way up, so that a crash in between is seen as one. The
epoch proves to the controller that no write was lost (KIP-966).
"""

import json
from typing import Final

from ottla.storage.disk.atomic import directory_of, read_whole, write_atomically
from ottla.storage.disk.port import Disk

CLEAN_SHUTDOWN_FILE: Final = ".kafka_cleanshutdown"
UNKNOWN_BROKER_EPOCH: Final = -1


def read_clean_shutdown(disk: Disk, directory: str) -> int | None:
    """The broker epoch at the clean stop, -1 if the mark does not tell; None if there was no clean stop."""
    data = read_whole(disk, f"{directory}/{CLEAN_SHUTDOWN_FILE}")
    if data is None:
        return None
    try:
        mark = json.loads(data)
    except ValueError:
        return UNKNOWN_BROKER_EPOCH
    epoch = mark.get("brokerEpoch") if isinstance(mark, dict) else None
    return epoch if isinstance(epoch, int) else UNKNOWN_BROKER_EPOCH


def write_clean_shutdown(disk: Disk, directory: str, broker_epoch: int) -> None:
    """Marks the directory as left in order."""
    mark = json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":"))
    write_atomically(disk, f"{directory}/{CLEAN_SHUTDOWN_FILE}", mark.encode())


def remove_clean_shutdown(disk: Disk, directory: str) -> None:
    """Takes the mark away, for good: it must not come back after a crash."""
    path = f"{directory}/{CLEAN_SHUTDOWN_FILE}"
    if disk.status(path) is not None:
        disk.remove(path)
        disk.flush_directory(directory_of(path))
