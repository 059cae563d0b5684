"""A consumer's membership of a consumer group (KIP-848): carries out what `ConsumerMachine` decides."""

import asyncio
import logging
import time
import uuid
from typing import Any

from ottla.base.errors import OttlaError
from ottla.base.ids import Uuid
from ottla.client.cluster.cluster_client import ANY_NODE, ClusterClient
from ottla.client.cluster.cluster_view import ClusterView
from ottla.client.consumer.group.consumer import effect as effects
from ottla.client.consumer.group.consumer import event as events
from ottla.client.consumer.group.consumer.machine import ConsumerMachine
from ottla.client.consumer.group.consumer.state import ConsumerState
from ottla.client.consumer.group.driver import MembershipDriver
from ottla.client.consumer.group.member_config import MemberConfig
from ottla.client.consumer.membership import GroupMetadata, RebalanceHost
from ottla.protocol.definition import Request
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

_log = logging.getLogger(__name__)


class ConsumerMembership(MembershipDriver):
    """`group.protocol=consumer`."""

    def __init__(self, cluster: ClusterClient, config: MemberConfig, host: RebalanceHost) -> None:
        # KIP-1082: the member makes its id, so that a join that is sent twice adds one member.
        self._consumer = ConsumerMachine(config, str(Uuid(uuid.uuid4().bytes)))
        super().__init__(cluster, config, host, self._consumer)
        self._naming: asyncio.Task[None] | None = None
        cluster.on_change(self._view_changed)

    @property
    def is_stable(self) -> bool:
        """Whether nothing is left to be done before records may be read."""
        return self._consumer.state is ConsumerState.STABLE

    def metadata(self) -> GroupMetadata:
        """The present identity in the group."""
        machine, config = self._consumer, self._config
        return GroupMetadata(config.group_id, machine.epoch, machine.member_id, config.group_instance_id)

    def enforce_rebalance(self, reason: str) -> None:
        """The coordinator decides about rebalances, so there is nothing that a member could enforce."""
        _log.warning("[group=%s] enforce_rebalance has no effect with group.protocol=consumer", self._config.group_id)

    async def refresh_epoch(self) -> bool:
        """A commit was refused: waits for the next heartbeat; whether we are a member, so that it may be repeated."""
        return await self._hear_from_coordinator(events.HeartbeatWanted()) and self._consumer.epoch > 0

    def _view_changed(self, before: ClusterView, after: ClusterView) -> None:
        if self._is_running and before.names != after.names:
            self._feed(events.TopicsNamed(after.names))

    def _perform_own(self, effect: Any) -> None:
        match effect:
            case effects.SendHeartbeat():
                self._begin(self._heartbeat(effect))
            case effects.SendLeave():
                self._begin_leaving(self._leave_group(effect.request))
            case effects.NameTopics():
                if self._naming is None or self._naming.done():
                    self._naming = self._begin(self._name_topics(effect.ids))

    async def _heartbeat(self, effect: effects.SendHeartbeat) -> None:
        if effect.failures:
            await asyncio.sleep(self._cluster.backoff.delay_ms(effect.failures - 1) / 1000)
        asked_s = time.monotonic()
        try:
            response = await self._ask(effect.request)
        except OttlaError as error:
            self._feed(events.HeartbeatFailed(effect.serial, error))
            return
        assert isinstance(response, ConsumerGroupHeartbeatResponse)
        self._metrics.heartbeat_answered((time.monotonic() - asked_s) * 1000)
        self._feed(events.HeartbeatAnswered(effect.serial, response, self._cluster.view.names))
        self._heard()

    async def _leave_group(self, request: Request) -> None:
        try:
            await self._ask(request)
        except OttlaError:
            # The coordinator will notice by the session timeout.
            return

    async def _name_topics(self, ids: frozenset[Uuid]) -> None:
        """Asks for topics by id: with a pattern that the broker matches, their names are not known."""
        topics = [MetadataRequestTopic(topic_id=topic_id, name=None) for topic_id in sorted(ids)]
        failures = 0
        while True:
            try:
                response = await self._cluster.request(ANY_NODE, MetadataRequest(topics=topics))
            except OttlaError as error:
                _log.info("[group=%s] assigned topics could not be named: %s", self._config.group_id, error)
            else:
                assert isinstance(response, MetadataResponse)
                names = {topic.topic_id: topic.name for topic in response.topics if topic.name and not topic.error_code}
                if names:
                    self._cluster.want_topics(names.values())
                    self._feed(events.TopicsNamed(names))
                if ids <= names.keys():
                    return
            # A broker may hear of a new topic later than the coordinator did.
            await asyncio.sleep(self._cluster.backoff.delay_ms(failures) / 1000)
            failures += 1
            if not ids & self._consumer.assigned_topics:
                return
