"""Subscriptions by regular expression, resolved by the coordinator."""

import random

from ottla.protocol.errors import ErrorCode
from ottla.protocol.group_log.consumer import ConsumerGroupRegularExpressionKey
from tests.unit.coordinator.consumer.rig import Consumer, ConsumerRig

TOPICS = {"orders-1": 1, "orders-2": 1, "other": 1}


def settle(rig: ConsumerRig, *members: Consumer) -> None:
    for _ in range(4):
        rig.advance(1)
        for member in members:
            assert member.beat().error_code == 0


def test_matching_topics_are_assigned() -> None:
    rig = ConsumerRig(TOPICS)
    member = Consumer(rig, "a", None, subscribed_topic_regex="orders-.*")
    assert member.join().member_epoch == 1
    assert member.owned == {}
    settle(rig, member)
    assert set(member.owned) == {rig.cluster.id("orders-1"), rig.cluster.id("orders-2")}
    assert member.epoch == 2
    resolved = rig.group.regexes["orders-.*"]
    assert resolved.version == rig.cluster.version
    assert rig.describe().members[0].subscribed_topic_regex == "orders-.*"


def test_names_and_an_expression_add_up() -> None:
    rig = ConsumerRig(TOPICS)
    member = Consumer(rig, "a", ["other"], subscribed_topic_regex="orders-1")
    member.join()
    settle(rig, member)
    assert set(member.owned) == {rig.cluster.id("orders-1"), rig.cluster.id("other")}


def test_topics_that_the_member_may_not_see_don_t_match() -> None:
    rig = ConsumerRig(TOPICS)
    rig.hidden.add("orders-2")
    member = Consumer(rig, "a", None, subscribed_topic_regex="orders-.*")
    member.join()
    settle(rig, member)
    assert set(member.owned) == {rig.cluster.id("orders-1")}


def test_an_invalid_expression_is_refused_and_nothing_written() -> None:
    rig = ConsumerRig(TOPICS)
    answer = Consumer(rig, "a", None, subscribed_topic_regex="(?=orders)").join()
    assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert not rig.records()


def test_new_topics_are_found_after_a_pause() -> None:
    rig = ConsumerRig(TOPICS)
    member = Consumer(rig, "a", None, subscribed_topic_regex="orders-.*")
    member.join()
    settle(rig, member)
    rig.cluster.create("orders-3", 1)
    rig.topics_changed("orders-3")
    settle(rig, member)
    assert len(member.owned) == 2, "looked a moment ago"
    rig.advance(10_000)
    settle(rig, member)
    assert len(member.owned) == 3


def test_a_second_member_with_the_same_expression_needs_no_search() -> None:
    rig = ConsumerRig(TOPICS)
    first = Consumer(rig, "a", None, subscribed_topic_regex="orders-.*")
    first.join()
    settle(rig, first)
    second = Consumer(rig, "b", None, subscribed_topic_regex="orders-.*")
    assert second.join().member_epoch == 3
    settle(rig, first, second)
    assert len(first.owned) == len(second.owned) == 1


def test_an_expression_is_forgotten_with_its_last_member() -> None:
    rig = ConsumerRig(TOPICS)
    first = Consumer(rig, "a", None, subscribed_topic_regex="orders-.*")
    second = Consumer(rig, "b", None, subscribed_topic_regex="orders-.*")
    for member in (first, second):
        member.join()
    settle(rig, first, second)
    first.leave()
    assert "orders-.*" in rig.group.regexes
    second.beat(subscribed_topic_regex="", subscribed_topic_names=["other"])
    assert not rig.group.regexes
    tombstones = [
        record
        for record in rig.records()
        if isinstance(record.key, ConsumerGroupRegularExpressionKey) and record.value is None
    ]
    assert len(tombstones) == 1
    settle(rig, second)
    assert set(second.owned) == {rig.cluster.id("other")}


def test_a_restart_keeps_what_was_matched() -> None:
    rig = ConsumerRig(TOPICS)
    member = Consumer(rig, "a", None, subscribed_topic_regex="orders-.*")
    member.join()
    settle(rig, member)
    before = rig.group
    rig.restart()
    assert rig.group == before
    assert member.beat().member_epoch == 2


COSTLY = "(.*a.{800}|.*b.{800})+"
LONG = {"".join(random.Random(number).choices("ab", k=240)): 1 for number in range(100)}


def test_an_expression_that_would_take_for_ever_is_refused() -> None:
    rig = ConsumerRig(LONG)
    answer = Consumer(rig, "a", None, subscribed_topic_regex=COSTLY).join()
    assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert answer.error_message is not None
    assert "too long" in answer.error_message
    assert not rig.records()


def test_a_choice_of_many_names_is_not() -> None:
    rig = ConsumerRig({f"topic-{number}": 1 for number in range(300)})
    member = Consumer(
        rig, "a", None, subscribed_topic_regex="|".join(f"topic-{number}" for number in range(0, 4_000, 2))
    )
    assert member.join().error_code == 0
    settle(rig, member)
    assert len(member.owned) == 150


def test_one_that_comes_to_take_for_ever_keeps_what_it_matched() -> None:
    rig = ConsumerRig({"a" * 801: 1})
    member = Consumer(rig, "a", None, subscribed_topic_regex=COSTLY)
    member.join()
    settle(rig, member)
    assert len(member.owned) == 1
    for name in LONG:
        rig.cluster.create(name, 1)
    rig.topics_changed(*LONG)
    rig.advance(10_000)
    settle(rig, member)
    assert len(member.owned) == 1
