"""The collaborators that all parts of the replica manager share."""

from collections.abc import Callable

from ottla.base.clock import Clock
from ottla.base.frozen import frozen
from ottla.replication.directory.directory_watch import DirectoryWatch
from ottla.replication.follower.fetcher_pool import FetcherPool
from ottla.replication.follower.throttle import Throttles
from ottla.replication.partition.cluster_view import ClusterView
from ottla.replication.partition_table import PartitionTable
from ottla.replication.ports import DirectoryEventPort, EventLoop
from ottla.replication.schedule.mailbox import Mailbox
from ottla.replication.schedule.waiting import Waiting
from ottla.storage.log_manager import LogManager


@frozen(kw_only=True)
class ReplicationContext:
    """The broker's logs and partitions, what waits for them, and the ways to the outside."""

    logs: LogManager
    table: PartitionTable
    view: ClusterView
    waiting: Waiting
    fetchers: FetcherPool
    directory_watch: DirectoryWatch
    directory_events: DirectoryEventPort
    clock: Clock
    loop: EventLoop
    mailbox: Mailbox
    throttles: Throttles
    note_fault: Callable[[Exception], None]
    """See `ReplicaManagerOptions`."""
