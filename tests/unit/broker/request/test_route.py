"""How an answer is cut into pieces."""

import pytest

from ottla.base.metric import MetricRegistry
from ottla.broker.request.api_table import BROKER_SERVED
from ottla.broker.request.pipeline import Pipeline
from ottla.broker.request.route import Route
from ottla.protocol.api_key import ApiKey
from ottla.protocol.frame import encode_response
from ottla.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from ottla.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)


def route_of(api: ApiKey, version: int) -> Route:
    route = Pipeline(None, BROKER_SERVED, MetricRegistry(), lambda: 0.0).route(api, version)
    assert route is not None
    return route


@pytest.mark.parametrize("version", [1, 11])
def test_small_answers_are_one_piece(version: int) -> None:
    response = ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t")])
    pieces = route_of(ApiKey.LIST_OFFSETS, version).encode(9, response)
    assert pieces == [encode_response(response, version, correlation_id=9)]


def test_large_answers_are_not_copied_behind_their_header() -> None:
    partitions = [ListOffsetsPartitionResponse(partition_index=index) for index in range(2000)]
    response = ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=partitions)])
    pieces = route_of(ApiKey.LIST_OFFSETS, 11).encode(9, response)
    assert len(pieces) == 2
    assert b"".join(map(bytes, pieces)) == encode_response(response, 11, correlation_id=9)  # type: ignore[arg-type]


@pytest.mark.parametrize("version", [4, 18])
def test_records_stay_the_objects_they_are(version: int) -> None:
    records = [memoryview(b"first"), b"second", bytearray(b"third")]
    partitions = [PartitionData(partition_index=index, records=one) for index, one in enumerate(records)]
    response = FetchResponse(responses=[FetchableTopicResponse(partitions=partitions)])
    pieces = route_of(ApiKey.FETCH, version).encode(9, response)
    assert all(any(piece is one for piece in pieces) for one in records)
    assert b"".join(map(bytes, pieces)) == encode_response(response, version, correlation_id=9)  # type: ignore[arg-type]


def test_calls_that_are_not_served_have_no_route() -> None:
    pipeline = Pipeline(None, BROKER_SERVED, MetricRegistry(), lambda: 0.0)
    assert pipeline.route(ApiKey.PRODUCE, 2) is None
    assert pipeline.route(ApiKey.VOTE, 0) is None
