"""Requests that name very many things are answered in full; those that name too many close their connection."""

import pytest

from ottla.broker.request.request_limit import elements_max
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from ottla.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from ottla.protocol.messages.find_coordinator import FindCoordinatorRequest
from ottla.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from tests.unit.broker.data_broker import DataBroker


@pytest.mark.parametrize("in_topics", [1, 5_000])
def test_a_fetch_of_many_partitions_has_them_all(broker: DataBroker, in_topics: int) -> None:
    each = 5_000 // in_topics
    topics = [
        FetchTopic(topic=f"missing-{number}", partitions=[FetchPartition(partition=index) for index in range(each)])
        for number in range(in_topics)
    ]
    response = broker.ask(FetchRequest(session_epoch=-1, topics=topics), 12, FetchResponse)
    found = [
        (topic.topic, data.partition_index, data.error_code)
        for topic in response.responses
        for data in topic.partitions
    ]
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert found == [(topic.topic, asked.partition, unknown) for topic in topics for asked in topic.partitions]


def test_offsets_of_many_partitions_are_all_told(broker: DataBroker) -> None:
    broker.create("orders")
    asked = [ListOffsetsPartition(partition_index=index, timestamp=-1) for index in range(20_000)]
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name="orders", partitions=asked)])
    response = broker.ask(request, 11, ListOffsetsResponse)
    [topic] = response.topics
    assert [answer.partition_index for answer in topic.partitions] == list(range(20_000))
    assert topic.partitions[0].error_code == ErrorCode.NONE


def test_records_of_many_partitions_that_do_not_exist(broker: DataBroker) -> None:
    asked = [DeleteRecordsPartition(partition_index=index, offset=0) for index in range(20_000)]
    request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name="missing", partitions=asked)], timeout_ms=1000)
    [topic] = broker.ask(request, 2, DeleteRecordsResponse).topics
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert [(found.partition_index, found.error_code) for found in topic.partitions] == [
        (index, unknown) for index in range(20_000)
    ]


def test_a_large_request_that_is_refused_as_a_whole_is_answered_for_each_element(broker: DataBroker) -> None:
    resources = [DescribeConfigsResource(resource_type=77, resource_name=str(number)) for number in range(20_000)]
    response = broker.ask(DescribeConfigsRequest(resources=resources), 4, DescribeConfigsResponse)
    assert [result.resource_name for result in response.results] == [str(number) for number in range(20_000)]
    assert {result.error_code for result in response.results} == {ErrorCode.INVALID_REQUEST}


def test_a_request_of_too_many_names_closes_its_connection(broker: DataBroker) -> None:
    names = [str(number) for number in range(elements_max(ApiKey.FIND_COORDINATOR) + 1)]
    exchange = broker.send(FindCoordinatorRequest(key_type=0, coordinator_keys=names), 4)
    assert exchange.connection.closed_with is not None
    assert "FIND_COORDINATOR" in exchange.connection.closed_with
