"""Fetch as a client sees it, where Apache Kafka's own answers (`test_data_as_kafka`) don't reach."""

from collections.abc import Callable

import pytest

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.fetch import (
    AbortedTransaction,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from ottla.protocol.records.control import ControlRecordType, EndTransactionMarker, write_end_marker
from ottla.protocol.records.reader import read_tuples
from ottla.protocol.records.writer import BatchOptions
from ottla.replication.request.produce import AppendEntry, AppendResult
from ottla.storage.errors import StorageError
from ottla.storage.log.append_info import FROM_COORDINATOR, AppendOptions
from ottla.storage.segment.slice import FileSlice
from tests.unit.broker.data_broker import NOW_MS, DataBroker
from tests.unit.broker.handlers.data.test_produce import batch, produce
from tests.unit.broker.recorder import RecordedConnection, RecordedExchange

VERSIONS = range(4, 19)
ALL = 1 << 20


def wanted(topic: str | Uuid, *offsets: int) -> FetchTopic:
    """Partitions 0, 1, … from these offsets on."""
    asked = FetchTopic(
        partitions=[
            FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=ALL)
            for index, offset in enumerate(offsets)
        ]
    )
    if isinstance(topic, Uuid):
        asked.topic_id = topic
    else:
        asked.topic = topic
    return asked


def fetch(*topics: FetchTopic, **fields: int) -> FetchRequest:
    settings = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": ALL, **fields}
    return FetchRequest(topics=list(topics), **settings)  # type: ignore[arg-type]


def partitions(response: FetchResponse) -> list[PartitionData]:
    return [partition for topic in response.responses for partition in topic.partitions]


def values(partition: PartitionData) -> list[tuple[int, bytes | None]]:
    """Offset and value of each record."""
    assert isinstance(partition.records, memoryview)
    return [(record[0], record[3]) for record in read_tuples(partition.records)]


def fill(broker: DataBroker, topic: str, count: int = 1, index: int = 0) -> None:
    records: list[bytearray] = [batch(count)]
    request = produce(topic, *records)
    request.topic_data[0].partition_data[0].index = index
    assert not broker.send(request, 9).connection.closed_with


def late(exchange: RecordedExchange, version: int = 12) -> FetchResponse:
    response = exchange.response(ApiKey.FETCH, version)
    assert isinstance(response, FetchResponse)
    return response


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_written_is_read(broker: DataBroker, version: int) -> None:
    topic_id = broker.create("orders")
    fill(broker, "orders", 3)
    topic: str | Uuid = topic_id if version >= 13 else "orders"
    response = broker.ask(fetch(wanted(topic, 0)), version, FetchResponse)
    [found] = partitions(response)
    assert values(found) == [(0, b"v"), (1, b"v"), (2, b"v")]
    assert (found.high_watermark, found.last_stable_offset) == (3, 3)
    assert found.aborted_transactions is None
    assert found.preferred_read_replica == -1


def test_records_leave_as_slices_of_their_file(broker: DataBroker) -> None:
    broker.create("orders")
    fill(broker, "orders")
    exchange = broker.send(fetch(wanted("orders", 0)), 12)
    assert [type(piece) for piece in exchange.pieces] == [bytes, FileSlice, bytes]


def test_a_reader_at_the_end_waits_for_what_comes(broker: DataBroker) -> None:
    broker.create("orders", 2)
    exchange = broker.send(fetch(wanted("orders", 0, 0), max_wait_ms=1000), 12)
    assert not exchange.is_done
    assert not exchange.may_proceed
    fill(broker, "orders", index=1)
    broker.loop.run()
    assert [len(values(partition)) for partition in partitions(late(exchange))] == [0, 1]


def test_nobody_waits_for_ever(broker: DataBroker) -> None:
    broker.create("orders")
    exchange = broker.send(fetch(wanted("orders", 0), max_wait_ms=1000), 12)
    broker.loop.advance(900)
    assert not exchange.is_done
    broker.loop.advance(400)
    assert [values(partition) for partition in partitions(late(exchange))] == [[]]


def test_a_reader_may_want_more_than_there_is(broker: DataBroker) -> None:
    broker.create("orders")
    fill(broker, "orders")
    exchange = broker.send(fetch(wanted("orders", 0), max_wait_ms=1000, min_bytes=2 * len(batch())), 12)
    assert not exchange.is_done
    fill(broker, "orders")
    broker.loop.run()
    assert len(values(partitions(late(exchange))[0])) == 2


