"""What happens to a request between its bytes and its answer, and to bytes that are no request."""

import logging

import pytest

from ottla.base.metric import MetricRegistry
from ottla.base.metric_text import render
from ottla.broker.request.api_table import ApiTable, ServedApi
from ottla.broker.request.pipeline import Pipeline
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from ottla.protocol.versions import VersionRange
from tests.unit.broker.recorder import CORRELATION_ID, RecordedExchange, frame_of
from tests.unit.broker.toy import heartbeat

TABLE = ApiTable(
    "tests.unit.broker.toy",
    {
        api: ServedApi(VersionRange(*versions), VersionRange(*versions))
        for api, versions in {
            ApiKey.PRODUCE: (3, 13),
            ApiKey.HEARTBEAT: (0, 4),
            ApiKey.API_VERSIONS: (0, 4),
        }.items()
    },
    is_controller=False,
)


class Clock:
    """Seconds that pass by looking at them."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.25
        return self.now


@pytest.fixture
def metrics() -> MetricRegistry:
    return MetricRegistry()


@pytest.fixture
def pipeline(metrics: MetricRegistry) -> Pipeline:
    return Pipeline({"throttle": 5}, TABLE, metrics, Clock())


def received(pipeline: Pipeline, frame: bytes | bytearray) -> RecordedExchange:
    exchange = RecordedExchange()
    pipeline.received(memoryview(bytearray(frame)), exchange)  # type: ignore[arg-type]
    return exchange


@pytest.mark.parametrize("version", range(5))
def test_a_request_is_answered_in_its_version(pipeline: Pipeline, version: int) -> None:
    exchange = received(pipeline, frame_of(HeartbeatRequest(group_id="g"), version))
    expected = HeartbeatResponse(throttle_time_ms=5 if version else 0)
    assert exchange.response(ApiKey.HEARTBEAT, version) == expected


def test_a_request_may_be_answered_later(pipeline: Pipeline) -> None:
    exchange = received(pipeline, frame_of(HeartbeatRequest(group_id="wait"), 4))
    assert not exchange.is_done
    heartbeat.waiting.pop().answer(HeartbeatResponse(throttle_time_ms=9))
    assert exchange.response(ApiKey.HEARTBEAT, 4) == HeartbeatResponse(throttle_time_ms=9)


def test_the_context_tells_who_asks(pipeline: Pipeline) -> None:
    received(pipeline, frame_of(HeartbeatRequest(group_id="wait"), 3, client_id="café"))
    context = heartbeat.waiting.pop()
    assert (context.api, context.version, context.correlation_id) == (ApiKey.HEARTBEAT, 3, CORRELATION_ID)
    assert (context.client_id, context.client_host, context.listener) == ("café", "192.0.2.7", "PLAINTEXT")
    assert context.principal == "User:ANONYMOUS"
    assert not context.is_controller_listener


@pytest.mark.parametrize(
    ("length_and_id", "expected"),
    [(b"\xff\xff", ""), (b"\xff\xfe", ""), (b"\x00\x00", ""), (b"\x00\x02\xff\xfe", "��")],
    ids=["null", "length -2", "empty", "no utf-8"],
)
def test_client_ids_are_read_forgivingly(pipeline: Pipeline, length_and_id: bytes, expected: str) -> None:
    frame = bytes(frame_of(HeartbeatRequest(group_id="wait"), 0, client_id=None))
    received(pipeline, frame[:8] + length_and_id + frame[10:])
    assert heartbeat.waiting.pop().client_id == expected


def test_bytes_behind_a_request_are_ignored(pipeline: Pipeline) -> None:
    exchange = received(pipeline, bytes(frame_of(HeartbeatRequest(group_id="g"), 4)) + b"extra")
    assert exchange.response(ApiKey.HEARTBEAT, 4) == HeartbeatResponse(throttle_time_ms=5)


def test_tags_in_the_header_are_passed_over(pipeline: Pipeline) -> None:
    frame = bytes(frame_of(HeartbeatRequest(group_id="g"), 4, client_id="c"))
    tagged = frame[:11] + b"\x01\x05\x02ab" + frame[12:]
    assert received(pipeline, tagged).response(ApiKey.HEARTBEAT, 4) == HeartbeatResponse(throttle_time_ms=5)


def test_an_error_is_answered_where_the_call_has_its_place_for_it(pipeline: Pipeline) -> None:
    exchange = received(pipeline, frame_of(HeartbeatRequest(group_id="refuse"), 4))
    expected = HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)
    assert exchange.response(ApiKey.HEARTBEAT, 4) == expected


@pytest.mark.parametrize("command", ["break", "unencodable"])
def test_a_bug_costs_one_answer_and_one_line(
    pipeline: Pipeline, caplog: pytest.LogCaptureFixture, command: str
) -> None:
    exchange = received(pipeline, frame_of(HeartbeatRequest(group_id=command), 4))
    assert exchange.response(ApiKey.HEARTBEAT, 4) == HeartbeatResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
    [line] = caplog.records
    assert line.levelno == logging.ERROR
    assert "HEARTBEAT v4 from 192.0.2.1:9092-192.0.2.7:40000-1" in line.getMessage()
    assert line.exc_info is not None


def test_a_bug_behind_an_answer_leaves_the_answer(pipeline: Pipeline, caplog: pytest.LogCaptureFixture) -> None:
    exchange = received(pipeline, frame_of(HeartbeatRequest(group_id="answer and break"), 4))
    assert exchange.response(ApiKey.HEARTBEAT, 4) == HeartbeatResponse(throttle_time_ms=1)
    assert len(caplog.records) == 1


def test_an_error_without_an_answer_closes_the_connection(pipeline: Pipeline) -> None:
    topic = TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=b"")])
    unanswered = received(pipeline, frame_of(ProduceRequest(acks=0, topic_data=[topic]), 9))
    assert unanswered.frame is None
    assert unanswered.connection.closed_with == "CLUSTER_AUTHORIZATION_FAILED in a request that wants no answer"
    answered = received(pipeline, frame_of(ProduceRequest(acks=1, topic_data=[topic]), 9))
    response = answered.response(ApiKey.PRODUCE, 9)
    assert isinstance(response, ProduceResponse)
    assert response.responses[0].partition_responses[0].error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (b"", "a request of 0 bytes has no room for a header"),
        (bytes(9), "a request of 9 bytes has no room for a header"),
        (bytes.fromhex("03e7 0000 00000001 ffff"), "unknown API key 999"),
        (bytes.fromhex("ffff 0000 00000001 ffff"), "unknown API key -1"),
        (bytes.fromhex("0004 0000 00000001 ffff"), "unknown API key 4"),
        (bytes.fromhex("0034 0000 00000001 ffff"), "VOTE is not served on this listener"),
        (bytes.fromhex("0000 0002 00000001 ffff"), "PRODUCE version 2 is not served, only 3-13"),
        (bytes.fromhex("000c 0005 00000001 ffff"), "HEARTBEAT version 5 is not served, only 0-4"),
        (bytes.fromhex("000c ffff 00000001 ffff"), "HEARTBEAT version -1 is not served, only 0-4"),
        (bytes.fromhex("000c 0000 00000001 ffff"), "malformed HEARTBEAT request of version 0"),
        (bytes.fromhex("000c 0000 00000001 7fff 00"), "malformed HEARTBEAT request of version 0"),
        (bytes.fromhex("000c 0004 00000001 ffff"), "malformed HEARTBEAT request of version 4"),
        (bytes.fromhex("000c 0004 00000001 ffff 01"), "malformed HEARTBEAT request of version 4"),
    ],
)
def test_what_is_no_request_closes_the_connection(pipeline: Pipeline, frame: bytes, reason: str) -> None:
    exchange = received(pipeline, frame)
    assert exchange.frame is None
    assert (exchange.connection.closed_with or "").startswith(reason)


@pytest.mark.parametrize(
    "frame", ["0012 ffff 0000007b ffff", "0012 0005 0000007b ffff 00 01", "0012 7fff 0000007b ffff 00"]
)
def test_unknown_versions_of_api_versions_are_answered_in_version_0(pipeline: Pipeline, frame: str) -> None:
    exchange = received(pipeline, bytes.fromhex(frame))
    assert exchange.frame == bytes.fromhex("00000010 0000007b 0023 00000001 0012 0000 0004")


def test_unknown_versions_of_api_versions_need_a_header(pipeline: Pipeline) -> None:
    exchange = received(pipeline, bytes.fromhex("0012 0005 0000007b ffff"))
    assert exchange.frame is None
    assert "malformed header" in (exchange.connection.closed_with or "")


def test_api_versions_is_answered_with_the_oldest_header(pipeline: Pipeline) -> None:
    request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    response = received(pipeline, frame_of(request, 4)).response(ApiKey.API_VERSIONS, 4)
    assert response == ApiVersionsResponse(throttle_time_ms=1)


def test_what_is_prepared_need_not_be_read(pipeline: Pipeline) -> None:
    request = ApiVersionsRequest(client_software_name="known", client_software_version="1")
    response = received(pipeline, frame_of(request, 3)).response(ApiKey.API_VERSIONS, 3)
    assert response == ApiVersionsResponse(throttle_time_ms=77)


def test_requests_are_counted_and_timed(pipeline: Pipeline, metrics: MetricRegistry) -> None:
    for version in (3, 4, 4):
        received(pipeline, frame_of(HeartbeatRequest(group_id="g"), version))
    received(pipeline, frame_of(HeartbeatRequest(group_id="refuse"), 4))
    text = render(metrics)
    assert 'kafka_network_requestmetrics_requests_total{request="Heartbeat",version="3"} 1' in text
    assert 'kafka_network_requestmetrics_requests_total{request="Heartbeat",version="4"} 3' in text
    # Every look at this clock takes 250 ms, and a refusal takes one more.
    assert 'kafka_network_requestmetrics_totaltimems_sum{request="Heartbeat"} 1250' in text
    errors = 'kafka_network_requestmetrics_errors_total{error="REBALANCE_IN_PROGRESS",request="Heartbeat"} 1'
    assert errors in text


def test_of_busy_calls_a_sample_is_timed(pipeline: Pipeline, metrics: MetricRegistry) -> None:
    for _ in range(32):
        received(pipeline, frame_of(ProduceRequest(acks=1), 9))
    text = render(metrics)
    assert 'kafka_network_requestmetrics_requests_total{request="Produce",version="9"} 32' in text
    assert 'kafka_network_requestmetrics_totaltimems_count{request="Produce"} 2' in text


def test_routes_are_to_be_had_for_requests_that_come_otherwise(pipeline: Pipeline) -> None:
    route = pipeline.route(ApiKey.HEARTBEAT, 4)
    assert route is not None
    assert route is pipeline.route(ApiKey.HEARTBEAT, 4)
    assert pipeline.route(ApiKey.HEARTBEAT, 5) is None
    assert pipeline.route(ApiKey.VOTE, 0) is None


class ShortWay:
    """Takes requests in the manner that it is told."""

    def __init__(self, manner: bool | Exception) -> None:
        self._manner = manner
        self.seen: list[tuple[int, int]] = []

    def take(self, frame: memoryview, correlation_id: int, client_id_bytes: int, exchange: RecordedExchange) -> bool:
        self.seen.append((correlation_id, client_id_bytes))
        if isinstance(self._manner, Exception):
            raise self._manner
        if self._manner:
            exchange.answer([b"short"])
        return self._manner


def heard_with(pipeline: Pipeline, lane: ShortWay) -> RecordedExchange:
    route = pipeline.route(ApiKey.HEARTBEAT, 4)
    assert route is not None
    route.lane = lane  # type: ignore[assignment]
    return received(pipeline, frame_of(HeartbeatRequest(group_id="g"), 4, client_id="me"))


def test_a_short_way_may_serve_a_request(pipeline: Pipeline) -> None:
    lane = ShortWay(True)
    assert heard_with(pipeline, lane).frame == b"short"
    assert lane.seen == [(CORRELATION_ID, 2)]


def test_a_short_way_may_leave_a_request_to_the_handler(pipeline: Pipeline) -> None:
    response = heard_with(pipeline, ShortWay(False)).response(ApiKey.HEARTBEAT, 4)
    assert response == HeartbeatResponse(throttle_time_ms=5)


def test_a_bug_on_a_short_way_costs_no_more_than_one_in_a_handler(
    pipeline: Pipeline, caplog: pytest.LogCaptureFixture
) -> None:
    response = heard_with(pipeline, ShortWay(ZeroDivisionError("a bug"))).response(ApiKey.HEARTBEAT, 4)
    assert response == HeartbeatResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
    assert len(caplog.records) == 1
