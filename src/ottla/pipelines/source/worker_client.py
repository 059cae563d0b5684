"""The connection of a Python worker to a cluster: one per process and settings, kept from task to task.

Spark forks its workers from one process and uses them again for task after task, so connections live as long as the
worker. A forked child makes its own: threads and sockets of its parent are none of its.
"""

import gc
import os
from typing import Final

from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.facade.loop_thread import LoopThread

_clients: Final[dict[tuple[int, frozenset[tuple[str, str]]], "WorkerClient"]] = {}


class WorkerClient:
    """A cluster client and the thread that it lives in."""

    def __init__(self, settings: dict[str, str], timeout_ms: int) -> None:
        """Connects, trying for `timeout_ms`."""
        self.settings: Final = ClientSettings.of(CONSUMER_KEYS, {**settings, "allow.auto.create.topics": "false"})
        self.thread: Final = LoopThread("ottla-spark-source")
        self.cluster: Final = ClusterClient(self.settings)
        try:
            self.thread.run(self.cluster.start(timeout_ms=timeout_ms))
        except BaseException:
            self.thread.close()
            raise


def worker_client(settings: dict[str, str], timeout_ms: int) -> WorkerClient:
    """The client of this process for these settings."""
    key = (os.getpid(), frozenset(settings.items()))
    client = _clients.get(key)
    if client is None or not client.thread.is_usable:
        client = _clients[key] = WorkerClient(settings, timeout_ms)
        # Spark's worker collects garbage after every task; what is there now stays, and need not be looked at again.
        gc.freeze()
    return client
