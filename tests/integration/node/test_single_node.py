"""A node that is a cluster of its own: starts, keeps what it was told, and leaves its directories in order."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from ottla.broker.config.server_config import ServerConfig
from ottla.broker.node.node import Node
from ottla.broker.node.start_error import StartError
from ottla.metadata.store.format import QuorumKind, Standalone
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.raft.endpoint import Address, Endpoints
from ottla.storage.errors import StorageError
from tests.integration.node.nodes import (
    CLUSTER_ID,
    CONTROLLER,
    PLAINTEXT,
    ask,
    format_for,
    formatted,
    properties,
    running,
    until,
)


def run(scenario: Awaitable[None] | Callable[[], Awaitable[None]]) -> None:
    async def start() -> None:
        await (scenario() if callable(scenario) else scenario)

    asyncio.run(start())


async def create(node: Node, *names: str) -> list[int]:
    topics = [CreatableTopic(name=name, num_partitions=3, replication_factor=1) for name in names]
    answer = await ask(node.listener_address(PLAINTEXT), CreateTopicsRequest(topics=topics, timeout_ms=10_000))
    return [topic.error_code for topic in answer.topics]


async def leaders(node: Node, name: str) -> list[int]:
    """The leaders of a topic's partitions, as a client is told."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    answer = await ask(node.listener_address(PLAINTEXT), request)
    [topic] = answer.topics
    return [partition.leader_id for partition in topic.partitions]


def test_topics_survive_a_restart(tmp_path: Path) -> None:
    config = formatted(tmp_path)

    async def scenario() -> None:
        async with running(config) as node:
            assert node.cluster_id == CLUSTER_ID
            assert await create(node, "orders", "payments") == [0, 0]
            assert await leaders(node, "orders") == [1, 1, 1]
        async with running(config) as node:
            assert await create(node, "orders") == [36]
            assert await leaders(node, "orders") == [1, 1, 1]
            assert await leaders(node, "payments") == [1, 1, 1]

    run(scenario)


