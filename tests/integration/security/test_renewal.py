"""Sessions that end after three seconds (KIP-368): our clients and nodes go on upon the connections that they have."""

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ottla.base.errors import OttlaError
from ottla.client import AsyncConsumer, AsyncProducer
from ottla.net.node_client import NodeClient, NodeClientOptions
from ottla.net.sasl.client_login import ClientExchange
from ottla.net.sasl.plain import plain_exchange
from ottla.protocol.definition import Response
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.integration.client.test_security import ALICE, BEARER
from tests.integration.node.nodes import PATIENCE_S
from tests.integration.security.secured_node import SecuredNode

SESSION_S = 3.0
MECHANISMS = ("PLAIN", "SCRAM-SHA-512", "OAUTHBEARER")
_LOGIN = re.compile(r"\[SASL\] (\S+) logged in from (\S+)")


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    changes = {"listener.name.sasl.connections.max.reauth.ms": str(int(SESSION_S * 1000))}
    with SecuredNode(tmp_path_factory.mktemp("node"), **changes) as found:
        yield found


def settings(node: SecuredNode, mechanism: str) -> dict[str, object]:
    return {
        "bootstrap_servers": node.address("SASL"),
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        **(BEARER if mechanism == "OAUTHBEARER" else ALICE),
    }


def log_ins(text: str, user: str) -> list[int]:
    """How often each of a user's connections logged in."""
    found = [place for name, place in _LOGIN.findall(text) if name == user]
    return [found.count(place) for place in set(found)]


async def copy(node: SecuredNode, mechanism: str) -> None:
    """Writes and reads for some sessions; every record once and in order."""
    topic, sent, found = f"renewed-{mechanism.lower()}", 0, []
    ends_at = time.monotonic() + 1.7 * SESSION_S
    async with (
        AsyncProducer(**settings(node, mechanism)) as producer,
        AsyncConsumer(**settings(node, mechanism), group_id=topic, auto_offset_reset="earliest") as consumer,
    ):
        await producer.send(topic, value=b"0")
        consumer.subscribe([topic])
        while time.monotonic() < ends_at or len(found) <= sent:
            if time.monotonic() < ends_at:
                await asyncio.gather(*(producer.send(topic, value=b"%d" % (sent + k)) for k in range(1, 11)))
                sent += 10
            found += [int(record.value) for record in await consumer.poll(timeout=0.1)]
    assert found == list(range(sent + 1))


@asynccontextmanager
async def node_client(node: SecuredNode, passwords: list[str], user: str = "alice") -> AsyncIterator[NodeClient]:
    """As nodes have them among each other; the passwords are shown one after the other."""

    async def begin(_host: str) -> tuple[str, ClientExchange]:
        password = passwords.pop(0) if len(passwords) > 1 else passwords[0]
        return "PLAIN", plain_exchange(user, password)

    host, port = "localhost", node.port("SASL")
    client = NodeClient(asyncio.get_running_loop(), host, port, "node", NodeClientOptions(login=begin))
    yield client
    client.close()


async def asked(client: NodeClient) -> Response | OttlaError:
    answer: asyncio.Future[Response | OttlaError] = asyncio.get_running_loop().create_future()
    client.send(MetadataRequest(topics=[]), answer.set_result, timeout_ms=30_000)
    return await answer


async def ask_on(node: SecuredNode) -> None:
    """Asks as nodes do, all the time until after a session's end, and once more after nobody asked for another."""
    async with node_client(node, ["x"], "broker") as client:
        assert isinstance(await asked(client), MetadataResponse)
        first = client.connection
        ends_at = time.monotonic() + 1.1 * SESSION_S
        while time.monotonic() < ends_at:
            answers = await asyncio.gather(*(asked(client) for _ in range(5)))
            assert all(isinstance(answer, MetadataResponse) for answer in answers)
            await asyncio.sleep(0.01)
        await asyncio.sleep(1.1 * SESSION_S)
        assert isinstance(await asked(client), MetadataResponse)
        assert client.connection is first


def test_clients_and_nodes_go_on(node: SecuredNode, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*(copy(node, mechanism) for mechanism in MECHANISMS), ask_on(node))

    with caplog.at_level(logging.DEBUG, "ottla.net"):
        asyncio.run(main())
    assert "session has ended" not in caplog.text
    # A few connections of each client, and most logged in again; nobody needed another one.
    counts = log_ins(caplog.text, "User:alice")
    assert max(counts) >= 2
    assert len(counts) <= 6 * len(MECHANISMS)
    assert log_ins(caplog.text, "User:broker") == [3]


def test_a_password_that_is_no_longer_right(node: SecuredNode) -> None:
    async def main() -> None:
        async with node_client(node, ["secret", "changed", "secret"]) as client:
            assert isinstance(await asked(client), MetadataResponse)
            first = client.connection
            await asyncio.sleep(SESSION_S)  # so long that the session is over
            refused = await asked(client)
            assert "could not be renewed" in str(refused)
            assert "Invalid username or password" in str(refused)
            assert isinstance(await asked(client), MetadataResponse)
            assert client.connection is not first

    asyncio.run(main())


@pytest.mark.long
def test_a_proof_that_comes_late(node: SecuredNode, tmp_path: Path) -> None:
    """Requests go on while the user's code thinks, and wait for it once the session has ended."""
    slow = iter((0.0, 1.5 * SESSION_S))

    async def login() -> tuple[str, str]:
        await asyncio.sleep(next(slow, 0.0))
        return "alice", "secret"

    async def main() -> None:
        given = {**settings(node, "PLAIN"), "sasl_client_callback_handler_class": login}
        async with AsyncProducer(**given) as producer:
            ends_at = time.monotonic() + 3 * SESSION_S
            while time.monotonic() < ends_at:
                await producer.send("late", value=b"x")

    asyncio.run(main())
