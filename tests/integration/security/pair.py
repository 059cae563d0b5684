"""A controller and a broker that log in to each other: the smallest cluster in which nodes have to prove themselves."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ottla.broker.config.server_config import ServerConfig
from ottla.broker.node.node import Node
from tests.integration.node.nodes import CONTROLLER, free_ports, running
from tests.integration.security.scram import format_with_users


@asynccontextmanager
async def pair(directory: Path, protocol: str, mechanism: str, **settings: str) -> AsyncIterator[Node]:
    """The broker of both, whose listener is called A; settings have underscores for dots."""
    [port] = free_ports(1)
    shared = {
        "listener.security.protocol.map": f"A:{protocol},{CONTROLLER}:{protocol}",
        "controller.listener.names": CONTROLLER,
        "controller.quorum.voters": f"1@localhost:{port}",
        "sasl.enabled.mechanisms": mechanism,
        "sasl.mechanism.inter.broker.protocol": mechanism,
        "sasl.mechanism.controller.protocol": mechanism,
        **{name.replace("_", "."): value for name, value in settings.items()},
    }
    own = (
        {"node.id": "1", "process.roles": "controller", "listeners": f"{CONTROLLER}://localhost:{port}"},
        {"node.id": "2", "process.roles": "broker", "listeners": "A://localhost:0", "inter.broker.listener.name": "A"},
    )
    configs = [ServerConfig({**shared, **each, "log.dirs": str(directory / each["process.roles"])}) for each in own]
    for config in configs:
        await asyncio.to_thread(format_with_users, config)
    async with running(configs[0]), running(configs[1]) as broker:
        yield broker
