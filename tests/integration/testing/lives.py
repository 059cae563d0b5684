"""Twenty lives of an embedded broker, in a process that nobody else uses: prints what is held before and after them."""

import gc
import os
import threading

from ottla.broker.node.node import Node
from ottla.storage.disk.local import LocalFile
from ottla.testing import EmbeddedBroker


def live_and_die() -> None:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders", partitions=3)
        broker.kill()
        broker.restart()
        broker.clock.advance(seconds=1)


def held() -> tuple[int, int, int, int]:
    """Threads, descriptors, and the objects that hold memory."""
    gc.collect()
    objects = gc.get_objects()
    return (
        threading.active_count(),
        len(os.listdir("/proc/self/fd")),
        sum(isinstance(found, Node) for found in objects),
        sum(isinstance(found, LocalFile) for found in objects),
    )


if __name__ == "__main__":
    live_and_die()
    print(held())
    for _ in range(20):
        live_and_die()
    print(held())
