"""An operator's questions: can a broker stop, how large must a cluster be, where is a topic hot, more partitions."""

import json
from itertools import islice

import pytest

from ottla.client import Admin, Consumer, NewTopic, Producer, TopicPartition
from ottla.testing import EmbeddedBroker
from tests.clients.server import start_server
from tests.integration.cli.ottla_command import Ottla, terminal
from tests.kafka.peer import require_kafka

KEYS = 40


@pytest.fixture
def ottla(ottla_fresh_broker: EmbeddedBroker) -> Ottla:
    """The commands, and a broker without topics."""
    return Ottla(ottla_fresh_broker.bootstrap_servers)


def fill(servers: str, topic: str, first: int, last: int) -> None:
    with Producer(bootstrap_servers=servers) as producer:
        for number in range(first, last):
            producer.send(
                topic, b"%d" % number, key=b"k%d" % (number % KEYS), timestamp_ms=1_700_000_000_000 + number,
                headers=[("n", b"%d" % number)],
            )  # fmt: skip


def by_key(servers: str, topic: str, count: int) -> dict[bytes, list[tuple[int, int, tuple[tuple[str, bytes], ...]]]]:
    """Values, timestamps and headers of each key, in the order of its partition."""
    found: dict[bytes, list[tuple[int, int, tuple[tuple[str, bytes], ...]]]] = {}
    places: dict[bytes, set[int]] = {}
    settings = {"bootstrap.servers": servers, "isolation.level": "read_committed", "auto.offset.reset": "earliest"}
    with Consumer(settings) as consumer, Admin(bootstrap_servers=servers) as admin:
        partitions = admin.describe_topics([topic])[topic].partitions
        consumer.assign([TopicPartition(topic, info.partition) for info in partitions])
        for record in islice(consumer, count):
            found.setdefault(record.key, []).append((int(record.value), record.timestamp, record.headers))
            places.setdefault(record.key, set()).add(record.partition)
        assert not consumer.poll(0.2)
    assert all(len(numbers) == 1 for numbers in places.values())
    return found


def expected(count: int) -> dict[bytes, list[tuple[int, int, tuple[tuple[str, bytes], ...]]]]:
    return {
        b"k%d" % key: [(n, 1_700_000_000_000 + n, (("n", b"%d" % n),)) for n in range(key, count, KEYS)]
        for key in range(KEYS)
    }


def repartition_keeps_order(ottla: Ottla) -> None:
    servers = ottla.bootstrap
    assert ottla("topics", "create", "old", "-p", "3", "-c", "retention.ms=-1").code == 0
    fill(servers, "old", 0, 2_000)
    assert "say how many partitions" in ottla("topics", "repartition", "old", "new").err
    done = ottla("topics", "repartition", "old", "new", "-p", "7")
    assert (done.code, done.out.startswith("Copied 2,000 records from old (3) to new (7 partitions)")) == (0, True), (
        done
    )
    fill(servers, "old", 2_000, 2_500)
    again = ottla("topics", "repartition", "old", "new", "--json").document
    assert (again["records"], again["left"]) == (500, 0)
    assert by_key(servers, "new", 2_500) == expected(2_500)
    assert "retention.ms = -1" in ottla("topics", "describe", "new").lines
    fill(servers, "new", 0, 1)
    assert "holds records that no copy of" in ottla("topics", "repartition", "new", "old").err
    # The name is free again: what its earlier owner got counts no more.
    assert ottla("topics", "delete", "new", "--yes").code == 0
    assert ottla("topics", "repartition", "old", "new", "-p", "2", "--json").document["records"] == 2_500
    assert by_key(servers, "new", 2_500) == expected(2_500)


def sizes_show_the_hottest(ottla: Ottla) -> None:
    ottla("topics", "create", "skewed", "-p", "3")
    with Producer(bootstrap_servers=ottla.bootstrap) as producer:
        for partition, count in ((0, 10), (1, 300), (2, 50)):
            for _ in range(count):
                producer.send("skewed", b"x" * 100, partition=partition)
    (shown,) = ottla("topics", "describe", "skewed", "--sizes", "--seconds", "0.2", "--json").document
    assert [(found["partition"], found["records"]) for found in shown["partitions"]] == [(1, 300), (2, 50), (0, 10)]
    assert shown["size_skew"] > 2
    text = ottla("topics", "describe", "skewed", "--sizes", "--seconds", "0.2")
    assert text.lines[2].split()[:3] == ["PARTITION", "LEADER", "SIZE"]
    assert text.lines[-1].startswith("Partition 1 holds 2.")