def test_no_answer_is_larger_than_the_broker_allows(make_broker: Callable[..., DataBroker]) -> None:
    size = len(batch(10))
    broker = make_broker(fetch_max_bytes=str(max(2 * size, 1024)))
    broker.create("orders")
    for _ in range(40):
        fill(broker, "orders", 10)
    response = broker.ask(fetch(wanted("orders", 0), max_bytes=2**31 - 1), 12, FetchResponse)
    assert len(partitions(response)[0].records or b"") <= max(2 * size, 1024)
    # Nor does a fetch wait for more than that.
    exchange = broker.send(fetch(wanted("orders", 0), min_bytes=2**31 - 1, max_wait_ms=60_000), 12)
    assert exchange.is_done


@pytest.mark.parametrize("version", [12, 15, 16, 18])
def test_a_partition_that_moved_comes_with_its_leader(make_broker: Callable[..., DataBroker], version: int) -> None:
    broker = make_broker(brokers=2)
    topic_id = broker.create("orders", replicas=2)
    broker.move(topic_id, leader=2)
    asked = wanted(topic_id if version >= 13 else "orders", 0)
    asked.partitions[0].current_leader_epoch = 0
    response = broker.ask(fetch(asked), version, FetchResponse)
    [refused] = partitions(response)
    assert refused.error_code == ErrorCode.FENCED_LEADER_EPOCH
    tells = version >= 16
    assert refused.current_leader == (LeaderIdAndEpoch(leader_id=2, leader_epoch=1) if tells else LeaderIdAndEpoch())
    endpoint = NodeEndpoint(node_id=2, host="host-2", port=9002, rack="rack-2")
    assert response.node_endpoints == ([endpoint] if tells else [])


@pytest.mark.parametrize(("version", "code"), [(5, 6), (6, 56), (12, 56)])
def test_old_clients_know_no_storage_errors(broker: DataBroker, version: int, code: int) -> None:
    broker.create("orders")
    partition = broker.replicas.get("orders", 0)
    assert partition is not None
    partition.log.offline_error = StorageError("broken", "/somewhere")
    [refused] = partitions(broker.ask(fetch(wanted("orders", 0)), version, FetchResponse))
    partition.log.offline_error = None
    assert refused.error_code == code


