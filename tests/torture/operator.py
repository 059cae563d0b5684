"""One who changes the cluster while it is tortured: replicas move between nodes and directories, leaders change.

What it asks for is drawn from the seed; whether it comes about is the cluster's business, which may be dying.
"""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from ottla.base.errors import OttlaError
from ottla.client import Admin, TopicPartition
from ottla.client.admin.value.replica import ElectionType, TopicPartitionReplica
from tests.kafka.cluster import Cluster

_PATIENCE_SECONDS = 90.0
_QUICK = {"request_timeout_ms": 5_000, "default_api_timeout_ms": 10_000, "retry_backoff_max_ms": 300}


class Operator:
    """Works in a thread of its own from the beginning of a block to its end."""

    def __init__(self, cluster: Cluster, seed: int, events: Counter[str]) -> None:
        self._cluster = cluster
        self._dice = random.Random(f"operator-{seed}")
        self._events = events
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="operator")
        self._node_ids = [node.node_id for node in cluster.nodes]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        with self._admin() as admin:
            while not self._stopping.wait(self._dice.uniform(0.2, 2)):
                self._try(admin)

    def _admin(self) -> Admin:
        return Admin(bootstrap_servers=self._cluster.bootstrap, **_QUICK)

    def _try(self, admin: Admin) -> None:
        name, change = self._dice.choices(
            (
                ("reassignments", self._reassign),
                ("reassignments cancelled", self._cancel),
                ("moves between directories", self._move),
                ("elections of preferred leaders", self._elect),
            ),
            (4, 1, 4, 1),
        )[0]
        try:
            change(admin, self._some(partitions(admin)))
        except OttlaError:
            self._events[f"{name} that failed"] += 1
        else:
            self._events[name] += 1

    def _some(self, all_of_them: Sequence[TopicPartition]) -> list[TopicPartition]:
        return self._dice.sample(all_of_them, min(len(all_of_them), self._dice.randrange(1, 5)))

    def _reassign(self, admin: Admin, some: list[TopicPartition]) -> None:
        """To two or three nodes, in any order: replicas are added, removed and swapped, and the first is to lead."""
        wishes = {one: self._dice.sample(self._node_ids, self._dice.choice((2, 3, 3))) for one in some}
        admin.alter_partition_reassignments(wishes)

    def _cancel(self, admin: Admin, some: list[TopicPartition]) -> None:
        admin.alter_partition_reassignments(dict.fromkeys(admin.list_partition_reassignments()))

    def _move(self, admin: Admin, some: list[TopicPartition]) -> None:
        node = self._dice.choice(self._cluster.nodes)
        directory = self._dice.choice(node.log_directories)
        moves = {TopicPartitionReplica(one.topic, one.partition, node.node_id): str(directory) for one in some}
        admin.alter_replica_log_dirs(moves, errors={})

    def _elect(self, admin: Admin, some: list[TopicPartition]) -> None:
        admin.elect_leaders(ElectionType.PREFERRED, errors={})

    # The end

    def settle(self) -> None:
        """Has every partition on every node; returns once all replicas are in sync and nothing moves any more."""
        with self._admin() as admin:
            _until(lambda: self._ask_for_all(admin))
            _until(lambda: unsettled(admin, self._node_ids))

    def _ask_for_all(self, admin: Admin) -> object:
        admin.alter_partition_reassignments(dict.fromkeys(partitions(admin), self._node_ids))
        return None


def partitions(admin: Admin) -> list[TopicPartition]:
    """All of the cluster, those of internal topics too."""
    described = admin.describe_topics(admin.list_topics(include_internal=True))
    return [TopicPartition(topic, found.partition) for topic in described for found in described[topic].partitions]


def unsettled(admin: Admin, node_ids: Sequence[int]) -> object:
    """What is not in sync everywhere, or still moves; nothing if all is well."""
    described = admin.describe_topics(admin.list_topics(include_internal=True))
    late = {
        f"{topic}-{found.partition}": found
        for topic in described
        for found in described[topic].partitions
        if sorted(found.isr) != sorted(node_ids) or sorted(found.replicas) != sorted(node_ids)
    }
    moving = [
        (node_id, partition)
        for node_id, directories in admin.describe_log_dirs(node_ids).items()
        for description in directories.values()
        for partition, found in description.replicas.items()
        if found.is_future
    ]
    return late or moving or admin.list_partition_reassignments()


def _until(look: Callable[[], object]) -> None:
    """Returns once nothing is left; what was seen last is the failure."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            left = look()
        except OttlaError as error:
            left = error
        if not left:
            return
        assert time.monotonic() < deadline, f"after {_PATIENCE_SECONDS:g} s: {left!r}"
        time.sleep(0.3)
