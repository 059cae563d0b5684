"""This node's replica of the metadata log: store, quorum and image, from the configuration to the last closed file.

Every node has one, brokers as observers. A controller adds its `ControllerDriver` before the start.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from random import SystemRandom
from typing import Final

from ottla.base.clock import Clock
from ottla.base.frozen import frozen
from ottla.base.ids import ZERO_UUID
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.quorum.metadata_publisher import MetadataPublisher
from ottla.broker.quorum.quorum_network import Peer, QuorumNetwork
from ottla.broker.quorum.raft_driver import RaftDriver
from ottla.broker.quorum.snapshot_generator import SnapshotGenerator, SnapshotSettings
from ottla.metadata.store.metadata_store import MetadataStore
from ottla.raft.config import QuorumConfig
from ottla.raft.context import RaftSetup
from ottla.raft.core import RaftCore
from ottla.raft.endpoint import Address, Endpoints
from ottla.raft.identity import LocalReplica, Node, ReplicaKey
from ottla.raft.voters.voter_set import NO_VOTERS, VoterSet
from ottla.storage.disk.port import Disk

_LINGER_KEY: Final = "controller.quorum.append.linger.ms"
_FIRST_BOOTSTRAP_ID: Final = -2


@frozen(kw_only=True)
class QuorumContext:
    """The environment of a replica."""

    disk: Disk
    clock: Clock
    """Never runs backwards."""
    endpoints: Endpoints
    """Where this node is reached as a controller; none if it is a broker only."""
    connect: Callable[[Node], Peer]
    on_failure: Callable[[Exception], None]


class QuorumMember:
    """One replica. Make it, give its publisher a controller if it may lead, `start` it, `stop` it."""

    def __init__(self, config: ServerConfig, store: MetadataStore, around: QuorumContext) -> None:
        self.store = store
        self._setup = raft_setup(config, store, around.endpoints)
        self.core = RaftCore(self._setup, store.ports(SystemRandom()))
        network = QuorumNetwork(around.connect, self._setup.config.request_timeout_ms)
        self.raft = RaftDriver(self.core, store.log, network, around.clock, around.on_failure)
        self._snapshots = SnapshotGenerator(store, self.core, around.disk, _snapshot_settings(config), around.clock)
        self.metadata = MetadataPublisher(store, self.raft, self._snapshots)

    @property
    def listener_name(self) -> str:
        """The listener that controllers are reached on."""
        return self._setup.listener_name

    def start(self) -> None:
        """Joins the quorum; a sole voter leads at once."""
        self.raft.start(self.metadata)

    def find_leader(self) -> Node | None:
        """The leader of the quorum and its address, as far as known."""
        return self.raft.leader_node(self._setup.listener_name)

    async def catch_up(self, timeout_s: float) -> bool:
        """Whether the image came to hold all that the quorum has committed, within that time."""
        caught_up = asyncio.Event()
        self.metadata.when_caught_up(caught_up.set)
        try:
            async with asyncio.timeout(timeout_s):
                await caught_up.wait()
        except TimeoutError:
            return False
        return True

    async def stop(self, timeout_ms: int) -> None:
        """Hands over a leadership if there is one to hand over, and closes the store."""
        self._snapshots.close()
        if self.metadata.controller is not None:
            self.metadata.controller.close()
        await self.raft.shut_down(timeout_ms)
        await asyncio.to_thread(self.store.close)


def raft_setup(config: ServerConfig, store: MetadataStore, endpoints: Endpoints) -> RaftSetup:
    """The identity of a replica and its quorum."""
    listener = config.controller_listener_names[0]
    directory_id = store.properties.directory_id or ZERO_UUID
    voters = {voter.id: Address(voter.host, voter.port) for voter in config.quorum_voters}
    return RaftSetup(
        cluster_id=store.properties.cluster_id or "",
        local=LocalReplica(ReplicaKey(config.node_id, directory_id), endpoints, can_become_voter=config.is_controller),
        listener_name=listener,
        config=_quorum_config(config),
        static_voters=VoterSet.of_static(listener, voters) if voters else NO_VOTERS,
        bootstrap_servers=[
            Node(_FIRST_BOOTSTRAP_ID - place, server.host, server.port)
            for place, server in enumerate(config.quorum_bootstrap_servers)
        ],
    )


def _quorum_config(config: ServerConfig) -> QuorumConfig:
    """The quorum's settings; records linger only if configured.

    Lingering saves flushes where every write pays for one. Here all that is written in a turn of the loop is one
    batch, and all that is written while a flush runs shares the next: waiting would only add up, at every start most.
    """
    quorum = config.quorum
    return quorum if _LINGER_KEY in config.given else replace(quorum, append_linger_ms=0)


def _snapshot_settings(config: ServerConfig) -> SnapshotSettings:
    return SnapshotSettings(
        bytes_max=config.integer("metadata.log.max.record.bytes.between.snapshots"),
        interval_ms=config.integer("metadata.log.max.snapshot.interval.ms"),
        retention=config.metadata_log,
    )
