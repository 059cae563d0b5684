import logging

import pytest

from ottla.client.consumer.group.effect import AdoptAssignment, LogRebalance
from ottla.client.consumer.group.rebalance_log import log_rebalance
from ottla.client.record import TopicPartition


def partitions(count: int) -> frozenset[TopicPartition]:
    return frozenset(TopicPartition("t", number) for number in range(count))


@pytest.mark.parametrize(("count", "shown"), [(0, "+0"), (2, "+2 (t-0, t-1)"), (13, "+13")])
def test_a_rebalance_is_one_line_with_its_reason(caplog: pytest.LogCaptureFixture, count: int, shown: str) -> None:
    change = AdoptAssignment(frozenset(), partitions(count), partitions(count))
    with caplog.at_level(logging.INFO):
        log_rebalance("g", LogRebalance("the group is rebalancing", "m", 3, change, 12, "range"))
    prefix = "[group=g member=m generation=3] rebalanced in 12 ms because the group is rebalancing"
    assert caplog.messages == [f"{prefix}: {shown} -0, now {count}; range"]
