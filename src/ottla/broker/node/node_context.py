"""The common base of the roles of one node: its identity, its settings, and its ports."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from ottla.base.clock import Clock
from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.base.metric import MetricRegistry
from ottla.broker.config.server_config import ServerConfig
from ottla.net.handler import FrameHandler
from ottla.net.poller import Poller
from ottla.raft.identity import Node
from ottla.storage.disk.port import Disk

if TYPE_CHECKING:
    from ottla.broker.authentication.node_security import NodeProof, NodeSecurity
    from ottla.net.node_client import NodeClient

Gate: TypeAlias = Callable[[FrameHandler], FrameHandler]
"""Stands between the listeners of a broker and what serves them."""


@frozen(kw_only=True)
class NodeContext:
    """Everything in it lives as long as the node."""

    config: ServerConfig
    cluster_id: str
    incarnation_id: Uuid
    """This process's, new at every start; broker and controller of one node have the same."""
    loop: asyncio.AbstractEventLoop
    clock: Clock
    """The time of day, as records carry it."""
    steady_clock: Clock
    """A clock for intervals, which never runs backwards."""
    disk: Disk
    poller: Poller
    security: "NodeSecurity"
    """The security of listeners, and of connections to other nodes."""
    metrics: MetricRegistry
    on_failure: Callable[[Exception], None]
    """The node cannot go on."""
    gate: Gate | None = None
    """A gate before requests of clients are served; used by tests alone."""
    hostname: str = field(default_factory=socket.gethostname)

    def connect_broker(self, node: Node, client_id: str) -> "NodeClient":
        """A connection to another broker, made when it is used."""
        return self._connect(node, client_id, self.security.to_brokers())

    def connect_controller(self, node: Node, client_id: str) -> "NodeClient":
        """A connection to a controller, made when it is used."""
        return self._connect(node, client_id, self.security.to_controllers())

    def _connect(self, node: Node, client_id: str, proof: "NodeProof") -> "NodeClient":
        # A node that is a cluster of its own never needs this, and starts sooner without it.
        from ottla.net.node_client import NodeClient, NodeClientOptions

        options = NodeClientOptions(
            setup_timeout_ms=self.config.integer("socket.connection.setup.timeout.ms"),
            tls=lambda: proof.context,
            login=proof.login,
        )
        return NodeClient(self.loop, node.host, node.port, client_id, options)
