"""The log manager's arguments."""

import uuid
from collections.abc import Callable

from ottla.base.clock import Clock
from ottla.base.frozen import frozen
from ottla.storage.directory_lock import DirectoryLock
from ottla.storage.disk.port import Disk
from ottla.storage.log_config import DEFAULT_LOG_CONFIG, LogConfig

_DAY_MS = 86_400_000


def fresh_id() -> str:
    """32 digits that were never used before."""
    return uuid.uuid4().hex


def run_here(change: Callable[[], None]) -> None:
    """For callers that write logs on one thread only, and look after them on the same."""
    change()


@frozen(kw_only=True)
class LogManagerOptions:
    """The directories, the ports to the outside, and the settings that do not change."""

    directories: tuple[str, ...]
    disk: Disk
    clock: Clock
    default_config: LogConfig = DEFAULT_LOG_CONFIG
    recovery_threads: int = 2
    """`num.recovery.threads.per.data.dir`"""
    producer_id_expiration_ms: int = _DAY_MS
    cordoned: frozenset[str] = frozenset()
    """`cordoned.log.dirs`: directories that take no new partitions."""
    appends_always_on_thread: bool = False
    """`log.append.thread=always`"""
    lock_directory: Callable[[str], DirectoryLock] | None = DirectoryLock.acquire
    """None for disks that only exist in memory."""
    unique_id: Callable[[], str] = fresh_id
    run_on_writer: Callable[[Callable[[], None]], None] = run_here
    """Runs a change to a log on the thread that appends to it, and returns when it is done or raises what it raised.
    Retention and the cleaner may work on other threads, but a log is changed by one."""
