"""A Python connector's columns, and what makes rows of them: partitioners, interceptors, headers, other converters."""

from collections.abc import Callable
from pathlib import Path

import confluent_kafka
import pytest

pytest.importorskip("pyarrow", reason="needs pyarrow: pip install ottla[arrow]")

from tests.integration.pipelines.conftest import CreateTopic
from tests.integration.pipelines.connect.task_host import TaskHost
from tests.integration.pipelines.connect.test_sink_task import kept, produce
from tests.integration.pipelines.connect.test_source_task import stored, values
from tests.kafka.server import Server

HERE = "tests.integration.pipelines.connect.column_connectors"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
STRING = "org.apache.kafka.connect.storage.StringConverter"
JSON = "org.apache.kafka.connect.json.JsonConverter"
Message = confluent_kafka.Message


def messages(broker: Server, topic: str, count: int) -> list[Message]:
    """So many records of the topic, with a client that is not ours, in the order of their partitions."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "look"})
    try:
        numbers = consumer.list_topics(topic, timeout=60).topics[topic].partitions
        consumer.assign([confluent_kafka.TopicPartition(topic, number, 0) for number in numbers])
        found = consumer.consume(count, 60)
    finally:
        consumer.close()
    return sorted(found, key=lambda message: (message.partition(), message.offset()))


def by_key(message: Message) -> int:
    return 0 if message.key() in (b"k1", b"k2") else 2


def headers(message: Message) -> list[tuple[str, bytes]]:
    return message.headers() or []


@pytest.mark.parametrize(
    ("given", "worker", "holds"),
    [
        pytest.param({}, {}, lambda found: found.timestamp()[1] == int(found.value()[1:]), marks=pytest.mark.long),
        pytest.param({"kind": "bytes"}, {"key_converter": BYTES, "value_converter": BYTES},
                     lambda found: not headers(found), marks=pytest.mark.long),
        ({"producer.override.partitioner.class": f"{HERE}:LastPartition", "producer.override.first.keys": "k1,k2"}, {},
         lambda found: found.partition() == by_key(found)),
        pytest.param({"producer.override.interceptor.classes": f"{HERE}:Stamp"}, {},
                     lambda found: headers(found) == [("stamp", b"1")], marks=pytest.mark.long),
        ({"producer.override.interceptor.classes": f"{HERE}:Stamp", "has": "keys,times,headers"},
         {"header_converter": BYTES}, lambda found: headers(found) == [("h", b"7"), ("stamp", b"1")]),
        pytest.param({"has": "keys,times,headers", "transforms": "in", "transforms.in.type": "InsertHeader",
                      "transforms.in.header": "i", "transforms.in.value.literal": "5"}, {"header_converter": STRING},
                     lambda found: headers(found) == [("h", b"Nw=="), ("i", b"5")], marks=pytest.mark.long),
    ],
    ids=["plain", "bytes", "partitioner", "interceptor", "interceptor-headers", "transform-headers"],
)  # fmt: skip
def test_columns_are_the_records_that_rows_would_be(
    broker: Server, topic: CreateTopic, tmp_path: Path, given: dict[str, str], worker: dict[str, str],
    holds: Callable[[Message], bool],
) -> None:  # fmt: skip
    target = topic(partitions=3)
    config = {"connector.class": f"{HERE}:Blocks", "topic": target, "count": "250", "has": "keys,times", **given}
    with TaskHost(broker.bootstrap, tmp_path / target, config, **worker) as tasks:
        tasks.wait_until(lambda: stored(broker, target) == {'{"blocks": "only"}': {"next": 250}})
        tasks.wait_until(lambda: tasks.parts()[0].records == 250)
    found = messages(broker, target, 250)
    assert sorted(int(each.value()[1:]) for each in found) == list(range(250))
    assert all(each.key() == b"k%d" % (int(each.value()[1:]) % 7) for each in found)
    assert all(holds(each) for each in found)
    for key in {each.key() for each in found}:
        numbers = [int(each.value()[1:]) for each in found if each.key() == key]
        assert numbers == sorted(numbers), "records of a key keep their order"


def test_columns_alone_are_enough_where_they_have_to_be_rows(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    target, name = topic(), "rows"
    config = {
        "connector.class": f"{HERE}:Blocks", "topic": target, "count": "120", "block": "60", "has": "large",
        "errors.tolerance": "all", "producer.override.interceptor.classes": f"{HERE}:Stamp",
    }  # fmt: skip
    worker = {"value_converter": JSON, "value_converter_schemas_enable": "false"}
    for count in (120, 180):
        config["count"] = str(count)
        with TaskHost(
            broker.bootstrap, tmp_path / name, config, exactly_once_source_support="enabled", **worker
        ) as tasks:
            wanted = {'{"blocks": "only"}': {"next": count}}
            tasks.wait_until(lambda wanted=wanted: stored(broker, name) == wanted)  # type: ignore[misc]
    # The last of each block is too large, and tolerated.
    assert sorted(values(broker, target)) == sorted(f'"v{number}"' for number in range(180) if number % 60 != 59)


def test_a_consumers_interceptor_sees_what_a_sink_would_take_as_a_column(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    source = topic()
    produce(broker, source, b"a", b"b")
    for number, (given, wanted) in enumerate(
        [({}, ["text", "a"]), ({"consumer.override.interceptor.classes": f"{HERE}:Without"}, ["row", "b"])]
    ):
        file = tmp_path / str(number)
        config = {"connector.class": f"{HERE}:Texts", "topics": source, "file": str(file), **given}
        with TaskHost(broker.bootstrap, tmp_path / f"texts-{number}", config) as tasks:
            tasks.wait_until(lambda file=file: ["b"] in [each[1:] for each in kept(file)])  # type: ignore[misc]
        assert kept(file)[0] == wanted
