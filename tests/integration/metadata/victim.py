"""A process that is to be killed: creates topics for ever and says so after each answer."""

import sys

from ottla.metadata.store.metadata_log_config import MetadataLogConfig
from ottla.storage.disk.local import LocalDisk
from tests.unit.metadata.store.node import NODE_ID, Node

CONFIG = MetadataLogConfig(segment_bytes=4000)
SNAPSHOT_EVERY = 15


def create_topics(directory: str) -> None:
    node = Node(LocalDisk(), directory, CONFIG)
    if NODE_ID not in node.image.cluster.brokers:
        node.start_broker(NODE_ID)
    number = len(node.topics())
    while True:
        node.create_topic(f"topic-{number}")
        print(f"topic-{number}", flush=True)
        number += 1
        if number % SNAPSHOT_EVERY == 0:
            node.core.delete_before_snapshot(node.take_snapshot())


if __name__ == "__main__":
    create_topics(sys.argv[1])
