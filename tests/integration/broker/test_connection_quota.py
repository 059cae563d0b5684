"""Limits of connections that change while a broker runs: who is over one is turned away, and nobody else."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from ottla.broker.node.node import Node
from ottla.protocol.frame import encode_request
from ottla.protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, OpData, RequestEntryData
from ottla.protocol.messages.api_versions import ApiVersionsRequest
from ottla.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.integration.node.nodes import PATIENCE_S, PLAINTEXT, ask, formatted, running

NAMED, OTHER = "127.0.0.7", "127.0.0.8"
HELLO = encode_request(ApiVersionsRequest(), 0, correlation_id=1, client_id="me")

Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connect(node: Node, source: str) -> Client:
    """A client from an address."""
    host, port = node.listener_address(PLAINTEXT)
    return await asyncio.open_connection(host, port, local_addr=(source, 0))


async def is_served(client: Client) -> bool:
    """Whether a client is answered, and not turned away."""
    reader, writer = client
    try:
        writer.write(HELLO)
        async with asyncio.timeout(PATIENCE_S):
            return bool(await reader.read(4))
    except ConnectionError:
        return False


async def leave(clients: list[Client]) -> None:
    for _, writer in clients:
        writer.close()
    for _, writer in clients:
        try:
            await writer.wait_closed()
        except ConnectionError:
            continue


async def limit(node: Node, name: str, value: str) -> None:
    """Sets a dynamic config of all brokers."""
    configs = [AlterableConfig(name=name, value=value)]
    resource = AlterConfigsResource(resource_type=4, resource_name="", configs=configs)
    answer = await ask(node.listener_address(PLAINTEXT), IncrementalAlterConfigsRequest(resources=[resource]))
    assert answer.responses[0].error_code == 0, answer


async def until_so(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await condition():
            await asyncio.sleep(0.05)


async def served(node: Node, source: str, count: int) -> int:
    """How many of some clients that come at once are served."""
    clients = [await connect(node, source) for _ in range(count)]
    try:
        return sum([await is_served(client) for client in clients])
    finally:
        await leave(clients)


def test_connections_of_an_address(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(formatted(tmp_path)) as node:
            assert await served(node, NAMED, 5) == 5
            await limit(node, "max.connections.per.ip.overrides", f"{NAMED}:2")

            async def is_limited() -> bool:
                return await served(node, NAMED, 5) == 2

            await until_so(is_limited)
            assert await served(node, OTHER, 5) == 5
            await limit(node, "max.connections.per.ip.overrides", "")

            async def is_free() -> bool:
                return await served(node, NAMED, 5) == 5

            await until_so(is_free)

    asyncio.run(scenario())


def test_how_fast_an_address_may_connect(tmp_path: Path) -> None:
    """`connection_creation_rate` of an ip: what comes faster is closed, though not at once, and others are served."""

    async def scenario() -> None:
        async with running(formatted(tmp_path)) as node:
            entity = [EntityData(entity_type="ip", entity_name=NAMED)]
            entry = RequestEntryData(entity=entity, ops=[OpData(key="connection_creation_rate", value=1.0)])
            answer = await ask(node.listener_address(PLAINTEXT), AlterClientQuotasRequest(entries=[entry]))
            assert answer.entries[0].error_code == 0

            async def is_limited() -> bool:
                return await served(node, NAMED, 30) < 30

            await until_so(is_limited)
            assert await served(node, OTHER, 30) == 30

    asyncio.run(scenario())


def test_connections_of_a_listener_wait_for_each_other(tmp_path: Path) -> None:
    """`max.connections` with a listener's prefix: at the limit a client waits until another leaves."""

    async def scenario() -> None:
        async with running(formatted(tmp_path)) as node:
            await limit(node, "listener.name.plaintext.max.connections", "3")
            held: list[Client] = []

            async def is_full() -> bool:
                held.append(await connect(node, OTHER))
                answered = asyncio.ensure_future(is_served(held[-1]))
                done, _ = await asyncio.wait([answered], timeout=0.5)
                if done:
                    return False
                await leave(held[:1])
                assert await answered
                return True

            await until_so(is_full)
            await leave(held[1:])

    asyncio.run(scenario())
