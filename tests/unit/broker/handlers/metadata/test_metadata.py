"""Metadata as clients of every version see it."""

import pytest

from ottla.base.ids import ZERO_UUID
from ottla.protocol.messages.broker_registration import Listener
from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.unit.broker.small_broker import SmallBroker, StillConnection
from tests.unit.metadata.cluster import CLUSTER_ID, uuid_of

ALL_VERSIONS = range(14)
NOT_ASKED = -2147483648


def named(*names: str | None, auto: bool = True, **options: bool) -> MetadataRequest:
    topics = [MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=auto, **options)


@pytest.mark.parametrize("version", ALL_VERSIONS)
def test_all_topics(version: int) -> None:
    broker = SmallBroker(brokers=2)
    broker.cluster.create("a", [1, 2], [2, 1])
    broker.cluster.create("__consumer_offsets", [1])
    answer = broker.ask(MetadataRequest(topics=None if version else []), version)
    assert [(found.node_id, found.port) for found in answer.brokers] == [(1, 9093), (2, 9094)]
    topics = {topic.name: topic for topic in answer.topics}
    assert sorted(topics) == ["__consumer_offsets", "a"]
    assert [partition.leader_id for partition in topics["a"].partitions] == [1, 2]
    assert topics["a"].partitions[1].replica_nodes == [2, 1]
    assert topics["a"].partitions[1].isr_nodes == [2, 1]
    assert topics["__consumer_offsets"].is_internal is (version >= 1)
    assert answer.cluster_id == (CLUSTER_ID if version >= 2 else None)
    assert answer.controller_id == (1 if version >= 1 else -1)
    assert any(topics["a"].topic_id) is (version >= 10)
    assert topics["a"].topic_authorized_operations == NOT_ASKED


@pytest.mark.parametrize("version", range(1, 14))
def test_no_topics(version: int) -> None:
    broker = SmallBroker()
    broker.cluster.create("a", [1])
    answer = broker.ask(MetadataRequest(topics=[]), version)
    assert answer.topics == []
    assert len(answer.brokers) == 1


def test_a_name_that_is_asked_for_twice_is_answered_once() -> None:
    broker = SmallBroker()
    broker.cluster.create("a", [1])
    answer = broker.ask(named("a", "nowhere", "a", "nowhere", auto=False), 13)
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [("a", 0), ("nowhere", 3)]


def test_names_that_no_topic_may_have() -> None:
    answer = SmallBroker().ask(named("", "a b", ".", auto=False), 12)
    assert {topic.error_code for topic in answer.topics} == {17}


@pytest.mark.parametrize("version", [12, 13])
def test_by_id(version: int) -> None:
    broker = SmallBroker()
    broker.cluster.create("a", [1])
    topic_id = broker.metadata.topic_id("a")
    topics = [MetadataRequestTopic(topic_id=id_, name=None) for id_ in (topic_id, uuid_of(9), topic_id)]
    answer = broker.ask(MetadataRequest(topics=topics, include_topic_authorized_operations=True), version)
    unknown, found = answer.topics
    assert (unknown.error_code, unknown.name, unknown.topic_id) == (100, None, uuid_of(9))
    assert unknown.topic_authorized_operations == NOT_ASKED
    assert (found.error_code, found.name, found.topic_authorized_operations) == (0, "a", 3576)


@pytest.mark.parametrize("version", [10, 11])
def test_by_id_before_it_was_possible(version: int) -> None:
    broker = SmallBroker()
    answer = broker.ask(MetadataRequest(topics=[MetadataRequestTopic(topic_id=uuid_of(9), name="a")]), version)
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [("a", 42)]
    assert answer.brokers == []
    answer = broker.ask(named(None), version)
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [("", 42)]


def test_neither_name_nor_id() -> None:
    answer = SmallBroker().ask(MetadataRequest(topics=[MetadataRequestTopic(topic_id=ZERO_UUID, name=None)]), 13)
    assert [topic.error_code for topic in answer.topics] == [-1]
    assert answer.error_code == -1
    assert answer.brokers == []


def test_names_beside_ids_are_ignored() -> None:
    broker = SmallBroker()
    broker.cluster.create("a", [1])
    topics = [MetadataRequestTopic(topic_id=broker.metadata.topic_id("a"), name=None), MetadataRequestTopic(name="b")]
    assert [topic.name for topic in broker.ask(MetadataRequest(topics=topics), 12).topics] == ["a"]


def test_operations_if_asked_for() -> None:
    broker = SmallBroker()
    broker.cluster.create("a", [1])
    asked = named(
        "a",
        "nowhere",
        auto=False,
        include_topic_authorized_operations=True,
        include_cluster_authorized_operations=True,
    )
    answer = broker.ask(asked, 10)
    assert [topic.topic_authorized_operations for topic in answer.topics] == [3576, 3576]
    assert answer.cluster_authorized_operations == 8096


def test_a_missing_topic_is_created_and_unknown_until_it_is_there() -> None:
    broker = SmallBroker()
    broker.channel.is_cut = True
    for _ in range(3):
        answer = broker.ask(named("new"), 9)
        assert [(topic.name, topic.error_code) for topic in answer.topics] == [("new", 3)]
    assert len(broker.channel.sent) == 1, "a topic is asked for once at a time"


