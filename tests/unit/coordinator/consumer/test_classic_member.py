"""Members of the classic protocol in consumer groups, and groups that change from one protocol to the other."""

import pytest

from ottla.coordinator.group.classic.group import ClassicGroup
from ottla.coordinator.group.config import ConsumerGroupConfig
from ottla.coordinator.group.consumer.migration.embedded import read_assignment
from ottla.protocol.consumer_protocol import AssignedTopicPartition, ConsumerProtocolAssignment
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.describe_groups import DescribeGroupsRequest
from ottla.protocol.messages.join_group import JoinGroupRequestProtocol
from ottla.protocol.messages.list_groups import ListGroupsRequest
from ottla.protocol.messages.sync_group import SyncGroupRequestAssignment
from tests.unit.coordinator.consumer.classic import ClassicConsumer
from tests.unit.coordinator.consumer.rig import GROUP, Consumer, ConsumerRig


def assignment(**topics: list[int]) -> bytes:
    assigned = [AssignedTopicPartition(topic=topic, partitions=partitions) for topic, partitions in topics.items()]
    return b"\0\3" + ConsumerProtocolAssignment(assigned_partitions=assigned).encode(3)


def classic_group(rig: ConsumerRig) -> ClassicConsumer:
    """A stable classic group of one that owns t-0 and t-1."""
    member = ClassicConsumer(rig, ["t"])
    answers = member.join()
    rig.advance(3_000)
    member.joined(answers.only)
    share = SyncGroupRequestAssignment(member_id=member.member_id, assignment=assignment(t=[0, 1]))
    assert member.sync(assignments=[share]).error_code == 0
    assert member.owned == {"t": [0, 1]}
    return member


def mixed_group(rig: ConsumerRig) -> tuple[ClassicConsumer, Consumer]:
    """A classic member with t-0 and a consumer with t-1, both settled."""
    old, new = classic_group(rig), Consumer(rig, "new", ["t"])
    assert new.join().error_code == 0
    assert old.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    old.join()
    old.sync()
    old.join()
    old.sync()
    new.beat()
    assert old.heartbeat() == 0
    assert (old.owned, new.partitions("t")) == ({"t": [0]}, [1])
    return old, new


def test_a_classic_group_is_taken_over_and_goes_on() -> None:
    rig = ConsumerRig({"t": 2})
    old, new = mixed_group(rig)
    group = rig.describe()
    assert [(member.member_id, member.member_type) for member in group.members] == sorted(
        [(old.member_id, 0), (new.member_id, 1)]
    )
    assert group.group_state == "Stable"
    listed = rig.ask(ListGroupsRequest()).groups
    assert [(entry.group_id, entry.group_type, entry.protocol_type) for entry in listed] == [
        (GROUP, "consumer", "consumer")
    ]


def test_describe_groups_calls_it_dead() -> None:
    rig = ConsumerRig({"t": 2})
    Consumer(rig, "a", ["t"]).join()
    (dead,) = rig.ask(DescribeGroupsRequest(groups=[GROUP]), 5).groups
    assert (dead.error_code, dead.group_state) == (0, "Dead")
    (missing,) = rig.ask(DescribeGroupsRequest(groups=[GROUP]), 6).groups
    assert missing.error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_mixed_group_survives_a_restart() -> None:
    rig = ConsumerRig({"t": 2})
    old, new = mixed_group(rig)
    before = rig.group
    rig.restart()
    assert rig.group == before
    assert (old.heartbeat(), new.beat().error_code) == (0, 0)


def test_when_the_last_consumer_leaves_the_group_turns_classic_and_rebalances() -> None:
    rig = ConsumerRig({"t": 2})
    old, new = mixed_group(rig)
    new.leave()
    group = rig.shards.get(0).state.groups[GROUP]
    assert isinstance(group, ClassicGroup)
    assert [member.member_id for member in group.members] == [old.member_id]
    assert old.heartbeat(generation_id=group.generation) == ErrorCode.REBALANCE_IN_PROGRESS
    answers = old.join()
    assert answers.only.error_code == 0
    assert answers.only.leader == old.member_id
    share = SyncGroupRequestAssignment(member_id=old.member_id, assignment=assignment(t=[0, 1]))
    assert old.sync(assignments=[share]).error_code == 0
    rig.restart()
    assert old.heartbeat() == 0


def test_a_removed_member_that_believes_to_own_partitions_has_to_give_them_up() -> None:
    rig = ConsumerRig({"t": 2})
    old, new = mixed_group(rig)
    for _ in range(4):
        rig.advance(10_000)
        new.beat()
    assert new.partitions("t") == [0, 1]
    assert old.owned == {"t": [0]}
    assert old.join().only.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    old.owned, old.member_id = {}, ""
    assert old.join().only.error_code == 0
    old.sync()
    assert old.owned == {}


