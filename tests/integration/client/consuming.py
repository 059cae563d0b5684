"""A consumer of ours in a process of its own, to be stopped, killed and watched.

`python -m tests.integration.client.consuming BOOTSTRAP GROUP TOPIC [NAME=VALUE]…` prints a line for each thing that
happens: `assigned 0 1`, `revoked 0`, `lost 0` with the numbers of partitions, and `record PARTITION OFFSET`. It commits
what it has printed, and leaves on SIGTERM.
"""

import signal
import sys
from collections.abc import Collection
from types import FrameType
from typing import Any

from ottla.client.consumer.consumer import Consumer
from ottla.client.consumer.rebalance_listener import RebalanceListener
from ottla.client.errors import WakeupError
from ottla.client.record import TopicPartition


class Printing(RebalanceListener):
    """Says what the group does."""

    def on_partitions_assigned(self, consumer: Any, partitions: Collection[TopicPartition]) -> None:
        say("assigned", *sorted(partition.partition for partition in partitions))

    def on_partitions_revoked(self, consumer: Any, partitions: Collection[TopicPartition]) -> None:
        say("revoked", *sorted(partition.partition for partition in partitions))

    def on_partitions_lost(self, consumer: Any, partitions: Collection[TopicPartition]) -> None:
        say("lost", *sorted(partition.partition for partition in partitions))


def say(*words: object) -> None:
    """One line, at once."""
    print(*words, flush=True)


def main(bootstrap: str, group: str, topic: str, *more: str) -> None:
    """Runs until it is told to stop."""
    settings: dict[str, object] = dict(setting.split("=", 1) for setting in more)
    if settings.get("group_protocol") != "consumer":
        settings = {"session_timeout_ms": 6_000, "heartbeat_interval_ms": 300, **settings}
    consumer = Consumer(
        bootstrap_servers=bootstrap, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False, **settings
    )

    def stop(number: int, frame: FrameType | None) -> None:
        consumer.wakeup()

    signal.signal(signal.SIGTERM, stop)
    with consumer:
        consumer.subscribe([topic], listener=Printing())
        try:
            while True:
                records = consumer.poll(1)
                for record in records:
                    say("record", record.partition, record.offset)
                if records:
                    consumer.commit()
        except WakeupError:
            pass
    say("closed")


if __name__ == "__main__":
    main(*sys.argv[1:])