@pytest.mark.parametrize("version", [0, 3, 4, 13])
def test_a_created_topic_is_answered(version: int) -> None:
    broker = SmallBroker()
    assert broker.ask(named("new"), version).topics[0].error_code == 3
    answer = broker.ask(named("new"), version)
    assert [(topic.error_code, len(topic.partitions)) for topic in answer.topics] == [(0, 1)]


def test_nothing_is_created_where_client_or_broker_forbid_it() -> None:
    broker = SmallBroker()
    broker.ask(named("new", auto=False), 4)
    broker.ask(MetadataRequest(topics=None), 4)
    broker.ask(named("a b"), 4)
    forbidding = SmallBroker(auto_create_topics_enable="false")
    assert forbidding.ask(named("new"), 4).topics[0].error_code == 3
    assert broker.channel.sent == forbidding.channel.sent == []


def test_a_leader_without_an_address_for_this_listener() -> None:
    broker = SmallBroker()
    inside = [Listener(name="INSIDE", host="inside-2", port=9002)]
    broker.cluster.start(2, listeners=inside)
    broker.cluster.create("a", [2, 1])
    codes = {}
    for version in (0, 5, 6, 13):
        partition = broker.ask(named("a"), version).topics[0].partitions[0]
        assert partition.leader_id == -1
        codes[version] = partition.error_code
    assert codes == {0: 5, 5: 5, 6: 72, 13: 72}
    assert broker.ask(named("a"), 13).topics[0].partitions[0].offline_replicas == [2]
    through = StillConnection(listener="INSIDE")
    answer = broker.ask(named("a"), 13, through)
    assert answer.topics[0].partitions[0].leader_id == 2
    assert [(found.node_id, found.host) for found in answer.brokers] == [(2, "inside-2")]


def test_a_partition_without_a_leader() -> None:
    broker = SmallBroker(brokers=2)
    broker.cluster.create("a", [2])
    broker.cluster.fence(2)
    partition = broker.ask(named("a"), 13).topics[0].partitions[0]
    assert (partition.error_code, partition.leader_id, partition.offline_replicas) == (5, -1, [2])


def test_the_oldest_clients_get_only_replicas_they_can_look_up() -> None:
    broker = SmallBroker(brokers=3)
    broker.cluster.create("a", [1, 2, 3])
    broker.cluster.fence(3)
    partition = broker.ask(named("a"), 0).topics[0].partitions[0]
    assert (partition.error_code, partition.leader_id) == (9, 1)
    assert (partition.replica_nodes, partition.isr_nodes) == ([1, 2], [1, 2])
    assert broker.ask(named("a"), 1).topics[0].partitions[0].replica_nodes == [1, 2, 3]


def test_an_equal_request_is_answered_from_what_is_prepared_and_never_with_what_was() -> None:
    broker = SmallBroker()
    broker.cluster.create("a", [1])
    request = named("a", "b", auto=False)
    first = broker.ask(request, 12)
    handled = broker.pipeline.route(request.api, 12)
    assert handled is not None

    def fail(*_: object) -> None:
        raise AssertionError("not prepared")

    handle, handled.handle = handled.handle, fail
    assert broker.ask(request, 12) == first
    handled.handle = handle
    broker.cluster.create("b", [1], [1])
    answer = broker.ask(request, 12)
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [("a", 0), ("b", 0)]


def test_what_is_prepared_is_for_one_listener_and_one_dialled_address() -> None:
    broker = SmallBroker(follow_dialled_address=True)
    broker.cluster.create("a", [1])
    for port in (9093, 19_093, 9093):
        answer = broker.ask(named("a"), 9, StillConnection(local=("127.0.0.1", port)))
        assert [found.port for found in answer.brokers] == [port]
    assert broker.ask(named("a"), 9, StillConnection(listener="ELSE")).brokers == []


def test_an_answer_that_creates_a_topic_is_not_prepared() -> None:
    broker = SmallBroker()
    broker.channel.is_cut = True
    broker.ask(named("new"), 9)
    broker.channel.is_cut = False
    broker.clock.ms += 60_000
    broker.parts.auto_topics._under_way.clear()
    broker.ask(named("new"), 9)
    assert len(broker.channel.sent) == 2


@pytest.mark.parametrize("how", ["waiting", "timers"])
def test_a_topic_is_told_when_its_leader_here_is_set_up_or_after_a_while(how: str) -> None:
    broker = SmallBroker()
    broker.setup.applied_offset = -1
    broker.cluster.create("new", [1])
    request = named("new")
    exchange = broker.send(request, 12)
    assert exchange.frame is None
    for go_on in (*getattr(broker.setup, how), *broker.setup.waiting):
        go_on()
    answer = broker.answer(exchange, request, 12)
    assert [(topic.name, topic.partitions[0].leader_id) for topic in answer.topics] == [("new", 1)]


def test_nobody_waits_for_partitions_that_others_lead() -> None:
    broker = SmallBroker(brokers=2)
    broker.setup.applied_offset = -1
    broker.cluster.create("theirs", [2])
    assert [topic.name for topic in broker.ask(named("theirs"), 12).topics] == ["theirs"]
    assert broker.setup.waiting == []
