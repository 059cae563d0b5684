"""The faults of brokers that host coordinators, and their repair."""

from typing import Final

from ottla.testing.simulation.coordinator.controller import READ_TOPICS
from ottla.testing.simulation.coordinator.coordinator_cluster import CoordinatorCluster
from ottla.testing.simulation.coordinator.workload.client import client_part
from ottla.testing.simulation.fault_plan import FaultPlan
from ottla.testing.simulation.network import HEALTHY
from ottla.testing.simulation.node import SimulatedNode

_SHORT_MS: Final = (100, 800)


class CoordinatorChaos:
    """Picks faults by chance, among those that the scenario has."""

    def __init__(self, cluster: CoordinatorCluster) -> None:
        self._cluster: Final = cluster
        self._random: Final = cluster.random
        faults = {
            "crash-broker": self._crash_broker,
            "crash-all": self._crash_all,
            "isolate-broker": self._isolate_broker,
            "cut-link": self._cut_link,
            "pause-broker": self._pause_broker,
            "heal-network": self._heal_network,
            "restart": self._restart,
            "move-leader": self._move_leader,
            "shrink-isr": self._shrink_isr,
            "jump-clock": self._jump_clock,
            "crash-client": self._crash_client,
            "pause-client": self._pause_client,
            "stop-client": self._stop_client,
            "grow-topic": self._grow_topic,
        }
        scenario = cluster.scenario
        self._plan: Final = FaultPlan(cluster, faults, self._repair, scenario.faults, scenario.fault_interval_ms)

    def start(self) -> None:
        """Begins to break things."""
        self._plan.start()

    def stop(self) -> None:
        """Ends all faults: the network heals, and every node runs."""
        self._plan.end()
        self._cluster.note("everything heals")
        self._heal_network()
        self._cluster.network.profile = HEALTHY
        for partition in self._cluster.controller.partitions.values():
            partition.is_short_of_replicas = False
        self._restart()

    def _repair(self) -> None:
        self._restart()
        self._heal_network()

    def _broker(self) -> SimulatedNode:
        return self._cluster.nodes[self._random.choice(self._cluster.broker_ids)]

    def _client(self) -> SimulatedNode:
        return self._cluster.nodes[self._random.choice(list(self._cluster.clients))]

    def _crash_broker(self) -> None:
        node = self._broker()
        if node.is_running:
            node.crash("by chance")
            self._cluster.lose_broker(node.id)

    def _crash_all(self) -> None:
        for broker_id in self._cluster.broker_ids:
            node = self._cluster.nodes[broker_id]
            if node.is_running:
                node.crash("power cut")
                self._cluster.lose_broker(broker_id)
        self._restart()

    def _restart(self) -> None:
        for node in self._cluster.nodes.values():
            if not node.is_running:
                node.start()

    def _isolate_broker(self) -> None:
        """From the other brokers and the controller; clients may still find it."""
        cluster, node = self._cluster, self._broker()
        cluster.note(f"isolate {node.host}")
        cluster.isolated.add(node.id)
        hosts = {cluster.nodes[broker_id].host for broker_id in cluster.broker_ids}
        if self._random.randrange(2):
            hosts = {other.host for other in cluster.nodes.values()}
        cluster.network.partition([node.host], sorted(hosts - {node.host}))
        cluster.lose_broker(node.id)

    def _cut_link(self) -> None:
        """Cuts one direction between two brokers, unnoticed by the controller: verifications and markers are lost."""
        source, destination = self._broker().host, self._broker().host
        self._cluster.note(f"cut {source} to {destination}")
        self._cluster.network.cut(source, destination)

    def _heal_network(self) -> None:
        self._cluster.note("network heals")
        self._cluster.network.heal()
        isolated = self._cluster.isolated.copy()
        self._cluster.isolated.clear()
        for broker_id in sorted(isolated):
            self._cluster.return_broker(broker_id)

    def _pause_broker(self) -> None:
        node = self._broker()
        node.pause(self._random.choice((200, 700, 2000)))
        if node.is_paused and self._random.randrange(2):
            self._cluster.controller.lost(node.id)
            self._cluster.return_broker(node.id)

    def _move_leader(self) -> None:
        controller = self._cluster.controller
        if controller.image.alive:
            controller.move(self._random.choice(list(controller.partitions)))

    def _shrink_isr(self) -> None:
        """Too few replicas for a while: nothing can be written."""
        controller = self._cluster.controller
        partition = controller.partitions[self._random.choice(list(controller.partitions))]
        self._cluster.note(f"{partition.key.topic}-{partition.key.partition} has too few replicas")
        partition.is_short_of_replicas = True

        def recover() -> None:
            partition.is_short_of_replicas = False

        self._cluster.queue.after(self._random.randint(*_SHORT_MS), recover)

    def _jump_clock(self) -> None:
        node = self._broker()
        node.note("clock jumps")
        node.clock.jump(self._random.choice((100, 2000)))

    def _crash_client(self) -> None:
        self._client().crash("by chance")

    def _pause_client(self) -> None:
        self._client().pause(self._random.choice((200, 1000, 3000)))

    def _stop_client(self) -> None:
        part = client_part(self._client())
        if part is not None:
            part.member.is_stopping = True

    def _grow_topic(self) -> None:
        self._cluster.controller.grow(self._random.choice(list(READ_TOPICS)))
