"""Three controllers and three brokers as real processes: they find each other, lose some, and go on."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

from ottla.broker.config.server_config import ServerConfig
from tests.integration.node.nodes import CONTROLLER, PATIENCE_S, PLAINTEXT, format_for, free_ports, properties, until
from tests.integration.node.test_cluster import create, described, quorum

CONTROLLERS, BROKERS = (1, 2, 3), (4, 5, 6)
STARTED = "Kafka Server started"


class Processes:
    """The nodes of a cluster, each in a process of its own."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        nodes = (*CONTROLLERS, *BROKERS)
        self._ports = dict(zip(nodes, free_ports(len(nodes)), strict=True))
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        voters = ",".join(f"{node_id}@127.0.0.1:{self._ports[node_id]}" for node_id in CONTROLLERS)
        for node_id in nodes:
            role, listener = ("controller", CONTROLLER) if node_id in CONTROLLERS else ("broker", PLAINTEXT)
            given = properties(
                directory / str(node_id),
                node_id=node_id,
                roles=role,
                listeners=f"{listener}://127.0.0.1:{self._ports[node_id]}",
                controller_quorum_voters=voters,
                # Six processes share few cores here: silence need not mean death.
                controller_quorum_election_timeout_ms="1000",
                controller_quorum_fetch_timeout_ms="2000",
            )
            format_for(ServerConfig(given))
            text = "".join(f"{name}={value}\n" for name, value in given.items())
            (directory / f"{node_id}.properties").write_text(text)

    def start(self, node_id: int) -> None:
        with (self._directory / f"{node_id}.log").open("ab") as log:
            self._running[node_id] = subprocess.Popen(
                [sys.executable, "-m", "ottla.cli.kafka.server_start", str(self._directory / f"{node_id}.properties")],
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    async def started(self, node_id: int, times: int = 1) -> None:
        """Waits until the node has said for the `times`th time that it has started."""
        await until(lambda: self._count(node_id) >= times or self._running[node_id].poll() is not None)
        assert self._running[node_id].poll() is None, self.log(node_id)

    def _count(self, node_id: int) -> int:
        return self.log(node_id).count(STARTED)

    def log(self, node_id: int) -> str:
        return (self._directory / f"{node_id}.log").read_text()

    def address(self, node_id: int) -> tuple[str, int]:
        return "127.0.0.1", self._ports[node_id]

    def end(self, node_id: int, number: signal.Signals) -> int:
        """Sends a signal that ends the node; the exit code."""
        process = self._running.pop(node_id)
        process.send_signal(number)
        return process.wait(PATIENCE_S)

    def kill_all(self) -> None:
        for node_id in list(self._running):
            self.end(node_id, signal.SIGKILL)


def test_a_cluster_of_processes_survives_kills(tmp_path: Path) -> None:
    cluster = Processes(tmp_path)
    try:
        asyncio.run(_live(cluster))
    finally:
        cluster.kill_all()


async def _live(cluster: Processes) -> None:
    for node_id in (*CONTROLLERS, *BROKERS):
        cluster.start(node_id)
    for node_id in (*CONTROLLERS, *BROKERS):
        await cluster.started(node_id)
    assert await create(cluster.address(4), "orders", partitions=6, replicas=3) == 0
    leader = (await quorum(cluster.address(5))).leader_id

    assert cluster.end(leader, signal.SIGKILL) == -signal.SIGKILL
    assert cluster.end(4, signal.SIGKILL) == -signal.SIGKILL
    assert await create(cluster.address(5), "payments", partitions=6, replicas=2) == 0
    await _led_by(cluster, 6, "orders", {5, 6})

    cluster.start(leader)
    cluster.start(4)
    await cluster.started(leader, 2)
    await cluster.started(4, 2)
    assert await create(cluster.address(4), "refunds", partitions=6, replicas=3) == 0
    await _led_by(cluster, 4, "refunds", {4, 5, 6})
    for node_id in (*BROKERS, leader):
        assert cluster.end(node_id, signal.SIGTERM) == 0, cluster.log(node_id)
        assert "Traceback" not in cluster.log(node_id)


async def _led_by(cluster: Processes, node_id: int, name: str, leaders: set[int]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            topic = await described(cluster.address(node_id), name)
            found = {partition.leader_id for partition in topic.partitions}
            if found and found <= leaders:
                return
            await asyncio.sleep(0.1)


def test_a_node_that_cannot_start_exits_with_one_line(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("".join(f"{name}={value}\n" for name, value in properties(tmp_path / "data").items()))
    done = subprocess.run(
        [sys.executable, "-m", "ottla.cli.kafka.server_start", str(path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 1
    assert "kafka-storage.sh format" in output
    assert "Traceback" not in output
