"""Ranges of offsets as Arrow batches: exactly the records that are in them, or an error."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from ottla.client import Admin, NewTopic, Producer, RangeReader, RecordsLostError, TopicPartition
from ottla.client.errors import ClosedError, KafkaTimeoutError
from tests.clients.topic import create
from tests.kafka.server import Server

pytest.importorskip("pyarrow")


def fill(server: Server, topic: str, count: int) -> None:
    """Numbers as values, in batches of some records."""
    create(server, topic)
    with Producer(bootstrap_servers=server.bootstrap, batch_size=500, linger_ms=0) as producer:
        for number in range(count):
            producer.send(topic, b"%d" % number, key=b"k", partition=0, headers=[("h", b"1")])


def column(batches: Any, name: str) -> list[Any]:
    return list(itertools.chain.from_iterable(batch.column(name).to_pylist() for batch in batches))


@pytest.mark.parametrize(("start", "end"), [(0, 1_000), (0, 1), (999, 1_000), (13, 14), (17, 951), (5, 5)])
def test_exactly_the_range(server: Server, topic: str, start: int, end: int) -> None:
    fill(server, topic, 1_000)
    with RangeReader(bootstrap_servers=server.bootstrap, max_partition_fetch_bytes=2_000) as reader:
        found = list(reader.read(topic, 0, start=start, end=end))
    assert column(found, "offset") == list(range(start, end))
    assert column(found, "value") == [b"%d" % number for number in range(start, end)]


@pytest.mark.parametrize("columns", [["value"], ["offset", "value"], ["topic", "partition"], ["headers", "key"]])
def test_columns_that_were_asked_for(server: Server, topic: str, columns: Sequence[str]) -> None:
    fill(server, topic, 20)
    with RangeReader(bootstrap_servers=server.bootstrap) as reader:
        [batch] = reader.read(topic, 0, start=3, end=7, columns=columns)
        with pytest.raises(ValueError, match="columns are some of"):
            next(reader.read(topic, 0, start=3, end=7, columns=["colour"]))
    assert batch.schema.names == columns
    assert batch.num_rows == 4


def test_aborted_records_are_left_out_and_markers_are_no_loss(server: Server, topic: str) -> None:
    create(server, topic)
    with Producer(bootstrap_servers=server.bootstrap, transactional_id=topic) as producer:
        producer.init_transactions()
        for number in range(6):
            producer.begin_transaction()
            producer.send(topic, b"%d" % number, partition=0).result(30)
            if number % 2:
                producer.abort_transaction()
            else:
                producer.commit_transaction()
    with RangeReader(bootstrap_servers=server.bootstrap, isolation_level="read_committed") as reader:
        assert column(reader.read(topic, 0, start=0, end=12), "value") == [b"0", b"2", b"4"]
    with RangeReader(bootstrap_servers=server.bootstrap) as reader:
        assert column(reader.read(topic, 0, start=0, end=12), "offset") == [0, 2, 4, 6, 8, 10]


def test_deleted_records_are_an_error(server: Server, topic: str) -> None:
    fill(server, topic, 20)
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        admin.delete_records({TopicPartition(topic, 0): 10})
    with RangeReader(bootstrap_servers=server.bootstrap) as reader:
        with pytest.raises(RecordsLostError, match="begins at 10: 5 is gone"):
            list(reader.read(topic, 0, start=5, end=20))
        assert column(reader.read(topic, 0, start=10, end=20), "offset") == list(range(10, 20))


@pytest.mark.parametrize("is_made_anew", [False, True], ids=["deleted", "made anew"])
def test_topic_that_goes_while_it_is_read(server: Server, topic: str, *, is_made_anew: bool) -> None:
    fill(server, topic, 1_000)
    with (
        Admin(bootstrap_servers=server.bootstrap) as admin,
        RangeReader(bootstrap_servers=server.bootstrap, max_partition_fetch_bytes=500) as reader,
    ):
        batches = reader.read(topic, 0, start=0, end=1_000)
        next(batches)
        admin.delete_topics([topic])
        if is_made_anew:
            admin.create_topics([NewTopic(topic, 1, 1)])
        with pytest.raises(RecordsLostError, match="deleted and made anew" if is_made_anew else "was deleted"):
            list(batches)


def test_records_that_do_not_come(server: Server, topic: str) -> None:
    fill(server, topic, 10)
    with (
        RangeReader(bootstrap_servers=server.bootstrap, default_api_timeout_ms=500, request_timeout_ms=400) as reader,
        pytest.raises(KafkaTimeoutError, match=r"from offset 10 on within 500 ms \(default\.api\.timeout\.ms\)"),
    ):
        list(reader.read(topic, 0, start=0, end=11))


def test_closed_reader(server: Server, topic: str) -> None:
    fill(server, topic, 10)
    reader = RangeReader(bootstrap_servers=server.bootstrap)
    reader.close()
    reader.close()
    with pytest.raises(ClosedError):
        next(reader.read(topic, 0, start=0, end=10))
