"""A node's place in the quorum: its replica of the metadata log, its controller if it is one, and the way to the
active controller.

The controller listener is bound before the replica is made, because the quorum is told the port; nothing comes in
through it before all is in place, since that takes a turn of the loop.
"""

import logging
from functools import partial

from ottla.broker.config.dynamic_config import DynamicConfig
from ottla.broker.config.schema import BrokerConfigSchema
from ottla.broker.node.controller_role import ControllerRole
from ottla.broker.node.listener_set import LateHandler, ListenerSet
from ottla.broker.node.node_context import NodeContext
from ottla.broker.quorum.controller_channel import ControllerChannel
from ottla.broker.quorum.quorum_member import QuorumContext, QuorumMember
from ottla.metadata.image.cluster import Endpoint
from ottla.metadata.store.metadata_store import MetadataStore
from ottla.raft.endpoint import Address, Endpoints
from ottla.raft.identity import LeaderAndEpoch
from ottla.storage.errors import StorageError

_log = logging.getLogger(__name__)

RAFT_SHUTDOWN_TIMEOUT_MS = 5_000
"""How long a leader of the quorum waits for a successor when it stops, as in Kafka."""


class NodeQuorum:
    """`start` it in the turn of the loop that made it; `close` it in any state."""

    def __init__(
        self,
        around: NodeContext,
        store: MetadataStore,
        dynamic: DynamicConfig,
        schema: BrokerConfigSchema,
    ) -> None:
        """Binds the controller listener, if this node is a controller: `ListenError` if that cannot be."""
        config = around.config
        handler = LateHandler()
        self.listeners = ListenerSet(config.controller_listeners, handler, around, config)
        self.listeners.start()
        endpoints = self.listeners.advertised(
            config.advertised_controller_listeners if config.is_controller else (),
            config.security_protocols,
            around.hostname,
        )
        raft_id = f"raft-client-{config.node_id}"
        self.member = QuorumMember(
            config,
            store,
            QuorumContext(
                disk=around.disk,
                clock=around.steady_clock,
                endpoints=_reachable_at(endpoints),
                connect=lambda node: around.connect_controller(node, raft_id),
                on_failure=around.on_failure,
            ),
        )
        around.security.follow(lambda: self.member.metadata.image)
        self.controller: ControllerRole | None = None
        if config.is_controller:
            self.controller = ControllerRole(around, self.member, dynamic, schema)
            handler.target = self.controller.pipeline
        self.channel = ControllerChannel(
            config.node_id,
            self.member.find_leader,
            lambda node: around.connect_controller(node, str(config.node_id)),
            local=self.controller,
            request_timeout_ms=config.integer("controller.socket.timeout.ms"),
        )
        self.channel.when_level = self.member.metadata.when_level
        self.member.metadata.on_leader_change(partial(_tell, self.channel))
        if self.controller is not None:
            self.controller.register(endpoints, self.channel)

    def start(self) -> None:
        """Joins the quorum."""
        self.member.start()

    async def close(self) -> None:
        """Decides and asks nothing any more, hands over what it led, and closes the store and the listeners."""
        if self.controller is not None:
            self.controller.close()
        self.channel.close()
        try:
            await self.member.stop(RAFT_SHUTDOWN_TIMEOUT_MS)
        except StorageError as error:
            _log.error("the metadata log could not be closed in order: %s", error)
        finally:
            self.listeners.close()


def _reachable_at(endpoints: list[Endpoint]) -> Endpoints:
    return Endpoints({endpoint.name: Address(endpoint.host, endpoint.port) for endpoint in endpoints})


def _tell(channel: ControllerChannel, leader: LeaderAndEpoch) -> None:
    channel.controller_changed()
