"""A broker of ours and a controller in processes of their own: what a client asks the one travels to the other."""

import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.clients.server import OttlaServer
from tests.kafka.peer import KafkaServer
from tests.kafka.server import START_SECONDS, Server

CONTROLLER_ID = 3000


class ControllerServer(Server):
    """The only voter of a quorum, and no broker."""

    def _properties(self, settings: dict[str, str]) -> dict[str, str]:
        properties = super()._properties(settings)
        endpoint = f"CONTROLLER://127.0.0.1:{self.controller_port}"
        return {
            **properties,
            "process.roles": "controller",
            "node.id": str(CONTROLLER_ID),
            "listeners": endpoint,
            "advertised.listeners": endpoint,
        }

    def wait_until_ready(self) -> None:
        """Returns as soon as brokers can connect."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.controller_port)) == 0:
                    return
            assert self.is_running, f"{self.name} ended:\n{self.output()}"
            assert time.monotonic() < deadline, f"{self.name} did not start:\n{self.output()}"
            time.sleep(0.02)


class OttlaController(ControllerServer, OttlaServer):
    """A controller of ours."""

    name = "Ottla's controller"


class ApacheController(ControllerServer, KafkaServer):
    """A controller of Apache Kafka's."""

    name = "Apache Kafka's controller"


class SplitServer(OttlaServer):
    """A broker of ours whose controller is another process."""

    name = "Ottla's broker"

    def __init__(self, directory: Path, controller: type[ControllerServer] = OttlaController) -> None:
        self.controller = controller(directory / "controller")
        super().__init__(directory / "broker")

    def _properties(self, settings: dict[str, str]) -> dict[str, str]:
        properties = super()._properties(settings)
        endpoint = f"PLAINTEXT://127.0.0.1:{self.port}"
        return {
            **properties,
            "process.roles": "broker",
            "listeners": endpoint,
            "advertised.listeners": endpoint,
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{self.controller.controller_port}",
        }

    def _format_command(self, cluster_id: str) -> Sequence[str]:
        arguments = ("format", "--no-initial-controllers", "-t", cluster_id, "-c", str(self.config))
        return [sys.executable, "-m", "ottla.cli.kafka.storage", *arguments]

    def format(self, cluster_id: str) -> None:
        """Writes what the log directories of both need."""
        self.controller.format(cluster_id)
        super().format(cluster_id)

    def start(self) -> None:
        """Starts both and waits until the broker answers."""
        self.controller.start()
        super().start()

    def stop(self) -> int:
        """Stops the broker, then the controller."""
        code = super().stop()
        self.controller.stop()
        return code
