"""A member of the consumer protocol (KIP-848): its heartbeats carry everything, and the coordinator assigns."""

from collections.abc import Callable
from typing import Final

from ottla.base.ids import Uuid
from ottla.coordinator.ports import PartitionKey
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from ottla.protocol.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from ottla.testing.simulation.coordinator.image import topic_id
from ottla.testing.simulation.coordinator.scenario import GroupPlan
from ottla.testing.simulation.coordinator.workload.member import (
    COORDINATOR_ELSEWHERE,
    HEARTBEAT_MS,
    REBALANCE_TIMEOUT_MS,
    RETRY_MS,
    ClientOutside,
    Identity,
    Membership,
)
from ottla.testing.simulation.coordinator.workload.task import Ask, Sleep, Steps

_VERSION: Final = 1
_LEAVE: Final = -1
_STATIC_LEAVE: Final = -2
_FENCED_MS: Final = 1000


class ConsumerMember(Membership):
    """`member_id` is its own, for the life of the process; `epoch` is 0 until it has joined."""

    def __init__(self, plan: GroupPlan, instance_id: str | None, outside: ClientOutside) -> None:
        super().__init__(plan, instance_id, outside)
        self.member_id = self._new_id()
        self.epoch = 0
        self._regex = "|".join(plan.topics) if outside.random.randrange(3) == 0 else None
        """Instead of names: an expression that matches the same topics."""
        self._target: set[PartitionKey] = set()
        self._is_fenced = False
        self._tells_all = True
        self._told: set[PartitionKey] | None = None
        """What it last said it owns, if that was heard."""

    @property
    def identity(self) -> Identity | None:
        """Its member id and epoch; None before it has joined and after it was fenced."""
        return (
            Identity(self.member_id, self.epoch, self.instance_id) if self.epoch > 0 and not self._is_fenced else None
        )

    def poll(self) -> Steps[None]:
        """Takes over the assignment that the last heartbeat brought; gives up everything after it was fenced."""
        if self._is_fenced:
            self._is_fenced, self._tells_all, self._told = False, True, None
            self.epoch = 0
            self._target = set()
        self.own(set(self._target))
        yield from ()

    def keep_alive(self) -> Steps[None]:
        """Joins and sends heartbeats; a fenced member waits until `poll` has given up its partitions."""
        while True:
            if not self._is_fenced and not self.is_stopping:
                yield from self._heartbeat()
            is_in_a_hurry = self._told != self.owned
            yield Sleep(RETRY_MS if is_in_a_hurry else HEARTBEAT_MS)

    def leave(self) -> Steps[None]:
        """Leaves the group; a static member announces its return."""
        epoch = _LEAVE if self.instance_id is None else _STATIC_LEAVE
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.plan.group_id, member_id=self.member_id, member_epoch=epoch, instance_id=self.instance_id
        )
        if self.epoch > 0:
            yield from self.ask_coordinator(Ask(0, request, _VERSION))

    def refused(self, code: int) -> None:
        """Handles the error of a commit; the next heartbeat corrects a stale epoch."""
        if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH):
            self._is_fenced = True

    def _fetch_group(self, identity: Identity, topics: list[OffsetFetchRequestTopics]) -> OffsetFetchRequestGroup:
        return OffsetFetchRequestGroup(
            group_id=self.plan.group_id, member_id=identity.member_id, member_epoch=identity.generation, topics=topics
        )

    def _heartbeat(self) -> Steps[None]:
        owned, epoch, member_id = set(self.owned), self.epoch, self.member_id
        request = self._request(owned)
        response = yield from self.ask_coordinator(Ask(0, request, _VERSION))
        if self._is_fenced or self.is_stopping or (self.epoch, self.member_id) != (epoch, member_id):
            return
        if not isinstance(response, ConsumerGroupHeartbeatResponse) or response.error_code in COORDINATOR_ELSEWHERE:
            # Nobody knows what the coordinator has heard.
            self._tells_all, self._told = True, None
            return
        if response.error_code:
            yield from self._rejected(response.error_code)
            return
        self._tells_all, self._told = False, owned
        self.epoch = response.member_epoch
        if response.assignment is not None:
            names = {topic_id(name): name for name in self.outside.image().topics}
            self._target = {
                PartitionKey(names[topic.topic_id], index)
                for topic in response.assignment.topic_partitions
                for index in topic.partitions
            }

    def _rejected(self, code: int) -> Steps[None]:
        self._tells_all, self._told = True, None
        if code in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID):
            self._is_fenced = True
        elif code in (ErrorCode.FENCED_INSTANCE_ID, ErrorCode.GROUP_ID_NOT_FOUND):
            # The end of a consumer: another process has its name, or the group went on without it in another protocol.
            # Somebody starts it again.
            self._is_fenced = True
            yield Sleep(_FENCED_MS)
            self.member_id = self._new_id()
        else:
            # The name is still taken, or the group speaks another protocol at the moment.
            yield Sleep(_FENCED_MS // 2)

    def _request(self, owned: set[PartitionKey]) -> ConsumerGroupHeartbeatRequest:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.plan.group_id,
            member_id=self.member_id,
            member_epoch=self.epoch,
            instance_id=self.instance_id,
        )
        if self._tells_all or self._told != owned:
            # A member that joins owns nothing.
            request.topic_partitions = _by_topic(owned if self.epoch else set(), topic_id)
        if self._tells_all:
            request.rebalance_timeout_ms = REBALANCE_TIMEOUT_MS
            request.subscribed_topic_names = [] if self._regex else list(self.plan.topics)
            request.subscribed_topic_regex = self._regex or ""
        return request

    def _new_id(self) -> str:
        return str(Uuid(self.outside.random.randbytes(16)))


def _by_topic(keys: set[PartitionKey], id_of: Callable[[str], Uuid]) -> list[TopicPartitions]:
    topics: dict[str, list[int]] = {}
    for key in sorted(keys):
        topics.setdefault(key.topic, []).append(key.partition)
    return [TopicPartitions(topic_id=id_of(topic), partitions=indexes) for topic, indexes in topics.items()]
