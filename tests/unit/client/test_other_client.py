"""Users of other clients are told what to write instead, at the terminal, in the words of their own program."""

from typing import Any

import pytest

from ottla.client import Admin, AsyncAdmin, AsyncConsumer, AsyncProducer, Consumer, NewTopic, Producer, TopicPartition
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.other_client import INSTEAD, RENAMED
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings, UnknownSettingError
from ottla.client.errors import InvalidStateError

KINDS = (PRODUCER_KEYS, CONSUMER_KEYS, ADMIN_KEYS)
NOWHERE = {"bootstrap_servers": "127.0.0.1:1"}


@pytest.mark.parametrize("client", [Producer, AsyncProducer, Admin, AsyncAdmin])
def test_an_address_alone_is_answered_with_the_setting(client: Any) -> None:
    with pytest.raises(TypeError, match=r'not \'host:9092\': write bootstrap_servers="host:9092"'):
        client("host:9092")


@pytest.mark.parametrize("client", [Consumer, AsyncConsumer])
def test_topics_are_no_argument_of_a_consumer(client: Any) -> None:
    with pytest.raises(TypeError, match=r"not 'orders': write bootstrap_servers=.*, then subscribe\(\['orders'\]\)"):
        client("orders", **NOWHERE)
    with pytest.raises(TypeError, match=r"then subscribe\(\['orders', 'payments'\]\)"):
        client("orders", "payments", **NOWHERE)
    with pytest.raises(TypeError, match=r'write bootstrap_servers="host:9092"'):
        client("host:9092")


def test_calls_of_other_clients_name_ours() -> None:
    with Consumer(**NOWHERE) as consumer:
        for name, ours in (("consume", "poll(seconds)"), ("getmany", "poll(seconds)"), ("topics", "list_topics()")):
            with pytest.raises(AttributeError) as caught:
                getattr(consumer, name)
            assert ours in str(caught.value)
        with pytest.raises(AttributeError, match=r"^'Consumer' object has no attribute 'pol'$"):
            consumer.pol  # noqa: B018
        poll: Any = consumer.poll
        with pytest.raises(TypeError, match=r"poll\(\) has no argument timeout_ms: write timeout in seconds"):
            poll(timeout_ms=100)
        commit: Any = consumer.commit
        with pytest.raises(TypeError, match="commit_async"):
            commit(asynchronous=True)
        with pytest.raises(TypeError, match=r"write commit\({TopicPartition\("):
            commit([TopicPartition("orders", 0)])
        assign: Any = consumer.assign
        for given in (TopicPartition("orders", 0), "orders"):
            with pytest.raises(TypeError, match=r"write assign\(\[TopicPartition\("):
                assign(given)
    producer: Any = AsyncProducer(**NOWHERE)
    with pytest.raises(AttributeError, match=r"'produce': it sends with send\(topic, value, key"):
        producer.produce("orders", b"1")
    admin: Any = AsyncAdmin(**NOWHERE)
    with pytest.raises(AttributeError, match=r"it lists groups with list_groups\(\)"):
        admin.list_consumer_groups()


@pytest.mark.parametrize(
    ("call", "given", "said"),
    [
        ("create_topics", "orders", 'create_topics([NewTopic("orders")])'),
        ("create_topics", ["orders"], 'create_topics([NewTopic("orders")])'),
        ("create_topics", NewTopic("orders"), 'create_topics([NewTopic("orders")])'),
        ("delete_topics", "ab", "delete_topics(['ab'])"),
        ("describe_topics", "ab", "describe_topics(['ab'])"),
        ("create_partitions", "orders", 'create_partitions({"orders": 6})'),
        ("delete_groups", "ab", "delete_groups(['ab'])"),
        ("describe_consumer_groups", "ab", "describe_consumer_groups(['ab'])"),
        ("describe_classic_groups", "ab", "describe_classic_groups(['ab'])"),
    ],
)
def test_one_thing_where_several_are_taken_is_refused_before_anything_is_sent(
    call: str, given: object, said: str
) -> None:
    admin = AsyncAdmin(**NOWHERE)
    with pytest.raises(TypeError) as caught:
        getattr(admin, call)(given).send(None)
    assert f"write {said}" in str(caught.value)


