"""Three nodes that speak nothing but SASL_SSL to each other: they elect, replicate, and keep strangers out."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from ottla.broker.config.server_config import ServerConfig
from ottla.broker.node.node import Node
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.integration.client.certificate import Authority, Certificate, require_openssl
from tests.integration.client.cluster import cluster_client
from tests.integration.node.nodes import CONTROLLER, PATIENCE_S, free_ports, running, until
from tests.integration.security.scram import SCRAM, format_with_users

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
NODES = (1, 2, 3)


def settings(directory: Path, node_id: int, ports: list[int], certificate: Certificate, ca: Path) -> dict[str, str]:
    voters = ",".join(f"{other}@localhost:{ports[other - 1]}" for other in NODES)
    users = 'username="broker" password="broker-secret" user_broker="broker-secret"'
    return {
        "process.roles": "broker,controller",
        "node.id": str(node_id),
        "listeners": f"INTERNAL://localhost:0,{CONTROLLER}://localhost:{ports[node_id - 1]}",
        "listener.security.protocol.map": f"INTERNAL:SASL_SSL,{CONTROLLER}:SASL_SSL",
        "controller.listener.names": CONTROLLER,
        "controller.quorum.voters": voters,
        "inter.broker.listener.name": "INTERNAL",
        "log.dirs": str(directory / str(node_id)),
        "ssl.keystore.location": str(certificate.both),
        "ssl.truststore.location": str(ca),
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-512",
        f"listener.name.{CONTROLLER.lower()}.plain.sasl.jaas.config": f"{PLAIN} {users};",
        "listener.name.internal.plain.sasl.jaas.config": f"{PLAIN} {users};",
        "listener.name.internal.scram-sha-512.sasl.jaas.config": f'{SCRAM} username="broker" password="scram-secret";',
        "listener.name.internal.scram-sha-512.connections.max.reauth.ms": "3000",
        "controller.quorum.election.timeout.ms": "1000",
        "controlled.shutdown.enable": "false",
    }


@pytest.fixture
def certificates(tmp_path: Path) -> tuple[Authority, Certificate]:
    require_openssl()
    authority = Authority(tmp_path, "authority")
    return authority, authority.sign("localhost", "DNS:localhost")


@pytest.mark.long
def test_three_nodes_replicate_over_sasl_ssl(
    tmp_path: Path, certificates: tuple[Authority, Certificate], caplog: pytest.LogCaptureFixture
) -> None:
    authority, certificate = certificates
    ports = free_ports(len(NODES))
    configs = [
        ServerConfig(settings(tmp_path, node_id, ports, certificate, authority.certificate)) for node_id in NODES
    ]
    for config in configs:
        format_with_users(config, "SCRAM-SHA-512=[name=broker,password=scram-secret]")

    async def main() -> None:
        async with AsyncExitStack() as stack:
            nodes = await asyncio.gather(*(stack.enter_async_context(running(config)) for config in configs))
            host, port = nodes[0].listener_address("INTERNAL")
            login = {
                "security_protocol": "SASL_SSL",
                "sasl_mechanism": "PLAIN",
                "sasl_username": "broker",
                "sasl_password": "broker-secret",
                "ssl_truststore_location": authority.certificate,
            }
            assert host in ("127.0.0.1", "::1")
            async with cluster_client(f"localhost:{port}", **login) as client:
                topic = CreatableTopic(name="orders", num_partitions=3, replication_factor=3)
                await client.request(1, CreateTopicsRequest(topics=[topic], timeout_ms=30_000))

                async def in_sync() -> list[int]:
                    answer = await client.request(1, MetadataRequest(topics=None))
                    assert isinstance(answer, MetadataResponse)
                    found = [each for each in answer.topics if each.name == "orders"]
                    return [len(partition.isr_nodes) for each in found for partition in each.partitions]

                async with asyncio.timeout(PATIENCE_S):
                    while await in_sync() != [3, 3, 3]:
                        await asyncio.sleep(0.1)
                    # Longer than a session between brokers lasts: it is renewed, and nobody leaves the ISR.
                    await asyncio.sleep(4)
                    assert await in_sync() == [3, 3, 3]

    with caplog.at_level("INFO"):
        asyncio.run(main())
    assert "session has ended" not in caplog.text


def test_a_node_with_a_wrong_password_is_kept_out(
    tmp_path: Path, certificates: tuple[Authority, Certificate], caplog: pytest.LogCaptureFixture
) -> None:
    authority, certificate = certificates
    ports = free_ports(len(NODES))
    given = settings(tmp_path, 1, ports, certificate, authority.certificate)
    given |= {"controller.quorum.voters": f"1@localhost:{ports[0]}"}
    stranger = settings(tmp_path, 2, ports, certificate, authority.certificate)
    stranger |= {
        "process.roles": "broker",
        "listeners": "INTERNAL://localhost:0",
        "controller.quorum.voters": f"1@localhost:{ports[0]}",
        f"listener.name.{CONTROLLER.lower()}.plain.sasl.jaas.config": f'{PLAIN} username="broker" password="guess";',
        "initial.broker.registration.timeout.ms": "600000",
    }
    configs = [ServerConfig(given), ServerConfig(stranger)]
    for config in configs:
        format_with_users(config, "SCRAM-SHA-512=[name=broker,password=scram-secret]")

    async def main() -> None:
        async with running(configs[0]):
            other = Node(configs[1])
            starting = asyncio.create_task(other.start())
            with caplog.at_level("INFO"):
                await until(lambda: "Authentication failed: Invalid username or password" in caplog.text)
            assert not starting.done()
            starting.cancel()
            await asyncio.wait((starting,))
            await other.stop()

    asyncio.run(main())
