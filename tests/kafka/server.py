"""A server under test, in a process of its own: one combined node with one data directory, on loopback.

Owns the properties file, the ports, the process and its output; subclasses say how a server is run. The ports stay the
same over restarts, as clients need it.
"""

import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.kafka.port import free_port
from tests.kafka.wire import Wire

START_SECONDS = 60
_SHOWN_CHARACTERS = 6_000


class Server(ABC):
    """One node; `settings` are Kafka's, with underscores for dots."""

    name: str
    start_seconds: float = START_SECONDS

    def __init__(self, directory: Path, **settings: str) -> None:
        self.directory = directory
        self.log_directory = directory / "logs"
        self.config = directory / "server.properties"
        self.port, self.controller_port = free_port(), free_port()
        self._output = directory / "server.log"
        self._process: subprocess.Popen[bytes] | None = None
        directory.mkdir(parents=True, exist_ok=True)
        self.configure(**settings)

    def configure(self, **settings: str) -> None:
        """Writes the properties file anew, to be read at the next start."""
        self.config.write_text("".join(f"{name}={value}\n" for name, value in self._properties(settings).items()))

    @abstractmethod
    def _format_command(self, cluster_id: str) -> Sequence[str]:
        """The command line that formats the log directory of `config`."""

    @abstractmethod
    def _serve_command(self) -> Sequence[str]:
        """The command line that serves as `config` says."""

    @property
    def bootstrap(self) -> str:
        """What clients connect to."""
        return f"127.0.0.1:{self.port}"

    @property
    def address(self) -> tuple[str, int]:
        """The same for sockets."""
        return "127.0.0.1", self.port

    @property
    def pid(self) -> int:
        """The process that serves."""
        assert self._process is not None, "the server is not running"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def output(self) -> str:
        """The end of what it printed."""
        return self._output.read_text(errors="replace")[-_SHOWN_CHARACTERS:] if self._output.exists() else ""

    def lines(self) -> list[str]:
        """All that it printed."""
        return self._output.read_text(errors="replace").splitlines()

    def _properties(self, settings: dict[str, str]) -> dict[str, str]:
        endpoints = f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{self.controller_port}"
        return {
            "process.roles": "broker,controller",
            "node.id": "1",
            "listeners": endpoints,
            "advertised.listeners": endpoints,
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{self.controller_port}",
            "log.dirs": str(self.log_directory),
            "offsets.topic.num.partitions": "1",
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "share.coordinator.state.topic.num.partitions": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            **{name.replace("_", "."): value for name, value in settings.items()},
        }

    def format(self, cluster_id: str) -> None:
        """Writes what a new log directory needs."""
        command = self._format_command(cluster_id)
        done = subprocess.run(command, capture_output=True, text=True, timeout=START_SECONDS, check=False)
        assert not done.returncode, f"{self.name} did not format:\n{done.stdout}\n{done.stderr}"

    def start(self) -> None:
        """Starts it and waits until it answers."""
        assert not self.is_running, "the server runs already"
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                self._serve_command(), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Returns as soon as clients are served: Metadata names the broker."""
        assert self._process is not None
        deadline = time.monotonic() + self.start_seconds
        while not is_ready(self.address):
            ended = self._process.poll()
            if ended is not None or time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"{self.name} did not start ({ended}):\n{self.output()}")
            time.sleep(0.02)

    def stop(self, request: signal.Signals = signal.SIGTERM) -> int:
        """Asks it to stop and waits until it has: a clean stop. Its exit code; 0 if it was not running."""
        if self._process is None:
            return 0
        self._process.send_signal(request)
        try:
            code = self._process.wait(self.start_seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not stop:\n{self.output()}") from None
        self._process = None
        return code

    def kill(self) -> None:
        """Ends it without a chance to tidy up."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def is_ready(address: tuple[str, int]) -> bool:
    """Whether the server at the address answers Metadata and knows itself as a broker."""
    try:
        with Wire(address, timeout=5) as wire:
            answer = wire.ask(MetadataRequest(topics=[]), 9)
    except OSError:
        return False
    assert isinstance(answer, MetadataResponse)
    return bool(answer.brokers)
