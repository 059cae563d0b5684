"""What `KafkaStreams` does on the cluster before it runs: topics made, old state checked, where to begin. No Spark."""

import json
from pathlib import Path

import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.config import ConfigResource, ConfigResourceType
from ottla.client.producer.producer import Producer
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.pipelines.streams.setting import StreamsSettings
from ottla.pipelines.streams.topic_setup import TopicSetup
from ottla.streams import Consumed, Grouped, Materialized, Serdes, StreamsBuilder, Topology
from ottla.streams.errors import TopologyError
from ottla.streams.host.internal_topic import MissingInternalTopicError
from ottla.streams.host.kept_time import times_to_text
from ottla.streams.host.layout import IncompatibleTopologyError
from tests.integration.pipelines.conftest import CreateTopic
from tests.kafka.server import Server

TEXT = Serdes.string()
NOTE = times_to_text({})
"""What tasks leave with an offset."""


def counting(topic: str, store: str = "counts") -> Topology:
    builder = StreamsBuilder()
    grouped = builder.stream(topic, Consumed.with_(TEXT, TEXT)).group_by(lambda k, v: v, Grouped.with_(TEXT, TEXT))
    grouped.count(materialized_as=Materialized.as_(store))
    return builder.build()


def setup(topology: Topology, broker: Server, application_id: str, directory: Path) -> TopicSetup:
    config = {
        "application.id": application_id,
        "bootstrap.servers": broker.bootstrap,
        "state.dir": str(directory),
        "replication.factor": "1",
    }
    return TopicSetup(topology, config, StreamsSettings.of(config))


def test_internal_topics_are_made_as_kafka_streams_makes_them(
    broker: Server, admin: Admin, topic: CreateTopic, tmp_path: Path
) -> None:
    source = topic(partitions=3)
    application, start = setup(counting(source), broker, "made", tmp_path).prepare()
    assert application.inputs == (source, "made-counts-repartition")
    assert json.loads(start) == {name: {"0": -2, "1": -2, "2": -2} for name in application.inputs}
    found = admin.describe_topics(["made-counts-repartition", "made-counts-changelog"])
    assert {name: len(one.partitions) for name, one in found.items()} == {
        "made-counts-changelog": 3,
        "made-counts-repartition": 3,
    }
    [configs] = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, "made-counts-changelog")]).values()
    assert configs["cleanup.policy"].value == "compact"
    # Whoever starts it again finds it.
    setup(counting(source), broker, "made", tmp_path).prepare()


def test_it_begins_where_its_group_is(broker: Server, admin: Admin, topic: CreateTopic, tmp_path: Path) -> None:
    source = topic(partitions=2)
    setup(counting(source), broker, "begun", tmp_path).prepare()
    admin.alter_consumer_group_offsets("begun", {TopicPartition(source, 1): 0})
    _, start = setup(counting(source), broker, "begun", tmp_path).prepare()
    assert json.loads(start)[source] == {"0": -2, "1": 0}


def test_a_changelog_that_is_gone_is_not_made_anew(
    broker: Server, admin: Admin, topic: CreateTopic, tmp_path: Path
) -> None:
    source = topic()
    setup(counting(source), broker, "robbed", tmp_path).prepare()
    admin.alter_consumer_group_offsets("robbed", {TopicPartition(source, 0): OffsetAndMetadata(0, NOTE)})
    admin.delete_topics(["robbed-counts-changelog"])
    with pytest.raises(MissingInternalTopicError, match=r"robbed-counts-changelog is gone, and robbed has run before"):
        setup(counting(source), broker, "robbed", tmp_path).prepare()


def test_a_changelog_that_was_made_anew_is_another_one(
    broker: Server, admin: Admin, topic: CreateTopic, tmp_path: Path
) -> None:
    """As a broker does it by itself when a producer asks for a topic that somebody has deleted."""
    source, name = topic(), "fooled-counts-changelog"
    prepared = setup(counting(source), broker, "fooled", tmp_path)
    application, _ = prepared.prepare()
    admin.alter_consumer_group_offsets("fooled", {TopicPartition(source, 0): OffsetAndMetadata(0, NOTE)})
    prepared.check(application)
    admin.delete_topics([name])
    with pytest.raises(MissingInternalTopicError, match=r"fooled-counts-changelog is gone, .* Reset the application"):
        prepared.check(application)
    topic(name=name)
    for look in (lambda: prepared.check(application), setup(counting(source), broker, "fooled", tmp_path).prepare):
        with pytest.raises(MissingInternalTopicError, match=r"fooled-counts-changelog is gone"):
            look()
    # What is reset has no offsets, and begins with what is there.
    admin.delete_groups(["fooled"])
    setup(counting(source), broker, "fooled", tmp_path).prepare()


def test_an_application_that_was_reset_begins_anew(
    broker: Server, admin: Admin, topic: CreateTopic, tmp_path: Path
) -> None:
    """`kafka-streams-application-reset.sh` deletes the internal topics, and commits the beginnings of the inputs."""
    source = topic()
    with Producer(bootstrap_servers=broker.bootstrap) as producer:
        producer.send(source, b"x", key=b"k").result()
    application, _ = setup(counting(source), broker, "reset", tmp_path).prepare()
    internal = [*(plan.name for plan in application.repartition_topics), "reset-counts-changelog"]
    state, checkpoint = tmp_path / "reset" / "state", tmp_path / "reset" / "checkpoint"
    for path in (state, checkpoint):
        path.mkdir()
    # Deleted by mistake: the group says that there was something.
    admin.alter_consumer_group_offsets("reset", {TopicPartition(source, 0): OffsetAndMetadata(1, NOTE)})
    admin.delete_topics(internal)
    with pytest.raises(MissingInternalTopicError):
        setup(counting(source), broker, "reset", tmp_path).prepare()
    assert checkpoint.exists()
    admin.alter_consumer_group_offsets("reset", {TopicPartition(source, 0): 0})
    # Another topology is no matter any more.
    _, start = setup(counting(source, "totals"), broker, "reset", tmp_path).prepare()
    assert json.loads(start)[source] == {"0": 0}
    assert not state.exists()
    assert not checkpoint.exists()


def test_another_topology_on_old_state_is_refused(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    source = topic()
    setup(counting(source), broker, "changed", tmp_path).prepare()
    with pytest.raises(IncompatibleTopologyError, match=r"has lost the store counts; .* Start it as it was"):
        setup(counting(source, "totals"), broker, "changed", tmp_path).prepare()


def test_more_partitions_of_an_input_are_refused(
    broker: Server, admin: Admin, topic: CreateTopic, tmp_path: Path
) -> None:
    source = topic()
    setup(counting(source), broker, "grown", tmp_path / "here").prepare()
    admin.create_partitions({source: 2})
    with pytest.raises(IncompatibleTopologyError, match="sub-topology 1 had 1 partitions and has 2"):
        setup(counting(source), broker, "grown", tmp_path / "here").prepare()
    # A machine that knows nothing of the old state sees it by the topics.
    with pytest.raises(IncompatibleTopologyError, match="has 1 partitions, and the topology needs 2"):
        setup(counting(source), broker, "grown", tmp_path / "elsewhere").prepare()


def test_a_missing_input_is_named(broker: Server, tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match="there is no topic nowhere: create it first"):
        setup(counting("nowhere"), broker, "lost", tmp_path).prepare()
