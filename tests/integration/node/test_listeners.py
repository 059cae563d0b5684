"""Listeners that come and go while a broker runs, and are there after a restart."""

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest

from ottla.broker.node.node import Node
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.api_versions import ApiVersionsRequest
from ottla.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.metadata import MetadataRequest
from tests.integration.node.nodes import CONTROLLER, PLAINTEXT, ask, formatted, free_ports, running, until

HELLO = ApiVersionsRequest(client_software_name="test", client_software_version="1")
ADDRESSES = f"{CONTROLLER}://127.0.0.1:0,{PLAINTEXT}://127.0.0.1:0"


async def alter(node: Node, **configs: str) -> Any:
    """Sets dynamic configs of the broker; what became of it."""
    wanted = [AlterableConfig(name=name.replace("_", "."), value=value) for name, value in configs.items()]
    resource = AlterConfigsResource(resource_type=4, resource_name="1", configs=wanted)
    answer = await ask(node.listener_address(PLAINTEXT), IncrementalAlterConfigsRequest(resources=[resource]))
    return answer.responses[0]


async def add(node: Node, port: int, protocol: str = "PLAINTEXT") -> Any:
    """One more listener."""
    protocols = f"{CONTROLLER}:PLAINTEXT,{PLAINTEXT}:PLAINTEXT,EXTRA:{protocol}"
    return await alter(
        node, listener_security_protocol_map=protocols, listeners=f"{ADDRESSES},EXTRA://127.0.0.1:{port}"
    )


def is_open(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_listener_comes_goes_and_comes_back(tmp_path: Path) -> None:
    config = formatted(tmp_path)
    [port] = free_ports(1)

    async def scenario() -> None:
        async with running(config) as node:
            address = node.listener_address(PLAINTEXT)
            assert (await add(node, port)).error_code == 0
            await until(lambda: is_open(port))
            assert (await ask(("127.0.0.1", port), HELLO)).error_code == 0
            # The listener that was there is the same.
            assert node.listener_address(PLAINTEXT) == address
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert (await alter(node, listeners=ADDRESSES)).error_code == 0
            assert await reader.read() == b""
            writer.close()
            await until(lambda: not is_open(port))
            assert (await add(node, port)).error_code == 0
            await until(lambda: is_open(port))
        # Registered with all of them, a broker is also advertised at all of them.
        async with running(config):
            brokers = (await ask(("127.0.0.1", port), MetadataRequest(topics=[]))).brokers
            assert [(broker.host, broker.port) for broker in brokers] == [("127.0.0.1", port)]

    asyncio.run(scenario())


def test_a_listener_without_the_certificate_that_it_needs_is_refused(tmp_path: Path) -> None:
    config = formatted(tmp_path)
    [port] = free_ports(1)

    async def scenario() -> None:
        async with running(config) as node:
            refused = await add(node, port, "SSL")
            assert refused.error_code == ErrorCode.INVALID_REQUEST
            assert "a TLS listener needs a key and its certificate" in refused.error_message
            assert not is_open(port)

    asyncio.run(scenario())


def test_a_listener_whose_port_is_taken_leaves_the_others_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = formatted(tmp_path)

    async def scenario() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            async with running(config) as node:
                assert (await add(node, taken.getsockname()[1])).error_code == 0
                await until(lambda: "The listener EXTRA could not be opened" in caplog.text)
                assert (await ask(node.listener_address(PLAINTEXT), HELLO)).error_code == 0

    asyncio.run(scenario())
