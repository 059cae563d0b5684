"""The connection of a Python worker to a cluster: one per process and settings, kept from task to task.

Spark forks its workers from one process and uses them again for task after task, so connections live as long as the
worker. A forked child makes its own: it has no use for its parent's threads and sockets.
"""

import gc
import os
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.config.settings import ClientSettings
from ottla.client.facade.loop_thread import LoopThread


class WorkerClient:
    """A cluster client and the thread that it lives in."""

    def __init__(self, settings: ClientSettings, thread_name: str, timeout_ms: int) -> None:
        """Connects, trying for `timeout_ms`."""
        self.settings: Final = settings
        self.thread: Final = LoopThread(thread_name)
        self.cluster: Final = ClusterClient(settings)
        try:
            self.thread.run(self.cluster.start(timeout_ms=timeout_ms))
        except BaseException:
            self.thread.close()
            raise


C = TypeVar("C", bound=WorkerClient)


class WorkerClients(Generic[C]):
    """The clients of this process, by the settings that their users gave."""

    def __init__(self) -> None:
        self._clients: Final[dict[tuple[int, frozenset[tuple[str, str]]], C]] = {}

    def get(self, settings: dict[str, str], connect: Callable[[], C]) -> C:
        """The client for these settings; `connect` makes it, if there is none that can be used."""
        key = (os.getpid(), frozenset(settings.items()))
        client = self._clients.get(key)
        if client is None or not client.thread.is_usable:
            client = self._clients[key] = connect()
            # Spark's worker collects garbage after every task; what is there now stays and need not be looked at again.
            gc.freeze()
        return client
