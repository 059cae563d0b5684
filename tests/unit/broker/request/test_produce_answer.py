"""Ready pieces around the offsets give what the codec says."""

import pytest

from ottla.base.ids import Uuid
from ottla.base.metric import MetricRegistry
from ottla.broker.request.answerer import HANDLER
from ottla.broker.request.api_table import BROKER_SERVED, ApiTable
from ottla.broker.request.pipeline import Pipeline
from ottla.broker.request.produce_answer import ProduceAnswers
from ottla.broker.request.route import Route
from ottla.protocol.api_key import ApiKey
from ottla.protocol.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse

INT64_MAX = 2**63 - 1
SERVED = {ApiKey.PRODUCE: BROKER_SERVED.served[ApiKey.PRODUCE]._replace(answerer=HANDLER)}
TOY = ApiTable("tests.unit.broker.toy", SERVED, is_controller=False)


def route_of(version: int) -> Route:
    route = Pipeline(None, TOY, MetricRegistry(), lambda: 0.0).route(ApiKey.PRODUCE, version)
    assert route is not None
    return route


@pytest.mark.parametrize("version", range(3, 14))
@pytest.mark.parametrize("offsets", [(0, -1, 0), (INT64_MAX, INT64_MAX, INT64_MAX), (12, 1_800_000_000_000, 3)])
def test_ready_pieces_are_what_the_codec_says(version: int, offsets: tuple[int, int, int]) -> None:
    route = route_of(version)
    base_offset, append_time, log_start = offsets
    names: list[str | Uuid] = ["t", "Z" * 249, "a.b-c_d"] if version < 13 else [Uuid(b"Z" * 16)]
    for topic in names:
        for index in (0, 2**31 - 1):
            answer = PartitionProduceResponse(index=index, base_offset=base_offset, log_append_time_ms=append_time)
            numbers = [base_offset, append_time]
            if version >= 5:
                answer.log_start_offset = log_start
                numbers.append(log_start)
            named = TopicProduceResponse(partition_responses=[answer])
            if isinstance(topic, Uuid):
                named.topic_id = topic
            else:
                named.name = topic
            [frame] = route.encode(7, ProduceResponse(responses=[named]))
            assert isinstance(frame, bytes)
            before, after = ProduceAnswers(route).pieces(topic, index)
            between = b"".join(number.to_bytes(8, "big", signed=True) for number in numbers)
            assert frame[8:] == before + between + after
