"""Three brokers in processes of their own around one controller, so that coordinators and partitions are apart."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.clients.server import CLUSTER_ID, OttlaServer
from tests.integration.broker.split_server import OttlaController
from tests.kafka.server import Server

BROKERS = (1, 2, 3)


class ClusterBroker(OttlaServer):
    """One of the brokers."""

    def __init__(self, directory: Path, node_id: int, controller: Server, **settings: str) -> None:
        self._node_id = node_id
        self._controller = controller
        super().__init__(directory, **settings)

    def _properties(self, settings: dict[str, str]) -> dict[str, str]:
        endpoint = f"PLAINTEXT://127.0.0.1:{self.port}"
        return {
            **super()._properties(settings),
            "process.roles": "broker",
            "node.id": str(self._node_id),
            "listeners": endpoint,
            "advertised.listeners": endpoint,
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{self._controller.controller_port}",
        }

    def _format_command(self, cluster_id: str) -> Sequence[str]:
        arguments = ("format", "--no-initial-controllers", "-t", cluster_id, "-c", str(self.config))
        return [sys.executable, "-m", "ottla.cli.kafka.storage", *arguments]


class Cluster:
    """The controller and its brokers."""

    def __init__(self, directory: Path, **settings: str) -> None:
        self.controller = OttlaController(directory / "controller")
        self.brokers = {
            node_id: ClusterBroker(directory / f"broker-{node_id}", node_id, self.controller, **settings)
            for node_id in BROKERS
        }

    @property
    def bootstrap(self) -> str:
        """What clients connect to."""
        return ",".join(broker.bootstrap for broker in self.brokers.values())

    def start(self) -> None:
        """Formats and starts all of them."""
        self.controller.format(CLUSTER_ID)
        self.controller.start()
        for broker in self.brokers.values():
            broker.format(CLUSTER_ID)
            broker.start()

    def kill(self) -> None:
        """Ends all of them."""
        for server in (*self.brokers.values(), self.controller):
            server.kill()

    def output(self) -> str:
        """What all of them said last."""
        return "\n".join(f"broker {node_id}:\n{broker.output()}" for node_id, broker in self.brokers.items())