def test_readers_of_committed_data_learn_what_was_aborted(broker: DataBroker) -> None:
    broker.create("orders")
    log = broker.replicas.get("orders", 0).log  # type: ignore[union-attr]
    marked = BatchOptions(producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    unverified = AppendOptions(verify_transactions=False)
    log.append_as_leader(batch(2, marked), 0, NOW_MS, unverified)
    log.update_high_watermark(log.log_end_offset)
    open_ = broker.ask(fetch(wanted("orders", 0), isolation_level=1), 12, FetchResponse)
    assert (partitions(open_)[0].last_stable_offset, values(partitions(open_)[0])) == (0, [])
    log.append_as_leader(abort_marker(), 0, NOW_MS, FROM_COORDINATOR)
    log.update_high_watermark(log.log_end_offset)
    [closed] = partitions(broker.ask(fetch(wanted("orders", 0), isolation_level=1), 12, FetchResponse))
    assert closed.aborted_transactions == [AbortedTransaction(producer_id=7, first_offset=0)]
    assert closed.last_stable_offset == 3
    [uncommitted] = partitions(broker.ask(fetch(wanted("orders", 0)), 12, FetchResponse))
    assert uncommitted.aborted_transactions is None


def abort_marker() -> bytearray:
    marker = EndTransactionMarker(ControlRecordType.ABORT, coordinator_epoch=0)
    return write_end_marker(marker, producer_id=7, producer_epoch=0, timestamp=NOW_MS)


def test_a_connection_may_change_its_mind(broker: DataBroker) -> None:
    broker.create("orders")
    fill(broker, "orders", 2)
    connection = RecordedConnection()

    def ask(version: int = 12, **fields: int) -> PartitionData:
        request = fetch(wanted("orders", 0), **fields)
        return partitions(late(broker.send(request, version, connection=connection), version))[0]

    assert ask().aborted_transactions is None
    assert ask(isolation_level=1).aborted_transactions == []
    assert ask().aborted_transactions is None
    assert ask(max_bytes=-1).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert len(values(ask())) == 2
    assert ask(replica_id=77).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert len(values(ask(version=10))) == 2


class Reader:
    """A client in a session."""

    def __init__(self, broker: DataBroker, *topics: FetchTopic, version: int = 12) -> None:
        self._broker = broker
        self._version = version
        self.first = broker.ask(fetch(*topics, session_epoch=0), version, FetchResponse)
        self.id = self.first.session_id
        self._epoch = 0

    def go_on(self, *topics: FetchTopic, forget: list[ForgottenTopic] | None = None) -> FetchResponse:
        self._epoch += 1
        request = fetch(*topics, session_id=self.id, session_epoch=self._epoch)
        request.forgotten_topics_data = forget or []
        response = self._broker.ask(request, self._version, FetchResponse)
        assert response.error_code == 0
        return response

    def told(self, *topics: FetchTopic) -> list[tuple[str, int]]:
        """Topic and code of what is answered."""
        response = self.go_on(*topics)
        return [(topic.topic, partition.error_code) for topic in response.responses for partition in topic.partitions]


def test_a_session_tells_only_what_is_new(broker: DataBroker) -> None:
    broker.create("orders", 3)
    reader = Reader(broker, wanted("orders", 0, 0, 0))
    assert len(partitions(reader.first)) == 3
    assert partitions(reader.go_on()) == []
    fill(broker, "orders", 2, index=1)
    [news] = partitions(reader.go_on())
    assert (news.partition_index, news.high_watermark, len(values(news))) == (1, 2, 2)
    # The reader has not moved on, so it gets the records again, as it would with any fetch.
    assert len(partitions(reader.go_on())) == 1
    moved = FetchTopic(
        topic="orders", partitions=[FetchPartition(partition=1, fetch_offset=2, partition_max_bytes=ALL)]
    )
    assert partitions(reader.go_on(moved)) == []


def test_partitions_that_were_served_last_are_read_last(broker: DataBroker) -> None:
    broker.create("orders", 3)
    for index in range(3):
        fill(broker, "orders", index=index)
    one = len(batch())
    first = broker.ask(fetch(wanted("orders", 0, 0, 0), session_epoch=0, max_bytes=one), 12, FetchResponse)
    served = []
    for epoch in (1, 2, 3, 4):
        request = fetch(session_id=first.session_id, session_epoch=epoch, max_bytes=one)
        response = broker.ask(request, 12, FetchResponse)
        served.append(next(partition.partition_index for partition in partitions(response) if partition.records))
    assert served == [0, 1, 2, 0]


def test_a_topic_that_appears_is_found_by_its_id(broker: DataBroker) -> None:
    topic_id = Uuid(b"orders".ljust(16, b"-"))
    reader = Reader(broker, wanted(topic_id, 0), version=18)
    assert [partition.error_code for partition in partitions(reader.first)] == [ErrorCode.UNKNOWN_TOPIC_ID]
    assert broker.create("orders") == topic_id
    [found] = partitions(reader.go_on())
    assert (found.error_code, found.high_watermark) == (0, 0)
    assert partitions(reader.go_on()) == []


def test_a_topic_that_goes_is_missed_every_time(broker: DataBroker) -> None:
    topic_id = broker.create("orders")
    by_name, by_id = Reader(broker, wanted("orders", 0)), Reader(broker, wanted(topic_id, 0), version=18)
    broker.delete(topic_id)
    for _ in range(2):
        assert by_name.told() == [("orders", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]
        [missed] = partitions(by_id.go_on())
        assert missed.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_slow_answer_does_not_overtake_the_session(broker: DataBroker) -> None:
    broker.create("orders")
    first = broker.ask(fetch(wanted("orders", 0), session_epoch=0), 12, FetchResponse)
    slow = broker.send(fetch(session_id=first.session_id, session_epoch=1, max_wait_ms=1000), 12)
    assert not slow.is_done
    quick = broker.ask(fetch(session_id=first.session_id, session_epoch=2), 12, FetchResponse)
    assert quick.error_code == 0
    broker.loop.advance(1500)
    answer = late(slow)
    assert answer.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert answer.session_id == first.session_id


def test_a_slow_answer_has_what_was_forgotten_meanwhile(broker: DataBroker) -> None:
    broker.create("orders")
    first = broker.ask(fetch(wanted("orders", 0), session_epoch=0), 12, FetchResponse)
    slow = broker.send(fetch(session_id=first.session_id, session_epoch=1, max_wait_ms=1000), 12)
    forgetting = fetch(session_id=first.session_id, session_epoch=2)
    forgetting.forgotten_topics_data = [ForgottenTopic(topic="orders", partitions=[0])]
    assert broker.ask(forgetting, 12, FetchResponse).session_id == 0
    fill(broker, "orders")
    assert len(values(partitions(late(slow))[0])) == 1


def test_a_fetch_that_cannot_be_answered_costs_its_own_connection_and_not_the_produce_that_woke_it(
    broker: DataBroker, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.create("orders")
    waiting = broker.send(fetch(wanted("orders", 0), session_epoch=0, max_wait_ms=1000), 12)
    monkeypatch.setattr(broker.parts.fetch_sessions, "create", lambda outcomes, **_: 1 // 0)
    appended: list[AppendResult] = []
    entry = AppendEntry("orders", 0, batch())
    broker.replicas.append([entry], acks=1, timeout_ms=1000, done=appended.extend)
    assert waiting.connection.closed_with == "ZeroDivisionError at the end of FETCH"
    assert "unexpected error at the end of FETCH v12" in caplog.text
    assert [result.error_code for result in appended] == [ErrorCode.NONE]


def test_nothing_is_kept_of_a_client_that_left_while_its_fetch_waited(broker: DataBroker) -> None:
    broker.create("orders", 2)
    weeks = {"max_wait_ms": 2**31 - 1, "min_bytes": 2**31 - 1}
    left, stays = (broker.send(fetch(wanted("orders", 0, 0), **weeks), 12) for _ in range(2))
    assert len(broker.replicas.waiting.fetches) == 2
    broker.pipeline.disconnected(left.connection)  # type: ignore[arg-type]
    assert len(broker.replicas.waiting.fetches) == 1
    broker.pipeline.disconnected(stays.connection)  # type: ignore[arg-type]
    assert (broker.replicas.waiting.fetches.watched, len(broker.replicas._wheel)) == ({}, 0)
    fill(broker, "orders")


def test_a_full_fetch_ends_the_session_it_names(broker: DataBroker) -> None:
    broker.create("orders")
    reader = Reader(broker, wanted("orders", 0))
    again = broker.ask(fetch(wanted("orders", 0), session_id=reader.id, session_epoch=0), 12, FetchResponse)
    assert again.session_id not in (0, reader.id)
    gone = broker.ask(fetch(session_id=reader.id, session_epoch=1), 12, FetchResponse)
    assert gone.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_when_all_slots_are_taken_fetches_stay_full(make_broker: Callable[..., DataBroker]) -> None:
    broker = make_broker()
    broker.create("orders")
    broker.parts.fetch_sessions._slots = 1
    first = broker.ask(fetch(wanted("orders", 0), session_epoch=0), 12, FetchResponse)
    second = broker.ask(fetch(wanted("orders", 0), session_epoch=0), 12, FetchResponse)
    assert first.session_id
    assert (second.session_id, len(partitions(second))) == (0, 1)


def test_what_goes_out_is_counted_by_topic(make_broker: Callable[..., DataBroker]) -> None:
    broker = make_broker(brokers=2)
    topic_id = broker.create("orders", replicas=2)
    fill(broker, "orders")
    follower = fetch(wanted(topic_id, 0))
    follower.replica_state.replica_id, follower.replica_state.replica_epoch = 2, 2
    follower.topics[0].partitions[0].log_start_offset = 0
    broker.ask(follower, 17, FetchResponse)
    follower.topics[0].partitions[0].fetch_offset = 1
    broker.ask(follower, 17, FetchResponse)
    broker.ask(fetch(wanted("orders", 0), wanted("nobody", 0)), 12, FetchResponse)
    text = broker.scrape()
    size = len(batch())
    assert f'kafka_server_brokertopicmetrics_bytesout_total{{topic="orders"}} {size}' in text
    assert f'kafka_server_brokertopicmetrics_replicationbytesout_total{{topic="orders"}} {size}' in text
    assert 'kafka_server_brokertopicmetrics_totalfetchrequests_total{topic="orders"} 3' in text
    assert "nobody" not in text
