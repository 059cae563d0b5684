"""Nodes for tests: formatted directories, settings with free ports, and requests as another node would send them."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ottla.broker.config.server_config import ServerConfig
from ottla.broker.node.node import Node
from ottla.metadata.store.format import Controllers, FormatOptions, QuorumKind, format_directories
from ottla.net.node_client import NodeClient
from ottla.protocol.definition import Request
from ottla.storage.disk.local import LocalDisk

CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
CONTROLLER = "CONTROLLER"
PLAINTEXT = "PLAINTEXT"
PATIENCE_S = 60.0
"""How long a test waits for what must come."""


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def properties(
    directory: Path, *, node_id: int = 1, roles: str = "broker,controller", **changes: str
) -> dict[str, str]:
    """The settings of a node that is a cluster of its own, on any free port."""
    listeners = [f"{CONTROLLER}://127.0.0.1:0"] if "controller" in roles else []
    listeners += [f"{PLAINTEXT}://127.0.0.1:0"] if "broker" in roles else []
    given = {
        "process.roles": roles,
        "node.id": str(node_id),
        "listeners": ",".join(listeners),
        "controller.listener.names": CONTROLLER,
        "controller.quorum.voters": f"{node_id}@127.0.0.1:9093",
        "log.dirs": str(directory),
        # Patience is for clusters; a test that waits for an election need not be patient.
        "controller.quorum.election.timeout.ms": "300",
        "controller.quorum.fetch.timeout.ms": "600",
    }
    return given | {name.replace("_", "."): value for name, value in changes.items()}


def format_for(config: ServerConfig, controllers: Controllers = QuorumKind.STATIC) -> None:
    """Formats the directories of a node."""
    options = FormatOptions(
        cluster_id=CLUSTER_ID,
        node_id=config.node_id,
        directories=config.log_dirs,
        metadata_directory=config.metadata_log_dir,
        controllers=controllers,
    )
    format_directories(LocalDisk(), options, random_bytes=os.urandom, now_ms=1_700_000_000_000)


def formatted(directory: Path, **changes: Any) -> ServerConfig:
    """Settings of a lone node whose directories are formatted."""
    config = ServerConfig(properties(directory, **changes))
    format_for(config)
    return config


@asynccontextmanager
async def running(config: ServerConfig) -> AsyncIterator[Node]:
    """A node that has started, and is stopped at the end."""
    node = Node(config)
    async with asyncio.timeout(PATIENCE_S):
        await node.start()
    try:
        yield node
    finally:
        async with asyncio.timeout(PATIENCE_S):
            await node.stop()


async def ask(address: tuple[str, int], request: Request, *, version: int | None = None) -> Any:
    """What a node answers; raises if it does not."""
    [answer] = await ask_all(address, [request], version=version)
    return answer


async def ask_all(address: tuple[str, int], requests: Sequence[Request], *, version: int | None = None) -> list[Any]:
    """What a node answers to requests over one connection."""
    loop = asyncio.get_running_loop()
    client = NodeClient(loop, *address, "test")
    answers: list[asyncio.Future[Any]] = []
    for request in requests:
        answer = loop.create_future()
        answers.append(answer)
        client.send(request, answer.set_result, timeout_ms=int(PATIENCE_S * 1000), version=version)
    try:
        found = await asyncio.gather(*answers)
    finally:
        client.close()
    for one in found:
        if isinstance(one, Exception):
            raise one
    return list(found)


async def until(condition: Callable[[], object]) -> None:
    """Waits until something is so."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.01)
