"""A worker of Apache Kafka Connect in distributed mode, on loopback."""

import http.client
import subprocess
import time
from pathlib import Path
from typing import Final, Self

from tests.kafka.peer import command, require_kafka
from tests.kafka.port import free_port

_START_SECONDS: Final = 120
_JSON: Final = "org.apache.kafka.connect.json.JsonConverter"


def worker_settings(bootstrap: str, group: str, port: int) -> dict[str, str]:
    """Settings of a worker, Kafka's or ours."""
    topics = {f"{kind}.storage.topic": f"{group}-{kind}" for kind in ("config", "offset", "status")}
    replicas = {f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")}
    return {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "key.converter": _JSON,
        "value.converter": _JSON,
        "listeners": f"http://127.0.0.1:{port}",
        "scheduled.rebalance.max.delay.ms": "0",
        "offset.flush.interval.ms": "500",
        **topics,
        **replicas,
    }


class KafkaConnectWorker:
    """One process."""

    def __init__(self, directory: Path, bootstrap: str, group: str) -> None:
        require_kafka()
        directory.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self._config = directory / "worker.properties"
        self._output = directory / "worker.log"
        settings = worker_settings(bootstrap, group, self.port)
        self._config.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        """Starts it and waits until it is healthy."""
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                command("org.apache.kafka.connect.cli.ConnectDistributed", [str(self._config)]),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + _START_SECONDS
        while not self._is_healthy():
            assert self._process.poll() is None, self._output.read_text()[-4000:]
            assert time.monotonic() < deadline, self._output.read_text()[-4000:]
            time.sleep(0.2)
        return self

    def stop(self) -> None:
        """Ends it in order."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_START_SECONDS)
            self._process = None

    def kill(self) -> None:
        """Ends it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _is_healthy(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()
