"""Topics that come, grow and go."""

from ottla.coordinator.group.rebalance_reason import RebalanceReason
from tests.unit.coordinator.consumer.rig import Consumer, ConsumerRig


def test_new_partitions_are_assigned() -> None:
    rig = ConsumerRig({"t": 2})
    member = Consumer(rig, "a", ["t"])
    member.join()
    rig.cluster.grow("t", 4)
    rig.topics_changed("t")
    assert member.beat().member_epoch == 3
    assert member.partitions("t") == [0, 1, 2, 3]
    assert rig.rebalances.counts[RebalanceReason.METADATA_CHANGED] == 1


def test_a_topic_may_come_later() -> None:
    rig = ConsumerRig({})
    member = Consumer(rig, "a", ["t"])
    assert member.join().member_epoch == 2
    assert member.owned == {}
    rig.cluster.create("t", 1)
    rig.topics_changed("t")
    member.beat()
    assert member.partitions("t") == [0]


def test_a_deleted_topic_is_taken_away() -> None:
    rig = ConsumerRig({"t": 2, "u": 1})
    member = Consumer(rig, "a", ["t", "u"])
    member.join()
    rig.cluster.delete("t")
    rig.topics_changed("t")
    member.beat()
    member.beat()
    assert set(member.owned) == {rig.cluster.id("u")}
    assert member.epoch == 3


def test_a_topic_made_anew_is_another_topic() -> None:
    rig = ConsumerRig({"t": 2})
    member = Consumer(rig, "a", ["t"])
    member.join()
    old_id = rig.cluster.id("t")
    rig.cluster.delete("t")
    rig.cluster.create("t", 2)
    rig.topics_changed("t")
    member.beat()
    member.beat()
    assert member.partitions("t") == [0, 1]
    assert old_id not in member.owned


def test_changes_of_other_topics_don_t_matter() -> None:
    rig = ConsumerRig({"t": 2})
    member = Consumer(rig, "a", ["t"])
    member.join()
    rig.cluster.create("u", 1)
    rig.topics_changed("u")
    assert member.beat().member_epoch == 2


def test_a_restart_does_not_rebalance() -> None:
    rig = ConsumerRig({"t": 2})
    rig.cluster.racks = frozenset({"r1", "r2"})
    member = Consumer(rig, "a", ["t"])
    member.join()
    rig.restart()
    assert member.beat().member_epoch == 2


def test_what_changed_while_nobody_led_is_noticed() -> None:
    rig = ConsumerRig({"t": 2})
    member = Consumer(rig, "a", ["t"])
    member.join()
    rig.resign()
    rig.cluster.grow("t", 3)
    rig.elect()
    member.beat()
    assert member.partitions("t") == [0, 1, 2]