def test_a_clean_stop_leaves_a_mark_with_the_epoch_and_no_lock(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(formatted(tmp_path)):
            assert (tmp_path / ".lock").exists()
            assert not (tmp_path / ".kafka_cleanshutdown").exists()
        assert not (tmp_path / ".lock").exists()
        assert json.loads((tmp_path / ".kafka_cleanshutdown").read_text())["brokerEpoch"] > 0

    run(scenario)


def test_a_killed_node_is_back_at_once_with_all_its_topics(tmp_path: Path) -> None:
    """Its own earlier session, of which the log still knows, is not waited for."""
    config = formatted(tmp_path, broker_session_timeout_ms="600000", broker_heartbeat_interval_ms="2000")
    script = (
        "import asyncio, json, sys\n"
        "from ottla.broker.config.server_config import ServerConfig\n"
        "from tests.integration.node.test_single_node import create\n"
        "from tests.integration.node.nodes import running\n"
        "async def main():\n"
        "    async with running(ServerConfig(json.loads(sys.argv[1]))) as node:\n"
        "        print(await create(node, 'orders'), flush=True)\n"
        "        await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, json.dumps(dict(config.given))], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "[0]\n"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()

    async def scenario() -> None:
        async with running(config) as node:
            assert await leaders(node, "orders") == [1, 1, 1]
            assert await create(node, "more") == [0]

    run(scenario)


def start_error(config: ServerConfig) -> str:
    """Why the node does not start; and nothing is held afterwards."""

    async def scenario() -> str:
        node = Node(config)
        with pytest.raises(StartError) as caught:
            await node.start()
        await node.stop()
        return str(caught.value)

    message = asyncio.run(scenario())
    assert "\n" not in message
    assert not any((Path(directory) / ".lock").exists() for directory in config.log_dirs)
    return message


def test_not_formatted(tmp_path: Path) -> None:
    message = start_error(ServerConfig(properties(tmp_path)))
    assert str(tmp_path) in message
    assert "kafka-storage.sh format" in message
    assert ("--standalone" in message) == (not ServerConfig(properties(tmp_path)).quorum_voters)


def test_the_node_id_of_another(tmp_path: Path) -> None:
    format_for(ServerConfig(properties(tmp_path, node_id=2)))
    message = start_error(ServerConfig(properties(tmp_path, node_id=1)))
    assert "node.id is 2, this node is 1" in message


def test_directories_of_two_clusters(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    formatted(first)
    formatted(second)
    text = (second / "meta.properties").read_text()
    (second / "meta.properties").write_text(text.replace(CLUSTER_ID, "another-cluster"))
    message = start_error(ServerConfig(properties(first, log_dirs=f"{first},{second}")))
    assert "Invalid cluster.id" in message


def test_a_directory_in_use(tmp_path: Path) -> None:
    config = formatted(tmp_path)

    async def scenario() -> None:
        async with running(config):
            with pytest.raises(StartError, match="using this directory"):
                await Node(config).start()
            assert (tmp_path / ".lock").exists()

    run(scenario)


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        listeners = f"CONTROLLER://127.0.0.1:0,PLAINTEXT://127.0.0.1:{port}"
        message = start_error(formatted(tmp_path, listeners=listeners))
        assert f"127.0.0.1:{port}" in message
    # Nothing else was left behind: with the port free it starts.
    config = ServerConfig(properties(tmp_path, listeners=listeners))

    async def scenario() -> None:
        async with running(config) as node:
            assert node.listener_address(PLAINTEXT) == ("127.0.0.1", port)

    run(scenario)


def test_a_damaged_quorum_state(tmp_path: Path) -> None:
    config = formatted(tmp_path)
    (tmp_path / "__cluster_metadata-0").mkdir()
    (tmp_path / "__cluster_metadata-0" / "quorum-state").write_text("noise")
    assert "quorum-state" in start_error(config)


def test_a_lone_controller_starts_without_its_quorum_state(tmp_path: Path) -> None:
    config = formatted(tmp_path)

    async def scenario() -> None:
        async with running(config) as node:
            assert await create(node, "orders") == [0]
        (tmp_path / "__cluster_metadata-0" / "quorum-state").unlink()
        async with running(config) as node:
            assert await create(node, "orders") == [ErrorCode.TOPIC_ALREADY_EXISTS]

    run(scenario)


def test_a_new_directory_is_made_one_of_the_node(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    formatted(first)
    config = ServerConfig(properties(first, log_dirs=f"{first},{second}"))

    async def scenario() -> None:
        async with running(config) as node:
            assert await create(node, "orders") == [0]
        assert CLUSTER_ID in (second / "meta.properties").read_text()
        assert list(second.glob("orders-*"))

    run(scenario)


def test_a_start_that_is_given_up_releases_everything(tmp_path: Path) -> None:
    """A broker alone finds no controller and waits; whoever starts it loses patience."""
    config = formatted(tmp_path, roles="broker", controller_quorum_voters="9@127.0.0.1:1")

    async def scenario() -> None:
        node = Node(config)
        starting = asyncio.ensure_future(node.start())
        await until(lambda: (tmp_path / ".lock").exists())
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        await node.stop()
        assert not (tmp_path / ".lock").exists()

    run(scenario)


def test_a_broker_that_finds_no_controller_says_whom_it_asked(tmp_path: Path) -> None:
    config = formatted(
        tmp_path,
        roles="broker",
        controller_quorum_voters="9@127.0.0.1:1",
        initial_broker_registration_timeout_ms="300",
    )
    message = start_error(config)
    assert "no controller could be followed within 300 ms" in message
    assert "127.0.0.1:1" in message


def test_a_controller_whose_metadata_log_is_gone_is_told_so(tmp_path: Path) -> None:
    given = properties(tmp_path, initial_broker_registration_timeout_ms="300")
    del given["controller.quorum.voters"]
    config = ServerConfig(given | {"controller.quorum.bootstrap.servers": "127.0.0.1:1"})
    format_for(config, QuorumKind.JOINING)
    message = start_error(config)
    assert "127.0.0.1:1" in message
    assert f"the metadata log in {tmp_path} is empty" in message


def test_a_voter_with_another_directory_id_is_told_so(tmp_path: Path) -> None:
    given = properties(tmp_path, initial_broker_registration_timeout_ms="300")
    del given["controller.quorum.voters"]
    config = ServerConfig(given | {"controller.quorum.bootstrap.servers": "127.0.0.1:1"})
    format_for(config, Standalone(Endpoints({CONTROLLER: Address("127.0.0.1", 1)})))
    meta = tmp_path / "meta.properties"
    known = next(line for line in meta.read_text().splitlines() if line.startswith("directory.id="))
    own = "directory.id=b3R0bGEtZGlyZWN0b3J5MQ"
    meta.write_text(meta.read_text().replace(known, own))
    message = start_error(config)
    assert f"this voter has the {known.replace('.', ' ').replace('=', ' ')} there" in message
    assert f"{own.partition('=')[2]} in {meta}" in message


def test_a_broker_of_another_cluster_hears_why_it_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with running(formatted(tmp_path / "one")) as node:
            host, port = node.listener_address("CONTROLLER")
            stranger = ServerConfig(
                properties(
                    tmp_path / "two",
                    node_id=2,
                    roles="broker",
                    controller_quorum_voters=f"1@{host}:{port}",
                    initial_broker_registration_timeout_ms="1000",
                )
            )
            meta = tmp_path / "two" / "meta.properties"
            format_for(stranger)
            meta.write_text(meta.read_text().replace(CLUSTER_ID, "anotherClusterAAAAAAAA"))
            with pytest.raises(StartError, match="no controller could be followed"):
                await Node(stranger).start()
        refusals = [each.getMessage() for each in caplog.records if "refuses this node" in each.getMessage()]
        assert len(refusals) == 1
        assert f"{host}:{port} refuses this node: The clusterId in the request does not match" in refusals[0]

    run(scenario)


def test_a_start_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    config = formatted(
        tmp_path, roles="broker", controller_quorum_voters="9@127.0.0.1:1", server_max_startup_time_ms="200"
    )
    assert "server.max.startup.time.ms" in start_error(config)


def test_http(tmp_path: Path) -> None:
    async def get(address: tuple[str, int], path: str) -> str:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n".encode())
        text = (await reader.read()).decode()
        writer.close()
        await writer.wait_closed()
        return text

    async def scenario() -> None:
        async with running(formatted(tmp_path, http_listen="127.0.0.1:0")) as node:
            assert node.http_address is not None
            assert "200" in (await get(node.http_address, "/healthz")).splitlines()[0]
            assert "200" in (await get(node.http_address, "/readyz")).splitlines()[0]
            metrics = await get(node.http_address, "/metrics")
            assert "kafka_controller_kafkacontroller_activecontrollercount 1" in metrics
            assert "kafka_server_kafkaserver_brokerstate 3" in metrics

    run(scenario)


def test_a_node_that_loses_its_metadata_disk_says_so_and_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise StorageError("Input/output error", str(tmp_path))

    async def scenario() -> None:
        async with running(formatted(tmp_path)) as node:
            assert node.is_healthy
            assert node.is_ready
            assert node._storage is not None
            # Of this node alone: another may run in this process, for other tests.
            monkeypatch.setattr(node._storage.store.log, "flush", fail)
            async with asyncio.timeout(20):
                assert "Input/output error" in str(await node.wait_failed())
            assert not node.is_healthy
            assert not node.is_ready
        assert not (tmp_path / ".lock").exists()

    run(scenario)


def test_two_nodes_in_one_process_do_not_disturb_each_other(tmp_path: Path) -> None:
    async def scenario() -> None:
        first, second = formatted(tmp_path / "a"), formatted(tmp_path / "b", node_id=2)
        async with running(first) as one, running(second) as two:
            assert await create(one, "orders") == [0]
            assert await create(two, "orders") == [0]
            assert await leaders(one, "orders") == [1, 1, 1]
            assert await leaders(two, "orders") == [2, 2, 2]

    run(scenario)