def test_a_partition_that_was_not_given_up_stays_its_owners_while_the_group_turns_classic_and_back() -> None:
    rig = ConsumerRig({"t": 2})
    old, new = classic_group(rig), Consumer(rig, "new", ["t"])
    assert new.join().error_code == 0
    new.leave()
    assert isinstance(rig.shards.get(0).state.groups[GROUP], ClassicGroup)
    again = Consumer(rig, "again", ["t"])
    assert again.join().error_code == 0
    # The old member has heard nothing of all this.
    assert old.owned == {"t": [0, 1]}
    assert again.partitions("t") == []
    assert old.heartbeat() == ErrorCode.ILLEGAL_GENERATION
    old.join()
    old.sync()
    old.join()
    old.sync()
    again.beat()
    assert (old.owned, again.partitions("t")) == ({"t": [0]}, [1])


def test_a_group_that_turned_classic_rebalances_under_its_next_coordinator_too() -> None:
    rig = ConsumerRig({"t": 2})
    old, new = mixed_group(rig)
    new.leave()
    group = rig.shards.get(0).state.groups[GROUP]
    # The coordinator dies before the members hear that they are to join, and with it the rebalance.
    rig.restart()
    rig.advance(0)
    assert old.heartbeat(generation_id=group.generation) == ErrorCode.REBALANCE_IN_PROGRESS
    assert old.join().only.leader == old.member_id


def test_a_silent_consumer_turns_the_group_classic_too() -> None:
    rig = ConsumerRig({"t": 2})
    old, _ = mixed_group(rig)
    for _ in range(3):
        rig.advance(15_000)
        old.heartbeat()
    assert isinstance(rig.shards.get(0).state.groups[GROUP], ClassicGroup)


def test_without_downgrades_the_group_stays_what_it_is() -> None:
    rig = ConsumerRig({"t": 2}, ConsumerGroupConfig(migration_policy="upgrade", assignment_interval_ms=0))
    old, new = mixed_group(rig)
    new.leave()
    assert list(rig.group.members) == [old.member_id]


@pytest.mark.parametrize("policy", ["disabled", "downgrade"])
def test_without_upgrades_a_consumer_is_turned_away(policy: str) -> None:
    rig = ConsumerRig({"t": 2}, ConsumerGroupConfig(migration_policy=policy))
    classic_group(rig)
    assert Consumer(rig, "new", ["t"]).join().error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_groups_of_other_protocols_are_not_taken_over() -> None:
    rig = ConsumerRig({"t": 2})
    ClassicConsumer(rig, ["t"]).join(protocol_type="connect")
    assert Consumer(rig, "new", ["t"]).join().error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_an_empty_classic_group_makes_room() -> None:
    rig = ConsumerRig({"t": 2})
    old = classic_group(rig)
    old.leave()
    new = Consumer(rig, "new", ["t"])
    assert new.join().member_epoch == 2
    assert new.partitions("t") == [0, 1]
    new.leave()
    back = ClassicConsumer(rig, ["t"])
    back.join()
    assert isinstance(rig.shards.get(0).state.groups[GROUP], ClassicGroup)


def test_joining_a_consumer_group_with_the_classic_protocol() -> None:
    rig = ConsumerRig({"t": 2})
    new, old = Consumer(rig, "new", ["t"]), ClassicConsumer(rig, ["t"])
    new.join()
    first = rig.send(old.request()).only
    assert first.error_code == ErrorCode.MEMBER_ID_REQUIRED
    old.member_id = first.member_id
    answer = old.join().only
    assert (answer.error_code, answer.generation_id, answer.protocol_name) == (0, 3, "range")
    assert answer.leader == ""
    old.sync()
    assert old.owned == {}
    new.beat()
    new.beat()
    assert old.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS, "there is something to get"
    old.join()
    old.sync()
    assert (old.owned, new.partitions("t")) == ({"t": [1]}, [0])


def test_with_migration_disabled_classic_members_are_turned_away() -> None:
    rig = ConsumerRig({"t": 2}, ConsumerGroupConfig(migration_policy="disabled"))
    Consumer(rig, "new", ["t"]).join()
    assert ClassicConsumer(rig, ["t"]).join().only.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_classic_members_must_share_a_protocol_and_be_readable() -> None:
    rig = ConsumerRig({"t": 2})
    mixed_group(rig)
    refusals = (
        {"protocol_type": "connect"},
        {"protocols": [JoinGroupRequestProtocol(name="sticky", metadata=b"\0\0")]},
        {"protocols": [JoinGroupRequestProtocol(name="range", metadata=b"\0")]},
    )
    before = rig.group
    for changes in refusals:
        answer = ClassicConsumer(rig, ["t"]).join(**changes).only
        assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert rig.group == before


