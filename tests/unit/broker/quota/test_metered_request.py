"""Quotas as clients feel them: times to wait in answers, connections that are not read from, fetches that are cut."""

import re

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse
from ottla.protocol.messages.produce import ProduceResponse
from ottla.protocol.metadata_log.config import ClientQuotaRecord, EntityData
from tests.unit.broker.data_broker import DataBroker
from tests.unit.broker.handlers.data.test_produce import batch, produce
from tests.unit.broker.recorder import RecordedConnection


def limit(broker: DataBroker, key: str, value: float | None, client_id: str | None = "probe") -> None:
    """Sets a quota of a client id, or takes it away."""
    entity = [EntityData(entity_type="client-id", entity_name=client_id)]
    broker.apply(ClientQuotaRecord(entity=entity, key=key, value=value or 0.0, remove=value is None))


def fetch(offset: int = 0, *, session_id: int = 0, session_epoch: int = -1, replica_id: int = -1) -> FetchRequest:
    named = FetchTopic(topic="orders", partitions=[FetchPartition(fetch_offset=offset, partition_max_bytes=1 << 20)])
    return FetchRequest(
        max_wait_ms=0,
        max_bytes=1 << 20,
        replica_id=replica_id,
        session_id=session_id,
        session_epoch=session_epoch,
        topics=[named] if session_epoch <= 0 else [],
    )


def fetched_bytes(response: FetchResponse) -> int:
    return sum(len(part.records or b"") for topic in response.responses for part in topic.partitions)


def test_a_producer_over_its_quota_is_told_to_wait_and_not_read_from(broker: DataBroker) -> None:
    broker.create("orders")
    limit(broker, "producer_byte_rate", 10)
    connection = RecordedConnection()
    exchange = broker.send(produce("orders", batch(50)), 9, connection=connection)
    response = exchange.response(produce("orders").api, 9)
    assert isinstance(response, ProduceResponse)
    assert response.responses[0].partition_responses[0].error_code == ErrorCode.NONE
    assert response.throttle_time_ms > 0
    assert connection.throttled_ms == [response.throttle_time_ms]
    assert broker.ask(produce("orders", batch(50)), 9, ProduceResponse, "bystander").throttle_time_ms == 0


def test_producers_without_answers_wait_too(broker: DataBroker) -> None:
    broker.create("orders")
    limit(broker, "producer_byte_rate", 10)
    connection = RecordedConnection()
    assert broker.send(produce("orders", batch(50), acks=0), 9, connection=connection).has_no_answer
    assert connection.throttled_ms


def test_a_quota_that_goes_lets_clients_go(broker: DataBroker) -> None:
    broker.create("orders")
    limit(broker, "producer_byte_rate", 10)
    assert broker.ask(produce("orders", batch(50)), 9, ProduceResponse).throttle_time_ms > 0
    limit(broker, "producer_byte_rate", None)
    assert broker.ask(produce("orders", batch(50)), 9, ProduceResponse).throttle_time_ms == 0


@pytest.mark.parametrize("version", [4, 11, 12])
def test_a_consumer_gets_no_more_than_is_left_and_then_waits(broker: DataBroker, version: int) -> None:
    broker.create("orders")
    for _ in range(20):
        broker.ask(produce("orders", batch(50)), 9, ProduceResponse, "filler")
    whole = fetched_bytes(broker.ask(fetch(), version, FetchResponse, "bystander"))
    limit(broker, "consumer_byte_rate", whole // 40)
    connection = RecordedConnection()
    first = broker.send(fetch(), version, connection=connection).response(fetch().api, version)
    assert isinstance(first, FetchResponse)
    assert 0 < fetched_bytes(first) < whole / 2
    waiting = [first]
    while not waiting[-1].throttle_time_ms:
        waiting.append(broker.ask(fetch(), version, FetchResponse))
    then = broker.ask(fetch(), version, FetchResponse)
    assert then.throttle_time_ms > 0
    assert then.responses == []
    broker.loop.advance(60_000)
    again = broker.ask(fetch(), version, FetchResponse)
    assert fetched_bytes(again) > 0


def test_a_fetch_session_survives_an_answer_without_records(broker: DataBroker) -> None:
    broker.create("orders")
    broker.ask(produce("orders", batch(50)), 9, ProduceResponse, "filler")
    opened = broker.ask(fetch(session_epoch=0), 12, FetchResponse)
    assert opened.session_id
    limit(broker, "consumer_byte_rate", 1)
    sessions = [broker.ask(fetch(session_id=opened.session_id, session_epoch=1), 12, FetchResponse)]
    while not (sessions[-1].throttle_time_ms and not sessions[-1].responses):
        epoch = len(sessions) + 1
        sessions.append(broker.ask(fetch(session_id=opened.session_id, session_epoch=epoch), 12, FetchResponse))
        assert len(sessions) < 10
    limit(broker, "consumer_byte_rate", None)
    epoch = len(sessions) + 1
    again = broker.ask(fetch(session_id=opened.session_id, session_epoch=epoch), 12, FetchResponse)
    assert (again.error_code, fetched_bytes(again) > 0) == (ErrorCode.NONE, True)


def test_followers_have_no_quota(broker: DataBroker) -> None:
    broker.create("orders", replicas=2)
    for _ in range(5):
        broker.ask(produce("orders", batch(50)), 9, ProduceResponse, "filler")
    limit(broker, "consumer_byte_rate", 1, client_id=None)
    answers = [broker.ask(fetch(replica_id=2), 12, FetchResponse) for _ in range(3)]
    assert [answer.throttle_time_ms for answer in answers] == [0, 0, 0]
    assert all(fetched_bytes(answer) for answer in answers)


def test_the_time_of_every_call_counts_and_no_wait_is_longer_than_a_window(broker: DataBroker) -> None:
    limit(broker, "request_percentage", 1e-9)
    answer = broker.ask(MetadataRequest(topics=[]), 9, MetadataResponse)
    assert answer.throttle_time_ms == 1_000


def test_what_clients_use_is_shown(broker: DataBroker) -> None:
    broker.create("orders")
    limit(broker, "producer_byte_rate", 10, client_id=None)
    answer = broker.ask(produce("orders", batch(50)), 9, ProduceResponse)
    shown = broker.scrape()
    for name in ("byte_rate", "throttle_time", "throttled_total"):
        assert f'kafka_server_produce_{name}{{user="",client_id="probe"}}' in shown
    [waited] = re.findall(r"kafka_server_produce_throttle_time{.*} (\S+)", shown)
    assert float(waited) == answer.throttle_time_ms > 0


def test_clients_that_come_under_ever_new_names_leave_nothing_behind(broker: DataBroker) -> None:
    limit(broker, "request_percentage", 50.0, client_id=None)
    for number in range(3_000):
        broker.ask(MetadataRequest(topics=[]), 9, MetadataResponse, f"client-{number}")
        if number % 100 == 0:
            broker.loop.advance(15_000)
    assert broker.scrape().count("kafka_server_request_request_time{") < 1_100
