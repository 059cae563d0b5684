"""What a consumer's metrics say about each partition."""

import math

from ottla.client.consumer.fetch.fetch_metric import GROUP, FetchMetrics
from ottla.client.consumer.subscription_state import Position, SubscriptionState
from ottla.client.metric.client_metric import ClientMetrics
from ottla.client.record import TopicPartition
from tests.unit.client.consumer.scripted import SETTINGS

ORDERS = TopicPartition("orders", 3)


def test_lag_and_lead_of_a_partition_while_it_is_assigned() -> None:
    shown, subscription = ClientMetrics(SETTINGS, "me"), SubscriptionState()
    metrics = FetchMetrics(shown, subscription, is_committed_only=False)

    def of_partition() -> dict[str, float]:
        tags = {("topic", "orders"), ("partition", "3")}
        return {
            name.name: value for name, value in shown.values().items() if name.group == GROUP and tags <= set(name.tags)
        }

    assert of_partition() == {}
    subscription.assign_manually([ORDERS])
    metrics.assigned()
    assert math.isnan(of_partition()["records-lag-avg"])
    state = subscription.state_of(ORDERS)
    state.high_watermark, state.log_start_offset = 100, 10
    for offset in (60, 80):
        state.seek(Position(offset))
        metrics.consumed(state, 20)
    assert of_partition() == {
        "records-lag": 20,
        "records-lag-avg": 30,
        "records-lag-max": 40,
        "records-lead": 70,
        "records-lead-avg": 60,
        "records-lead-min": 50,
        "preferred-read-replica": -1,
    }
    subscription.assign_manually([])
    metrics.assigned()
    assert of_partition() == {}