def test_a_topic_is_copied_into_more_partitions_in_order_per_key(ottla: Ottla) -> None:
    repartition_keeps_order(ottla)


def test_sizes_show_the_hottest_partition_first(ottla: Ottla) -> None:
    sizes_show_the_hottest(ottla)


def test_more_partitions_warn_where_keys_would_move(ottla: Ottla) -> None:
    ottla("topics", "create", "keyed", "plain", "-p", "3")
    ottla("topics", "create", "table", "-p", "2", "-c", "cleanup.policy=compact")
    fill(ottla.bootstrap, "keyed", 0, 50)
    ottla("produce", "plain", stdin=b"a\nb\n")
    warned = ottla("topics", "alter", "keyed", "-p", "6")
    assert (warned.code, warned.out) == (0, "keyed has 6 partitions, 3 before.\n")
    assert "about 50% of all keys move" in warned.err
    assert "ottla topics repartition keyed NEW -p 6" in warned.err
    assert ottla("topics", "alter", "plain", "-p", "6").err == ""
    assert "has records with keys" in ottla("topics", "alter", "table", "-p", "3", "--dry-run").err
    with terminal(ottla.bootstrap, "topics", "alter", "keyed", "-p", "9") as session:
        session.wait_for("[y/N]")
        session.type("n\n")
        assert session.wait() == 1
    assert "6 partitions" in ottla("topics", "describe", "keyed").lines[0]


def test_a_lone_broker_cannot_stop_without_harm(ottla: Ottla) -> None:
    ottla("topics", "create", "orders", "-p", "2")
    done = ottla("cluster", "can-stop", "1")
    assert done.code == 1
    assert "2 partitions would have no leader, since no other replica is in sync: orders-0, orders-1" in done.out
    assert "there is no broker 7; the cluster has 1" in ottla("cluster", "can-stop", "7").err
    assert "name the broker" in ottla("cluster", "can-stop").err


def test_a_plan_from_given_and_from_measured_rates(ottla: Ottla) -> None:
    done = ottla("plan", "--target", "200MB/s", "--produce", "10MB/s", "--consume", "25MB/s", "--retention", "1d")
    assert done.code == 0
    assert "20 = max(200.0 MB / 10.0 MB, … / 25.0 MB); 21 spread evenly" in done.out
    assert "or --measure it" in ottla("plan", "--target", "200MB/s").err
    measured = ottla("plan", "--target", "1GB/s", "--measure", "--seconds", "0.3", "--replicas", "1", "--json").document
    assert measured["wish"]["produce"] > 0
    assert measured["plan"]["partitions"] >= 1e9 / max(measured["wish"]["produce"], measured["wish"]["consume"]) - 1
    assert ottla("topics", "list", "--json").document == []


@pytest.mark.long
def test_the_questions_on_apache_kafka(tmp_path_factory: pytest.TempPathFactory) -> None:
    require_kafka()
    server = start_server("kafka", tmp_path_factory.mktemp("questions"))
    try:
        ottla = Ottla(server.bootstrap)
        repartition_keeps_order(ottla)
        sizes_show_the_hottest(ottla)
        with Admin(bootstrap_servers=server.bootstrap) as admin:
            admin.create_topics([NewTopic("keyed", 3)])
        fill(server.bootstrap, "keyed", 0, 50)
        assert "about 50% of all keys move" in ottla("topics", "alter", "keyed", "-p", "6").err
        asked = ottla("cluster", "can-stop", "1", "--json")
        assert (asked.code, len(json.loads(asked.out)["offline"]) > 3) == (1, True)
        assert ottla("plan", "--target", "1GB/s", "--measure", "--seconds", "0.3", "--replicas", "1").code == 0
    finally:
        server.stop()
