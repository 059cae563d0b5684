"""One node of a mixed cluster: a controller or a broker, Apache Kafka's or ours, in a process of its own.

Both kinds read the same properties file and are formatted with the same arguments; only the programs differ.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from ottla.base.ids import Uuid
from tests.kafka.peer import command
from tests.kafka.server import START_SECONDS, Server

CLUSTER_ID = "b3R0bGEtbWl4ZWQtMDAwMQ"
_JVM_FLAGS = (
    "-Xmx256M",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    f"-Dorg.slf4j.simpleLogger.defaultLogLevel={os.environ.get('OTTLA_TEST_MIXED_LOG', 'warn')}",
)
_SETTINGS = {
    # Long enough for processes that share two cores, short enough to wait for.
    "controller.quorum.election.timeout.ms": "500",
    "controller.quorum.fetch.timeout.ms": "1000",
    "controller.quorum.election.backoff.max.ms": "300",
    # Kafka's default, which ours has only if somebody asks for it: operations of several milliseconds share a batch.
    "controller.quorum.append.linger.ms": "25",
    "broker.heartbeat.interval.ms": "300",
    "broker.session.timeout.ms": "5000",
}


class Kind(Enum):
    """Whose program a node runs."""

    APACHE = "apache"
    OTTLA = "ottla"


class Role(Enum):
    """What a node is in its cluster."""

    CONTROLLER = "controller"
    BROKER = "broker"


class Voters(Enum):
    """How it is settled who votes."""

    STATIC = "static"
    """By every node's settings; kraft.version 0."""
    DYNAMIC = "dynamic"
    """By the log, where they come and go; kraft.version 1."""


@dataclass
class Quorum:
    """What every node is told of the controllers."""

    voters: Voters
    addresses: dict[int, str] = field(default_factory=dict)
    directory_ids: dict[int, Uuid] = field(default_factory=dict)

    def properties(self) -> dict[str, str]:
        """How the quorum is found."""
        if self.voters is Voters.DYNAMIC:
            return {"controller.quorum.bootstrap.servers": ",".join(self.addresses.values())}
        return {"controller.quorum.voters": ",".join(f"{key}@{value}" for key, value in self.addresses.items())}

    def initial_controllers(self) -> str:
        """The first voters of a dynamic quorum, as formatting takes them."""
        return ",".join(f"{key}@{self.addresses[key]}:{value}" for key, value in self.directory_ids.items())


class Member(Server):
    """One node."""

    def __init__(self, directory: Path, node_id: int, kind: Kind, role: Role, quorum: Quorum) -> None:
        self.node_id = node_id
        self.kind = kind
        self.role = role
        self.name = f"{kind.value} {role.value} {node_id}"
        self._quorum = quorum
        super().__init__(directory)
        if role is Role.CONTROLLER:
            quorum.addresses[node_id] = f"127.0.0.1:{self.controller_port}"

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @property
    def address(self) -> tuple[str, int]:
        """Where it answers: to clients, or to other controllers."""
        return "127.0.0.1", self.port if self.role is Role.BROKER else self.controller_port

    @property
    def metadata_directory(self) -> Path:
        """Its replica of the metadata log."""
        return self.log_directory / "__cluster_metadata-0"

    def _properties(self, settings: dict[str, str]) -> dict[str, str]:
        listener = "PLAINTEXT" if self.role is Role.BROKER else "CONTROLLER"
        endpoint = f"{listener}://127.0.0.1:{self.address[1]}"
        properties = super()._properties({})
        del properties["controller.quorum.bootstrap.servers"]
        return {
            **properties,
            "process.roles": self.role.value,
            "node.id": str(self.node_id),
            "listeners": endpoint,
            "advertised.listeners": endpoint,
            **_SETTINGS,
            **self._quorum.properties(),
            **{name.replace("_", "."): value for name, value in settings.items()},
        }

    def _format_command(self, cluster_id: str) -> Sequence[str]:
        arguments = ["format", "-t", cluster_id, "-c", str(self.config)]
        if self.node_id in self._quorum.directory_ids:
            arguments += ["--initial-controllers", self._quorum.initial_controllers()]
        elif self._quorum.voters is Voters.DYNAMIC:
            arguments.append("--no-initial-controllers")
        # Ours for both: what the two formatters write is the same, which has tests of its own, and ours is quicker.
        return [sys.executable, "-m", "ottla.cli.kafka.storage", *arguments]

    def _serve_command(self) -> Sequence[str]:
        if self.kind is Kind.APACHE:
            return command("kafka.Kafka", (str(self.config),), _JVM_FLAGS)
        return [sys.executable, "-m", "ottla.cli.kafka.server_start", str(self.config)]

    def launch(self) -> None:
        """Starts it without waiting; `wait_until_ready` does that."""
        assert not self.is_running, f"{self.name} runs already"
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                self._serve_command(), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )

    def wait_until_ready(self) -> None:
        """Returns as soon as a broker serves clients, or a controller takes connections."""
        if self.role is Role.BROKER:
            super().wait_until_ready()
            return
        deadline = time.monotonic() + START_SECONDS
        while not _takes_connections(self.address):
            assert self.is_running, f"{self.name} ended:\n{self.output()}"
            assert time.monotonic() < deadline, f"{self.name} did not start:\n{self.output()}"
            time.sleep(0.02)

    def freeze(self) -> None:
        """Stops its time: it holds its connections and says nothing."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Lets it go on where it was."""
        os.kill(self.pid, signal.SIGCONT)


def _takes_connections(address: tuple[str, int]) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(address) == 0
