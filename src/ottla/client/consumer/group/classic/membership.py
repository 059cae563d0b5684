"""A consumer's membership of a classic group: carries out what `ClassicMachine` decides."""

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any

from ottla.base.errors import OttlaError
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.cluster_view import ClusterView
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.cluster.node_pool import Purpose
from ottla.client.consumer.assignor.partition_assignor import PartitionAssignor
from ottla.client.consumer.group.classic import effect as effects
from ottla.client.consumer.group.classic import event as events
from ottla.client.consumer.group.classic import leader
from ottla.client.consumer.group.classic.machine import ClassicMachine
from ottla.client.consumer.group.classic.state import ClassicState
from ottla.client.consumer.group.driver import MembershipDriver
from ottla.client.consumer.group.event import IdentityDoubted
from ottla.client.consumer.group.member_config import MemberConfig
from ottla.client.consumer.group.topic_snapshot import snapshot_of
from ottla.client.consumer.membership import GroupMetadata, RebalanceHost
from ottla.protocol.api_key import ApiKey
from ottla.protocol.messages.heartbeat import HeartbeatResponse
from ottla.protocol.messages.join_group import JoinGroupResponse
from ottla.protocol.messages.sync_group import SyncGroupResponse

_log = logging.getLogger(__name__)
_JOIN_GRACE_MS = 5_000
"""How much longer we wait for the answer to JoinGroup than the coordinator waits for all members."""


class ClassicMembership(MembershipDriver):
    """`group.protocol=classic`."""

    def __init__(
        self,
        cluster: ClusterClient,
        config: MemberConfig,
        host: RebalanceHost,
        assignors: Sequence[PartitionAssignor],
    ) -> None:
        self._classic = ClassicMachine(config, assignors)
        super().__init__(cluster, config, host, self._classic)
        self._assignors = {assignor.name: assignor for assignor in assignors}
        cluster.on_change(self._view_changed)

    @property
    def is_stable(self) -> bool:
        """Whether nothing is left to be done before records may be read."""
        return self._classic.state is ClassicState.STABLE

    def metadata(self) -> GroupMetadata:
        """The present identity in the group."""
        generation = self._classic.generation
        config = self._config
        return GroupMetadata(config.group_id, generation.id, generation.member_id, config.group_instance_id)

    def enforce_rebalance(self, reason: str) -> None:
        """Joins again, which lets all members rebalance."""
        self._feed(events.RebalanceEnforced(reason or "the user asked for a rebalance"))

    async def refresh_epoch(self) -> bool:
        """A commit was refused: asks by a heartbeat; whether we are a member, so that it may be repeated."""
        if self._classic.state in (ClassicState.STABLE, ClassicState.ADOPTING):
            await self._hear_from_coordinator(IdentityDoubted())
        return self._classic.generation.id >= 0

    def _view_changed(self, before: ClusterView, after: ClusterView) -> None:
        if self._is_running and self._classic.is_leader:
            self._feed(events.MetadataChanged(snapshot_of(after, self._classic.group_topics)))

    def _perform_own(self, effect: Any) -> None:
        match effect:
            case effects.SendJoin():
                self._begin_step(self._join(effect))
            case effects.ComputeAssignment():
                self._begin_step(self._compute(effect))
            case effects.SendSync():
                self._begin_step(self._sync(effect))
            case effects.Pause():
                self._begin_step(self._pause(effect))
            case effects.SendHeartbeat():
                self._begin(self._heartbeat(effect))
            case effects.SendLeave():
                self._begin_leaving(self._leave_group(effect))
            case effects.TellAssignor():
                self._assignors[effect.protocol].on_assignment(effect.assignment, effect.generation_id)

    async def _join(self, effect: effects.SendJoin) -> None:
        timeout_ms = max(self._cluster.request_timeout_ms, self._config.max_poll_interval_ms + _JOIN_GRACE_MS)
        asked_s = time.monotonic()
        try:
            response = await self._ask(effect.request, timeout_ms=timeout_ms, purpose=Purpose.REBALANCE)
        except OttlaError as error:
            self._feed(events.CoordinatorUnreachable(error))
            return
        assert isinstance(response, JoinGroupResponse)
        self._metrics.joins.record((time.monotonic() - asked_s) * 1000)
        self._feed(events.JoinAnswered(response))

    async def _compute(self, effect: effects.ComputeAssignment) -> None:
        try:
            view = await self._view_with(leader.topics_of(effect.members))
            snapshot = snapshot_of(view, leader.topics_of(effect.members))
            assignments: dict[str, bytes] = {}
            if not effect.keeps_assignment:
                assignor = self._assignors[effect.protocol]
                assignments = leader.compute(assignor, self._classic.protocol, snapshot, effect.members)
        except OttlaError as error:
            self._feed(events.AssignmentFailed(error))
            return
        self._feed(events.AssignmentComputed(assignments, snapshot))

    async def _view_with(self, topics: frozenset[str]) -> ClusterView:
        """The cluster with all topics of the group in it that there are."""
        view = self._cluster.view
        if not topics <= view.topics.keys() | view.errors.keys():
            self._cluster.want_topics(topics)
            view = await self._cluster.refresh()
        return view

    async def _sync(self, effect: effects.SendSync) -> None:
        asked_s = time.monotonic()
        try:
            response = await self._ask(effect.request, purpose=Purpose.REBALANCE)
        except OttlaError as error:
            self._feed(events.CoordinatorUnreachable(error))
            return
        assert isinstance(response, SyncGroupResponse)
        self._metrics.syncs.record((time.monotonic() - asked_s) * 1000)
        self._feed(events.SyncAnswered(response))

    async def _pause(self, effect: effects.Pause) -> None:
        await asyncio.sleep(self._cluster.backoff.delay_ms(effect.failures - 1) / 1000)
        self._feed(events.PauseEnded())

    async def _heartbeat(self, effect: effects.SendHeartbeat) -> None:
        timeout_ms = min(self._cluster.request_timeout_ms, self._config.session_timeout_ms)
        asked_s = time.monotonic()
        try:
            response = await self._ask(effect.request, timeout_ms=timeout_ms)
        except OttlaError as error:
            _log.debug("[group=%s] a heartbeat failed: %s", self._config.group_id, error)
            self._feed(events.HeartbeatFailed())
            return
        assert isinstance(response, HeartbeatResponse)
        self._metrics.heartbeat_answered((time.monotonic() - asked_s) * 1000)
        self._feed(events.HeartbeatAnswered(effect.generation, response.error_code))
        self._heard()

    async def _leave_group(self, effect: effects.SendLeave) -> None:
        try:
            node_id = await self._cluster.coordinator(CoordinatorKind.GROUP, self._config.group_id)
            connection = await self._cluster.connection(node_id, purpose=Purpose.COORDINATOR)
            version = connection.version_of(ApiKey.LEAVE_GROUP)
            request = self._classic.requests.leave(effect.member_id, effect.reason, version)
            await connection.ask(request, timeout_ms=self._cluster.request_timeout_ms, version=version)
        except OttlaError:
            # The coordinator will notice by the session timeout.
            return
