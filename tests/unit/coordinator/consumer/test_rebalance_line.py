"""The line that every rebalance of a consumer group logs: who, and which topics."""

import logging
from collections.abc import Callable

import pytest

from tests.unit.coordinator.consumer.rig import Consumer, ConsumerRig


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """What was logged since it was last asked, from the reason on."""
    caplog.set_level(logging.INFO, logger="ottla.coordinator")

    def since() -> list[str]:
        found = [line.partition("reason ")[2] for line in caplog.messages if "Rebalances" in line]
        caplog.clear()
        return found

    return since


def test_who_joined_and_left(lines: Callable[[], list[str]]) -> None:
    rig = ConsumerRig({"t": 3})
    member = Consumer(rig, "a", ["t", "u"])
    member.join()
    assert lines() == ["member_joined: member a of client 'app' at /10.0.0.1 joined, wants t, u"]
    member.beat()
    assert lines() == []
    member.leave()
    assert lines() == ["member_left: member a left"]


def test_which_subscription_changed(lines: Callable[[], list[str]]) -> None:
    rig = ConsumerRig({"t": 3, "u": 1})
    member = Consumer(rig, "a", ["t"])
    member.join()
    lines()
    member.beat(subscribed_topic_names=["u"])
    assert lines() == ["metadata_changed: member a changed its subscription: now with u, without t"]


def test_which_topic_changed(lines: Callable[[], list[str]]) -> None:
    rig = ConsumerRig({"t": 3, "u": 1})
    member = Consumer(rig, "a", ["t", "u"])
    member.join()
    lines()
    rig.cluster.grow("t", 4)
    rig.topics_changed("t", "v")
    member.beat()
    assert lines() == ["metadata_changed: t changed: made, deleted or with other partitions"]
