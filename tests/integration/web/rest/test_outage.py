"""The proxy killed under load, and the broker gone and back: what was acknowledged is there, what was not is said."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.client import Consumer, TopicPartition
from tests.clients.server import kinds_and_peer, start_server
from tests.integration.web.rest_process import RestProcess
from tests.integration.web.service_process import eventually
from tests.kafka.server import Server

TOPIC = "outage"


@pytest.fixture(params=kinds_and_peer())
def lone_kafka(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A cluster of one node that only this test uses."""
    server = start_server(request.param, tmp_path / "kafka", group_initial_rebalance_delay_ms="0")
    yield server
    server.kill()


@pytest.fixture
def proxy(lone_kafka: Server, tmp_path: Path) -> Iterator[RestProcess]:
    process = RestProcess(
        tmp_path / "rest",
        lone_kafka.bootstrap,
        producer_delivery_timeout_ms="3000",
        producer_request_timeout_ms="1000",
        producer_linger_ms="0",
        producer_max_block_ms="2000",
        admin_default_api_timeout_ms="2000",
    )
    try:
        process.start()
        status, _ = process.v3("POST", "/topics", {"topic_name": TOPIC, "partitions_count": 1, "replication_factor": 1})
        assert status == 201
        yield process
    finally:
        process.kill()


def stored(server: Server) -> list[bytes]:
    """The values that the topic has."""
    place = TopicPartition(TOPIC, 0)
    with Consumer(bootstrap_servers=server.bootstrap, group_id=None, enable_auto_commit=False) as consumer:
        consumer.assign([place])
        consumer.seek_to_beginning([place])
        end, found = consumer.end_offsets([place])[place], []
        while consumer.position(place) < end:
            found += [record.value for record in consumer.poll(1.0) if record.value is not None]
    return found


def send(proxy: RestProcess, number: int) -> bool:
    """Whether the proxy says that the record is stored."""
    status, answer = proxy.produce(TOPIC, "json", {"value": number})
    return status == 200 and "offset" in answer["offsets"][0] and answer["offsets"][0]["offset"] is not None


def test_a_killed_proxy_loses_nothing_that_it_acknowledged(lone_kafka: Server, proxy: RestProcess) -> None:
    acknowledged: list[int] = []
    enough, is_done = threading.Event(), threading.Event()

    def load() -> None:
        number = 0
        while not is_done.is_set():
            number += 1
            try:
                if send(proxy, number):
                    acknowledged.append(number)
            except OSError:
                continue  # it is dead, or was while it answered
            if len(acknowledged) >= 30:
                enough.set()

    thread = threading.Thread(target=load)
    thread.start()
    try:
        for _ in range(2):
            enough.clear()
            assert enough.wait(60), proxy.output()
            proxy.kill()
            proxy.start()
    finally:
        is_done.set()
        thread.join()
    found = [int(value) for value in stored(lone_kafka)]
    assert set(acknowledged) <= set(found)
    assert len(set(found)) == len(found)


def test_the_broker_goes_away_and_comes_back(lone_kafka: Server, proxy: RestProcess) -> None:
    assert send(proxy, 1)
    lone_kafka.kill()
    status, answer = proxy.produce(TOPIC, "json", {"value": 2})
    assert (status, answer["offsets"][0]["error_code"]) == (200, 50003)
    assert proxy.ask("GET", "/topics")[0] == 500
    assert proxy.is_ready()
    lone_kafka.start()
    eventually(lambda: send(proxy, 3), proxy)
    eventually(lambda: proxy.ask("GET", "/topics")[0] == 200, proxy)
    values = [int(value) for value in stored(lone_kafka)]
    assert values[0] == 1
    assert 3 in values
    assert proxy.stop() == 0