ONE_OR_SEVERAL = ["assign", "pause", "resume", "seek_to_beginning", "seek_to_end"]
ONE_OR_SEVERAL += ["committed", "beginning_offsets", "end_offsets"]


@pytest.mark.parametrize("call", ONE_OR_SEVERAL)
@pytest.mark.parametrize("given", [TopicPartition("orders", 0), "orders"], ids=["partition", "topic"])
def test_one_partition_where_several_are_taken_is_refused(call: str, given: Any) -> None:
    with Consumer(**NOWHERE, group_id="g") as consumer, pytest.raises(TypeError) as caught:
        getattr(consumer, call)(given)
    assert f'write {call}([TopicPartition("orders", 0)])' in str(caught.value)


def test_a_pattern_among_topics_is_no_topic() -> None:
    with Consumer(**NOWHERE, group_id="g") as consumer:
        with pytest.raises(InvalidStateError, match=r"write subscribe\(pattern=re\.compile\('orders\.\*'\)\)"):
            consumer.subscribe(["^orders.*"])
        assert not consumer.subscription()


def test_a_new_topic_names_its_own_fields() -> None:
    make: Any = NewTopic
    for theirs, ours in (("num_partitions", "partitions"), ("topic_configs", "configs"), ("config", "configs")):
        with pytest.raises(TypeError, match=f"has no argument {theirs}: write {ours}$"):
            make("orders", **{theirs: 3})
    assert NewTopic("orders", 3, configs={"a": "b"})._replace(partitions=4) == ("orders", 4, None, None, {"a": "b"})
    assert repr(NewTopic("orders")).startswith("NewTopic(name='orders', partitions=None,")


@pytest.mark.parametrize(
    ("keys", "given", "said"),
    [
        (PRODUCER_KEYS, {"queue.buffering.max.ms": 5}, "unknown setting queue.buffering.max.ms: write linger.ms"),
        (PRODUCER_KEYS, {"message.timeout.ms": 5}, "unknown setting message.timeout.ms: write delivery.timeout.ms"),
        (CONSUMER_KEYS, {"sasl.mechanisms": "PLAIN"}, "unknown setting sasl.mechanisms: write sasl.mechanism"),
        (CONSUMER_KEYS, {"error_cb": print}, "unknown setting error_cb: calls raise their errors"),
        (CONSUMER_KEYS, {"queue.buffering.max.ms": 5}, "only producers have it, as linger.ms"),
        (PRODUCER_KEYS, {"group.id": "a"}, "unknown setting group.id: only consumers have it"),
    ],
)
def test_settings_of_other_clients_name_ours(keys: Any, given: dict[str, object], said: str) -> None:
    with pytest.raises(UnknownSettingError) as caught:
        ClientSettings.of(keys, {"bootstrap.servers": "a:1", **given})
    assert said in str(caught.value)


def test_a_keyword_is_answered_with_a_keyword() -> None:
    with pytest.raises(UnknownSettingError, match="unknown setting ssl_cafile: write ssl_truststore_location"):
        ClientSettings.of(PRODUCER_KEYS, bootstrap_servers="a:1", ssl_cafile="ca.pem")
    with pytest.raises(UnknownSettingError, match="unknown setting api_version: leave it out"):
        ClientSettings.of(PRODUCER_KEYS, bootstrap_servers="a:1", api_version=(2, 0))


def test_what_is_advised_exists_and_what_is_refused_does_not() -> None:
    for theirs, ours in RENAMED.items():
        assert any(ours in keys for keys in KINDS), ours
        assert not any(theirs in keys for keys in KINDS), theirs
    assert not [name for name in INSTEAD if any(name in keys for keys in KINDS)]
    assert not RENAMED.keys() & INSTEAD.keys()