def test_what_classic_members_may_not_say() -> None:
    rig = ConsumerRig({"t": 2})
    old, new = mixed_group(rig)
    assert old.heartbeat(generation_id=1) == ErrorCode.ILLEGAL_GENERATION
    assert old.heartbeat(member_id="x") == ErrorCode.UNKNOWN_MEMBER_ID
    assert old.heartbeat(member_id=new.member_id) == ErrorCode.UNKNOWN_MEMBER_ID
    assert old.heartbeat(group_instance_id="x") == ErrorCode.UNKNOWN_MEMBER_ID
    assert old.sync(protocol_name="sticky").error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert old.sync(protocol_type="connect").error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert old.sync(generation_id=1).error_code == ErrorCode.ILLEGAL_GENERATION


def test_a_classic_member_that_does_not_join_again_is_fenced() -> None:
    rig = ConsumerRig({"t": 2})
    old, new = mixed_group(rig)
    Consumer(rig, "another", ["t"]).join()
    for _ in range(6):
        assert old.heartbeat() in (0, ErrorCode.REBALANCE_IN_PROGRESS)
        new.beat()
        rig.advance(10_001)
    assert old.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_classic_member_that_does_not_sync_is_fenced() -> None:
    rig = ConsumerRig({"t": 2})
    new, old = Consumer(rig, "new", ["t"]), ClassicConsumer(rig, ["t"])
    new.join()
    old.join()
    for _ in range(4):
        new.beat()
        old.heartbeat()
        rig.advance(15_000)
    assert old.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_leaving_by_the_classic_api() -> None:
    rig = ConsumerRig({"t": 2})
    old, new = mixed_group(rig)
    answer = old.leave()
    assert [member.error_code for member in answer.members] == [0]
    assert [member.error_code for member in old.leave().members] == [ErrorCode.UNKNOWN_MEMBER_ID]
    new.beat()
    assert new.partitions("t") == [0, 1]


def test_a_static_consumer_that_comes_back_classic_turns_the_last_one() -> None:
    rig = ConsumerRig({"t": 2})
    new = Consumer(rig, "new", ["t"], instance_id="one")
    new.join()
    new.leave(-2)
    back = ClassicConsumer(rig, ["t"], instance_id="one")
    answer = back.join().only
    assert answer.error_code == 0
    group = rig.shards.get(0).state.groups[GROUP]
    assert isinstance(group, ClassicGroup)
    (member,) = group.members
    assert (member.instance_id, member.member_id) == ("one", back.member_id)
    stored = read_assignment(member.assignment)
    assert [(topic.topic, topic.partitions) for topic in stored.assigned_partitions] == [("t", [0, 1])]
    # Without a generation of its own the group would have no leader who looks at its topics.
    assert back.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert back.join().only.leader == back.member_id


def test_a_classic_static_member_may_come_back_as_a_consumer() -> None:
    rig = ConsumerRig({"t": 2})
    old = ClassicConsumer(rig, ["t"], instance_id="one")
    answers = old.join()
    rig.advance(3_000)
    old.joined(answers.only)
    share = SyncGroupRequestAssignment(member_id=old.member_id, assignment=assignment(t=[0, 1]))
    old.sync(assignments=[share])
    new = Consumer(rig, "new", ["t"], instance_id="one")
    assert new.join().error_code == 0
    assert new.partitions("t") == [0, 1]
    assert rig.group.epoch == 1, "nothing changed but the protocol"
    assert list(rig.group.members) == ["new"]
    assert old.heartbeat() == ErrorCode.FENCED_INSTANCE_ID


def test_a_static_member_that_comes_back_as_a_consumer_gets_what_its_leader_left_out() -> None:
    rig = ConsumerRig({"t": 3})
    old = ClassicConsumer(rig, ["t"], instance_id="one")
    answers = old.join()
    rig.advance(3_000)
    old.joined(answers.only)
    old.sync(assignments=[SyncGroupRequestAssignment(member_id=old.member_id, assignment=assignment(t=[0, 1]))])
    new = Consumer(rig, "new", ["t"], instance_id="one")
    assert new.join().error_code == 0
    assert new.partitions("t") == [0, 1, 2]


def test_a_static_member_that_comes_back_as_a_consumer_in_the_first_rebalance_gets_its_share() -> None:
    rig = ConsumerRig({"t": 2})
    old = ClassicConsumer(rig, ["t"], instance_id="one")
    old.join()
    # Generation 0 is as good as none: with it as their epoch members would join for ever.
    new = Consumer(rig, "new", ["t"], instance_id="one")
    assert new.join().error_code == 0
    assert new.partitions("t") == [0, 1]
    assert new.beat().error_code == 0
