"""A group coordinator with consumer groups, and members that behave as clients do."""

from collections.abc import Mapping
from typing import Any

from ottla.coordinator.group.caller import GroupCaller
from ottla.coordinator.group.classic.classic_groups import ClassicGroups
from ottla.coordinator.group.config import ConsumerGroupConfig
from ottla.coordinator.group.consumer.assignment.metadata_hash import TopicHashes
from ottla.coordinator.group.consumer.consumer_groups import ConsumerGroups
from ottla.coordinator.group.consumer.context import ConsumerGroupContext
from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.group.consumer.heartbeat import MemberHeartbeat
from ottla.coordinator.group.group_machine import GroupKinds, GroupMachine
from ottla.coordinator.group.group_state import GroupsState, GroupType
from ottla.coordinator.group.refusal import refused_consumer_description, refused_consumer_heartbeat
from ottla.coordinator.group.request_check import check_heartbeat
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.runtime.timers import Timers
from ottla.protocol.errors import ApiError
from ottla.protocol.messages.consumer_group_describe import DescribedGroup
from ottla.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from tests.unit.coordinator.consumer.cluster import Cluster
from tests.unit.coordinator.group.rig import Rig
from tests.unit.coordinator.runtime.fake import Answers

GROUP = "g"


class ConsumerRig(Rig):
    """One broker, one partition, and the topics that a test names."""

    def __init__(self, topics: Mapping[str, int], consumer: ConsumerGroupConfig | None = None, **config: Any) -> None:
        self.cluster = Cluster(topics)
        self.hidden: set[str] = set()
        super().__init__(consumer=consumer or ConsumerGroupConfig(assignment_interval_ms=0), **config)

    def _open(self, partition: int, leader_epoch: int) -> Shard[GroupsState]:
        timers = Timers()
        classic = ClassicGroups(self.config.classic, timers, self._chance, self.rebalances)
        context = ConsumerGroupContext(
            config=self.config,
            chance=self._chance,
            metadata=self.cluster,
            rebalance_log=self.rebalances,
            image_version=lambda: self.cluster.version,
            hashes=TopicHashes(self.cluster),
        )
        self.consumers = ConsumerGroups(context, timers, classic)
        kinds = GroupKinds(
            classic=classic,
            others={GroupType.CONSUMER: self.consumers},
            with_classic_members={GroupType.CONSUMER: self.consumers},
            watchers=[self.consumers],
        )
        return Shard(partition, GroupMachine(self.config, timers, kinds), self.logs[partition], timers)

    def beat(
        self, request: ConsumerGroupHeartbeatRequest, version: int = 1, *, client: str = "app"
    ) -> ConsumerGroupHeartbeatResponse:
        """ConsumerGroupHeartbeat, answered in a way that its version can express."""
        answers = Answers()
        caller = GroupCaller(
            client, "/10.0.0.1", version, lambda names: [name for name in names if name not in self.hidden]
        )
        beat = MemberHeartbeat(request, caller)
        try:
            check_heartbeat(request, version, self.config.consumer.assignors)
        except ApiError as refusal:
            return refused_consumer_heartbeat(refusal)
        consumers = self.consumers
        self.shards.get(0).write(
            lambda state, now_ms: consumers.member_heartbeat(state, beat, now_ms), answers, self.now_ms
        )
        self.settle()
        answer = answers.only
        if isinstance(answer, ApiError):
            answer = refused_consumer_heartbeat(answer)
        assert isinstance(answer, ConsumerGroupHeartbeatResponse)
        answer.encode(version)
        return answer

    def describe(self, group_id: str = GROUP) -> DescribedGroup:
        """ConsumerGroupDescribe."""
        try:
            return self.shards.get(0).read(lambda state: self.consumers.describe(state, group_id))
        except ApiError as refusal:
            return refused_consumer_description(group_id, refusal)

    @property
    def group(self) -> ConsumerGroup:
        """The group as it is in the newest state."""
        group = self.shards.get(0).state.groups[GROUP]
        assert isinstance(group, ConsumerGroup)
        return group

    def topics_changed(self, *names: str) -> None:
        """The coordinator hears that topics changed."""
        self.coordinator.topics_changed([], frozenset(names), self.now_ms)


class Consumer:
    """A client: it remembers its epoch, gives up and takes what it is told, and reports what it owns."""

    def __init__(self, rig: ConsumerRig, member_id: str, topics: list[str] | None = None, **said: Any) -> None:
        self.rig = rig
        self.member_id = member_id
        self.epoch = 0
        self.said: dict[str, Any] = {"rebalance_timeout_ms": 300_000, "subscribed_topic_names": topics} | said
        self.owned: dict[Any, set[int]] = {}
        self.told: dict[Any, set[int]] | None = None
        """What it was told to own and has not come round to."""
        self.answer: ConsumerGroupHeartbeatResponse | None = None

    def join(self, version: int = 1) -> ConsumerGroupHeartbeatResponse:
        """The first heartbeat, or the first after it was fenced."""
        self.epoch, self.owned, self.told = 0, {}, None
        return self._send(version, **self.said)

    def beat(self, **said: Any) -> ConsumerGroupHeartbeatResponse:
        """A heartbeat that reports what it owns, after it gave up and took what it was told."""
        if self.told is not None:
            self.owned, self.told = self.told, None
        return self._send(1, **said)

    def silent_beat(self) -> ConsumerGroupHeartbeatResponse:
        """A heartbeat that says nothing, of one that is still busy giving up what it must."""
        before = self.owned
        answer = self._send(1, topic_partitions=None)
        if answer.assignment is not None:
            self.told = self.owned
        self.owned = before
        return answer

    def full_beat(self) -> ConsumerGroupHeartbeatResponse:
        """A heartbeat that says everything, of one that did not get its last answer."""
        return self.beat(**self.said)

    def lost_beat(self) -> None:
        """A heartbeat whose answer gets lost."""
        before = (self.epoch, self.owned, self.member_id)
        self.beat()
        self.epoch, self.owned, self.member_id = before

    def leave(self, epoch: int = -1) -> ConsumerGroupHeartbeatResponse:
        """Goes, for good or (-2) for a while."""
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP, member_id=self.member_id, member_epoch=epoch, instance_id=self.said.get("instance_id")
        )
        return self.rig.beat(request)

    def partitions(self, topic: str) -> list[int]:
        """What it owns of a topic."""
        return sorted(self.owned.get(self.rig.cluster.id(topic), ()))

    def _send(self, version: int, **said: Any) -> ConsumerGroupHeartbeatResponse:
        owned = [
            TopicPartitions(topic_id=topic_id, partitions=sorted(partitions))
            for topic_id, partitions in self.owned.items()
            if partitions
        ]
        fields = {"topic_partitions": owned, "instance_id": self.said.get("instance_id")} | said
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP, member_id=self.member_id, member_epoch=self.epoch, **fields
        )
        answer = self.answer = self.rig.beat(request, version)
        if answer.error_code == 0:
            self.member_id = answer.member_id or self.member_id
            self.epoch = answer.member_epoch
            if answer.assignment is not None:
                self.owned = {topic.topic_id: set(topic.partitions) for topic in answer.assignment.topic_partitions}
        return answer
