"""A replica of the metadata log with its controller on an event loop: a disk in memory, no sockets, a sole voter."""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any

from ottla.base.system_clock import SystemClock
from ottla.broker.config.schema import BrokerConfigSchema
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.quorum.controller_driver import ControllerDriver
from ottla.broker.quorum.quorum_member import QuorumContext, QuorumMember
from ottla.broker.quorum.quorum_network import Peer
from ottla.broker.quorum.quorum_port import QuorumPort
from ottla.broker.quorum.steady_clock import SteadyClock
from ottla.metadata.controller.answer import Answer
from ottla.metadata.controller.context import Caller, ControllerPorts
from ottla.metadata.controller.controller import Controller
from ottla.metadata.store.format import FormatOptions, format_directories
from ottla.metadata.store.metadata_store import MetadataStore
from ottla.protocol.definition import Request
from ottla.protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, OpData, RequestEntryData
from ottla.raft.endpoint import Address, Endpoints
from ottla.raft.identity import Node
from ottla.storage.disk.simulated import SimulatedDisk

CLUSTER_ID = "abcdefghijklmnopqrstuv"
DIRECTORY = "/metadata"
PATIENCE_S = 60.0
"""How long a test waits for what must come."""


def config(**changes: str) -> ServerConfig:
    """The settings of a lone controller."""
    given = {
        "process.roles": "controller",
        "node.id": "1",
        "listeners": "CONTROLLER://127.0.0.1:9093",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": "1@127.0.0.1:9093",
        "log.dirs": DIRECTORY,
    }
    return ServerConfig(given | {name.replace("_", "."): value for name, value in changes.items()})


def formatted_disk(settings: ServerConfig) -> SimulatedDisk:
    """A disk with a directory for the node."""
    disk = SimulatedDisk()
    options = FormatOptions(
        cluster_id=CLUSTER_ID, node_id=settings.node_id, directories=[DIRECTORY], metadata_directory=DIRECTORY
    )
    format_directories(disk, options, random_bytes=Random(7).randbytes, now_ms=1)
    return disk


class Replica:
    """A running replica. Make it on a running loop."""

    def __init__(
        self,
        disk: SimulatedDisk,
        settings: ServerConfig,
        connect: Callable[[Node], Peer] | None = None,
    ) -> None:
        clock = SteadyClock(SystemClock())
        store = MetadataStore.open(disk, DIRECTORY, clock, settings.metadata_log)
        self.failures: list[Exception] = []
        self.member = QuorumMember(
            settings,
            store,
            QuorumContext(
                disk=disk,
                clock=clock,
                endpoints=Endpoints({"CONTROLLER": Address("127.0.0.1", 9093)}),
                connect=connect or _nobody,
                on_failure=self.failures.append,
            ),
        )

        def make(driver: ControllerDriver) -> Controller:
            port = QuorumPort(self.member.raft, driver.overflowed)
            ports = ControllerPorts(BrokerConfigSchema(settings), Random(3), port)
            return Controller(settings.controller_settings(CLUSTER_ID, None), ports, store.bootstrap)

        metadata = self.member.metadata
        self.driver = ControllerDriver(make, self.member.raft, metadata.loader, clock, settings.node_id)
        metadata.controller = self.driver
        self.member.start()

    async def ask(self, request: Request) -> Any:
        """What the controller answers, once it is committed; raises what it refuses with."""
        caller = Caller(api_version=type(request).valid_versions.highest)
        return (await given(self.driver.submit(request, caller))).response


async def given(answer: Answer) -> Answer:
    """Waits for an answer."""
    done = asyncio.get_running_loop().create_future()
    answer.when_done(done.set_result)
    async with asyncio.timeout(PATIENCE_S):
        await done
    return answer


async def until(condition: Callable[[], object]) -> None:
    """Waits until something is so."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.001)


def quota(*users: str, rate: float = 1.0) -> AlterClientQuotasRequest:
    """A request that writes one record for each user, and needs no broker."""
    return AlterClientQuotasRequest(
        entries=[
            RequestEntryData(
                entity=[EntityData(entity_type="user", entity_name=user)],
                ops=[OpData(key="producer_byte_rate", value=rate, remove=False)],
            )
            for user in users
        ]
    )


def _nobody(node: Node) -> Peer:
    raise AssertionError(f"a sole voter asks nobody, but asked {node}")
