"""The replica manager's arguments."""

import logging
from collections.abc import Callable

from ottla.base.clock import Clock
from ottla.base.frozen import frozen
from ottla.replication.follower.fetcher_pool import EndpointOf
from ottla.replication.ports import AlterPartitionPort, DirectoryEventPort, EventLoop, Worker
from ottla.replication.schedule.worker_thread import WorkerThread
from ottla.replication.settings import DEFAULT_SETTINGS, ReplicationSettings
from ottla.storage.cleaner.log_cleaner import LogCleaner
from ottla.storage.log_manager import LogManager

_log = logging.getLogger(__name__)


def _tell(error: Exception) -> None:
    _log.error("a change of the metadata could not be taken in: %s", error, exc_info=error)


@frozen(kw_only=True)
class ReplicaManagerOptions:
    """The broker's own id, its logs, and its ways to the outside."""

    node_id: int
    logs: LogManager
    """Loaded, with `run_on_writer` made by `writer_thread.run_on_loop`."""
    clock: Clock
    loop: EventLoop
    alter_partition: AlterPartitionPort
    directory_events: DirectoryEventPort
    endpoint_of: EndpointOf
    """A connection to another broker, made when this broker follows a partition that is led there."""
    cleaner: LogCleaner | None = None
    """None if `log.cleaner.enable` is off."""
    settings: ReplicationSettings = DEFAULT_SETTINGS
    make_worker: Callable[[str], Worker] = WorkerThread
    """A thread by name. A simulation brings workers that run at once."""
    note_fault: Callable[[Exception], None] = _tell
    """Hears of a mistake in taking in the metadata, which costs as little as it can."""
