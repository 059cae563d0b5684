"""Combined nodes that are one cluster, Apache Kafka's or ours: each a process of its own with two log directories."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.kafka.peer import command, require_kafka
from tests.kafka.server import START_SECONDS, Server, is_ready

CLUSTER_ID = "b3R0bGEtY2x1c3Rlci0wMQ"
_JVM_FLAGS = (
    "-Xmx384M",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    f"-Dorg.slf4j.simpleLogger.defaultLogLevel={os.environ.get('OTTLA_TEST_PEER_LOG', 'warn')}",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
)
_SETTINGS = {
    # Long enough for processes that share two cores, short enough to wait for.
    "controller.quorum.election.timeout.ms": "500",
    "controller.quorum.fetch.timeout.ms": "1000",
    "controller.quorum.election.backoff.max.ms": "300",
    "broker.heartbeat.interval.ms": "300",
    "broker.session.timeout.ms": "3000",
}


class Node(Server):
    """One of them: broker and controller."""

    def __init__(self, directory: Path, node_id: int, *, is_peer: bool = False) -> None:
        self.node_id = node_id
        self.name = f"{'Apache Kafka' if is_peer else 'Ottla'} {node_id}"
        self._is_peer = is_peer
        self.log_directories = (directory / "logs", directory / "logs-2")
        self.is_frozen = False
        super().__init__(directory)

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def _properties(self, settings: dict[str, str]) -> dict[str, str]:
        properties = super()._properties({"node_id": str(self.node_id)})
        properties["log.dirs"] = ",".join(map(str, self.log_directories))
        del properties["controller.quorum.bootstrap.servers"]
        return properties | _SETTINGS | {name.replace("_", "."): value for name, value in settings.items()}

    def _format_command(self, cluster_id: str) -> Sequence[str]:
        # Ours for both: what the two formatters write is the same, which has tests of its own, and ours is quicker.
        return [sys.executable, "-m", "ottla.cli.kafka.storage", "format", "-t", cluster_id, "-c", str(self.config)]

    def _serve_command(self) -> Sequence[str]:
        if self._is_peer:
            return command("kafka.Kafka", (str(self.config),), _JVM_FLAGS)
        return [sys.executable, "-m", "ottla.cli.kafka.server_start", str(self.config)]

    def launch(self) -> None:
        """Starts it without waiting: alone it may not be a quorum."""
        assert not self.is_running, f"{self.name} runs already"
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                self._serve_command(), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )

    def freeze(self) -> None:
        """SIGSTOP: it holds its connections and says nothing."""
        os.kill(self.pid, signal.SIGSTOP)
        self.is_frozen = True

    def thaw(self) -> None:
        """SIGCONT: it goes on as if no time had passed."""
        self.is_frozen = False
        if self.is_running:
            os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """kill -9, frozen or not."""
        self.is_frozen = False
        super().kill()


class Cluster:
    """Nodes 1 to `count`; `settings` are everybody's, with underscores for dots."""

    def __init__(
        self, directory: Path, count: int, *, is_peer: bool = False, node_class: type[Node] = Node, **settings: str
    ) -> None:
        if is_peer:
            require_kafka()
        numbers = range(1, count + 1)
        self.nodes = [node_class(directory / f"node-{number}", number, is_peer=is_peer) for number in numbers]
        voters = ",".join(f"{node.node_id}@127.0.0.1:{node.controller_port}" for node in self.nodes)
        for node in self.nodes:
            node.configure(controller_quorum_voters=voters, **_replicated(count), **settings)
            node.format(CLUSTER_ID)

    @property
    def bootstrap(self) -> str:
        """What clients connect to."""
        return ",".join(node.bootstrap for node in self.nodes)

    def start(self) -> None:
        """Starts those that do not run, and waits until all of them serve."""
        for node in self.nodes:
            if not node.is_running:
                node.launch()
        deadline = time.monotonic() + START_SECONDS
        for node in self.nodes:
            while not is_ready(node.address):
                assert node.is_running, f"{node.name} ended:\n{node.output()}"
                assert time.monotonic() < deadline, f"{node.name} did not start:\n{node.output()}"
                time.sleep(0.05)

    def stop(self) -> None:
        """SIGTERM to all of them; each has to end by itself."""
        for node in self.nodes:
            if node.is_running:
                os.kill(node.pid, signal.SIGTERM)
        for node in self.nodes:
            node.stop()

    def kill(self) -> None:
        """Ends all of them at one moment: none goes on with those that are left."""
        running = [node for node in self.nodes if node.is_running]
        for node in running:
            node.freeze()
        for node in running:
            node.kill()


def _replicated(count: int) -> dict[str, str]:
    """Internal topics on all nodes, of which one may be missing."""
    factor, in_sync = str(count), str(max(count - 1, 1))
    return {
        "default_replication_factor": factor,
        "min_insync_replicas": in_sync,
        "offsets_topic_replication_factor": factor,
        "transaction_state_log_replication_factor": factor,
        "transaction_state_log_min_isr": in_sync,
        "share_coordinator_state_topic_replication_factor": factor,
        "share_coordinator_state_topic_min_isr": in_sync,
    }
