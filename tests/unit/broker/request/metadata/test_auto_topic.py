"""Topics that are created because somebody asked for them."""

import pytest

from ottla.broker.coordinator_host.internal_topic import is_internal
from ottla.broker.request.metadata.auto_topic import FAILED_NAMES_MAX, RETRY_INTERVAL_MS, creatable_topic
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.create_topics import CreateTopicsRequest
from tests.unit.broker.small_broker import SmallBroker


def created(broker: SmallBroker) -> list[str]:
    return [topic.name for request in broker.channel.sent for topic in getattr(request, "topics", [])]


def test_topics_are_created_together_and_once() -> None:
    broker = SmallBroker()
    answers = broker.parts.auto_topics.create(["a", "b", "a b"])
    assert answers == {
        "a": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "b": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "a b": ErrorCode.INVALID_TOPIC_EXCEPTION,
    }
    assert len(broker.channel.sent) == 1
    assert created(broker) == ["a", "b"]
    assert broker.metadata.topic_names() == ["a", "b"]


def test_what_cannot_be_created_is_tried_again_after_a_while() -> None:
    broker = SmallBroker(default_replication_factor="3")
    creator = broker.parts.auto_topics
    for _ in range(5):
        creator.create(["a"])
    assert created(broker) == ["a"]
    broker.clock.ms += RETRY_INTERVAL_MS
    creator.create(["a", "b"])
    assert created(broker) == ["a", "a", "b"]
    broker.cluster.start(2, 3)
    broker.clock.ms += RETRY_INTERVAL_MS
    creator.create(["a"])
    assert broker.metadata.topic_names() == ["a"]


def test_a_request_that_never_comes_back_is_not_repeated() -> None:
    broker = SmallBroker()
    broker.channel.is_cut = True
    broker.parts.auto_topics.create(["a"])
    broker.parts.auto_topics.create(["a"])
    assert created(broker) == ["a"]


def test_a_topic_that_somebody_else_made_meanwhile_is_fine() -> None:
    broker = SmallBroker()
    broker.cluster.create("a", [1])
    broker.parts.auto_topics.create(["a"])
    broker.parts.auto_topics.create(["a"])
    assert created(broker) == ["a", "a"], "TOPIC_ALREADY_EXISTS is no failure to wait after"


def test_counts_are_the_brokers_if_it_has_any_else_the_controllers() -> None:
    plain = creatable_topic("a", SmallBroker().parts.config)
    assert (plain.num_partitions, plain.replication_factor) == (-1, -1)
    set_here = SmallBroker(num_partitions="6", default_replication_factor="2")
    topic = creatable_topic("a", set_here.parts.config)
    assert (topic.num_partitions, topic.replication_factor) == (6, 2)


def test_internal_topics_have_settings_of_their_own() -> None:
    config = SmallBroker(offsets_topic_num_partitions="7", transaction_state_log_min_isr="1").parts.config
    offsets = creatable_topic("__consumer_offsets", config)
    assert (offsets.num_partitions, offsets.replication_factor) == (7, 3)
    assert {entry.name: entry.value for entry in offsets.configs} == {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": "104857600",
    }
    transactions = {entry.name: entry.value for entry in creatable_topic("__transaction_state", config).configs}
    assert transactions["min.insync.replicas"] == "1"
    assert transactions["unclean.leader.election.enable"] == "false"
    share = {entry.name: entry.value for entry in creatable_topic("__share_group_state", config).configs}
    assert share["retention.ms"] == "-1"
    assert not is_internal("__cluster_metadata")


def test_the_request_has_the_brokers_own_time_out() -> None:
    broker = SmallBroker(request_timeout_ms="1234")
    broker.channel.is_cut = True
    broker.parts.auto_topics.create(["a"])
    request = broker.channel.sent[0]
    assert isinstance(request, CreateTopicsRequest)
    assert request.timeout_ms == 1234


def test_however_many_fail_the_log_and_the_memory_stay_small(caplog: pytest.LogCaptureFixture) -> None:
    broker = SmallBroker(default_replication_factor="3")
    with caplog.at_level("INFO", logger="ottla.broker.request.metadata.auto_topic"):
        broker.parts.auto_topics.create([f"topic-{number}" for number in range(FAILED_NAMES_MAX + 500)])
    sent, failed = (record.getMessage() for record in caplog.records)
    assert sent.startswith("Sent auto-creation request for topic-0, topic-1,")
    assert "and 1490 more" in sent
    assert "and 1490 more" in failed
    assert "Unable to replicate" in failed
    assert len(broker.parts.auto_topics._failed_ms) == FAILED_NAMES_MAX
