"""Topics that come to be after somebody has asked for them."""

from ottla.client import Consumer, Producer
from ottla.testing import EmbeddedBroker


def test_a_consumer_finds_a_topic_that_is_made_after_it_subscribed() -> None:
    with (
        EmbeddedBroker() as broker,
        Consumer(
            bootstrap_servers=broker.bootstrap_servers, group_id="early", auto_offset_reset="earliest"
        ) as consumer,
        Producer(bootstrap_servers=broker.bootstrap_servers) as producer,
    ):
        consumer.subscribe(["late"])
        assert not consumer.poll(0.5)
        producer.send("late", value=b"here").result(timeout=30)
        seen = next(record for _ in range(60) for record in consumer.poll(1))
    assert seen.value == b"here"
