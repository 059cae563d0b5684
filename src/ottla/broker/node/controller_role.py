"""The controller of a node: decides while the quorum has elected it, and serves the controller listener always.

It stands on the node's `QuorumMember`, which it gives its `ControllerDriver`. Other nodes' requests come through the
listener; those of the broker in the same process come straight, as through `controller_request.LocalController`.
"""

from collections.abc import Sequence
from random import SystemRandom
from typing import TYPE_CHECKING

from ottla.base.ids import Uuid
from ottla.broker.config.dynamic_config import DynamicConfig
from ottla.broker.config.schema import BrokerConfigSchema
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.node.controller_registration import ControllerRegistration
from ottla.broker.node.node_context import NodeContext
from ottla.broker.node.operator_policy import OperatorPolicy
from ottla.broker.quorum.controller_channel import ControllerChannel
from ottla.broker.quorum.controller_driver import ControllerDriver
from ottla.broker.quorum.quorum_member import QuorumMember
from ottla.broker.quorum.quorum_port import QuorumPort
from ottla.broker.quota.callback import make_quota_callback
from ottla.broker.quota.client_quota import quota_windows
from ottla.broker.quota.mutation_quota import MutationQuotas
from ottla.broker.request.api_table import CONTROLLER_SERVED
from ottla.broker.request.api_versions_answer import ApiVersionsAnswer
from ottla.broker.request.pipeline import Pipeline
from ottla.broker.security.setup import make_guards
from ottla.metadata.controller.answer import Answer
from ottla.metadata.controller.context import Caller, ControllerPorts
from ottla.metadata.controller.controller import Controller
from ottla.metadata.image.cluster import Endpoint
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request

if TYPE_CHECKING:
    from ottla.broker.request.forwarded_request import ForwardedContext
    from ottla.broker.request.route import Route


class ControllerRole:
    """The controller part of a node."""

    def __init__(
        self, around: NodeContext, member: QuorumMember, dynamic: DynamicConfig, schema: BrokerConfigSchema
    ) -> None:
        """Becomes the controller of `member`, which must not have started yet."""
        self._around = around
        self._member = member
        self._registration: ControllerRegistration | None = None
        config = around.config
        policy = OperatorPolicy(config)

        def make(driver: ControllerDriver) -> Controller:
            settings = config.controller_settings(around.cluster_id, _own_broker(around))
            ports = ControllerPorts(schema, SystemRandom(), QuorumPort(member.raft, driver.overflowed), policy)
            return Controller(settings, ports, member.store.bootstrap)

        self.driver = ControllerDriver(make, member.raft, member.metadata.loader, around.steady_clock, config.node_id)
        member.metadata.controller = self.driver
        quotas = MutationQuotas(
            quota_windows(config, "controller."), around.clock, make_quota_callback(config, around.clock)
        )
        # A fault does not end the node: clients are held to what they were.
        member.metadata.add_listener(quotas)
        parts = ControllerParts(
            node_id=config.node_id,
            cluster_id=around.cluster_id,
            config=config,
            clock=around.clock,
            loop=around.loop,
            raft=member.raft,
            controller=self.driver,
            metadata=member.metadata,
            dynamic=dynamic,
            schema=schema,
            metrics=around.metrics,
            api_versions=ApiVersionsAnswer(CONTROLLER_SERVED),
            mutation_quotas=quotas,
        )
        guards = self._guards = make_guards(around)
        if guards is not None:
            # A fault does not end the node: rights stay what they were.
            member.metadata.add_listener(guards.authorizer)
            if guards.audit is not None and guards.audit.topic is not None:
                member.metadata.add_listener(guards.audit.topic)
        admission = None if guards is None else guards.admission
        self.pipeline = Pipeline(parts, CONTROLLER_SERVED, around.metrics, around.loop.time, admission)
        parts.pipeline = self.pipeline

    def register(self, endpoints: Sequence[Endpoint], channel: ControllerChannel) -> None:
        """Keeps the cluster told of where this controller listens."""
        around = self._around
        self._registration = ControllerRegistration(
            around.config.node_id, around.incarnation_id, endpoints, channel, around.loop
        )
        # A fault does not end the node: whether the cluster knows it is looked at again with the next image.
        self._member.metadata.add_listener(self._registration)

    def close(self) -> None:
        """Publishes nothing any more; the decisions end with the quorum member."""
        if self._registration is not None:
            self._registration.close()
        if self._guards is not None and self._guards.audit is not None:
            self._guards.audit.close()

    # For the broker in the same process

    @property
    def is_active(self) -> bool:
        """Whether this node decides."""
        return self.driver.is_active

    def submit(self, request: Request, caller: Caller) -> Answer:
        """Carries out a request."""
        return self.driver.submit(request, caller)

    def route(self, api: ApiKey, version: int) -> "Route | None":
        """The route of a version of a call on the controller listener."""
        return self.pipeline.route(api, version)

    def dispatch(self, context: "ForwardedContext", request: Request) -> None:
        """Serves a request as if it had come through the controller listener."""
        self.pipeline.dispatch(context, request)


def _own_broker(around: NodeContext) -> Uuid | None:
    return around.incarnation_id if around.config.is_broker else None
