"""A consumer that speaks the classic protocol, as far as the coordinator of a consumer group can tell."""

from typing import Any

from ottla.coordinator.group.consumer.migration.embedded import read_assignment
from ottla.protocol.consumer_protocol import ConsumerProtocolSubscription, OwnedTopicPartition
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.sync_group import SyncGroupRequest
from tests.unit.coordinator.consumer.rig import GROUP, ConsumerRig


class ClassicConsumer:
    """One client; cooperative, so that it reports what it owns when it joins."""

    def __init__(self, rig: ConsumerRig, topics: list[str], *, instance_id: str | None = None) -> None:
        self.rig = rig
        self.topics = topics
        self.instance_id = instance_id
        self.member_id = ""
        self.generation = -1
        self.owned: dict[str, list[int]] = {}

    def join(self, **changes: Any) -> Any:
        """JoinGroup, twice if an id must be asked for first; the answer, or what collects it if it is still to come."""
        answers = self.rig.send(self.request(**changes))
        if answers.given and answers.only.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = answers.only.member_id
            answers = self.rig.send(self.request(**changes))
        if answers.given and answers.only.error_code == 0:
            self.joined(answers.only)
        return answers

    def joined(self, answer: Any) -> None:
        """Takes the generation in."""
        self.member_id, self.generation = answer.member_id, answer.generation_id

    def request(self, **changes: Any) -> JoinGroupRequest:
        """What a join says."""
        subscription = ConsumerProtocolSubscription(
            topics=self.topics,
            owned_partitions=[
                OwnedTopicPartition(topic=topic, partitions=partitions) for topic, partitions in self.owned.items()
            ],
            generation_id=self.generation,
        )
        fields: dict[str, Any] = {
            "group_id": GROUP,
            "session_timeout_ms": 30_000,
            "rebalance_timeout_ms": 60_000,
            "member_id": self.member_id,
            "group_instance_id": self.instance_id,
            "protocol_type": "consumer",
            "protocols": [JoinGroupRequestProtocol(name="range", metadata=b"\0\3" + subscription.encode(3))],
        }
        return JoinGroupRequest(**fields | changes)

    def sync(self, **changes: Any) -> Any:
        """SyncGroup; takes what it is given."""
        answer = self.rig.ask(SyncGroupRequest(**self._identity() | {"protocol_name": "range"} | changes))
        if answer.error_code == 0:
            assignment = read_assignment(bytes(answer.assignment))
            self.owned = {topic.topic: sorted(topic.partitions) for topic in assignment.assigned_partitions}
        return answer

    def heartbeat(self, **changes: Any) -> int:
        """Heartbeat; the code."""
        identity = self._identity()
        del identity["protocol_type"]
        code: int = self.rig.ask(HeartbeatRequest(**identity | changes)).error_code
        return code

    def leave(self) -> Any:
        """LeaveGroup."""
        members = [MemberIdentity(member_id=self.member_id, group_instance_id=self.instance_id)]
        return self.rig.ask(LeaveGroupRequest(group_id=GROUP, members=members))

    def _identity(self) -> dict[str, Any]:
        return {
            "group_id": GROUP,
            "member_id": self.member_id,
            "group_instance_id": self.instance_id,
            "generation_id": self.generation,
            "protocol_type": "consumer",
        }
