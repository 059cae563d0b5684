"""Long messages in pieces: together they are the message, and each is short."""

import pytest

from ottla.protocol.codec.piecewise import ELEMENTS_MAX, encode_in_pieces, is_long
from ottla.protocol.definition import Message
from ottla.protocol.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from ottla.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from ottla.protocol.messages.list_groups import ListedGroup, ListGroupsResponse
from ottla.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)


def metadata(topics: int, partitions: int) -> MetadataResponse:
    return MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=1, host="here", port=9092)],
        cluster_id="a cluster",
        topics=[
            MetadataResponseTopic(
                name=f"topic-{number}",
                partitions=[
                    MetadataResponsePartition(partition_index=index, replica_nodes=[1, 2], isr_nodes=[1])
                    for index in range(partitions)
                ],
            )
            for number in range(topics)
        ],
    )


def log_dirs(topics: int) -> DescribeLogDirsResponse:
    found = [
        DescribeLogDirsTopic(name=f"topic-{number}", partitions=[DescribeLogDirsPartition(partition_index=0)])
        for number in range(topics)
    ]
    return DescribeLogDirsResponse(results=[DescribeLogDirsResult(log_dir="/data", topics=found)])


def configs(topics: int) -> DescribeConfigsResponse:
    entries = [DescribeConfigsResourceResult(name=f"key.{number}", value="1") for number in range(30)]
    return DescribeConfigsResponse(
        results=[DescribeConfigsResult(resource_name=f"topic-{number}", configs=entries) for number in range(topics)]
    )


LONG: list[Message] = [
    metadata(3_000, 1),
    metadata(8, 1_000),
    metadata(1, 5_000),
    log_dirs(2_000),
    configs(1_000),
    ListGroupsResponse(groups=[ListedGroup(group_id=f"group-{number}") for number in range(5_000)]),
]


@pytest.mark.parametrize("message", LONG, ids=lambda message: type(message).__name__)
def test_pieces_are_the_message(message: Message) -> None:
    for version in range(message.valid_versions.lowest, message.valid_versions.highest + 1):
        plan = message.plan(version)
        pieces = list(encode_in_pieces(plan, message))
        whole = message.encode(version)
        assert is_long(plan, message)
        assert b"".join(pieces) == whole
        assert max(map(len, pieces)) < len(whole) / 5


@pytest.mark.parametrize("message", [metadata(2, ELEMENTS_MAX), metadata(0, 0), log_dirs(3), MetadataResponse()])
def test_short_messages_are_one_piece(message: Message) -> None:
    plan = message.plan(message.valid_versions.highest)
    assert not is_long(plan, message)
    assert list(encode_in_pieces(plan, message)) == [message.encode(message.valid_versions.highest)]


def test_an_array_that_is_null_and_one_that_is_empty() -> None:
    long = metadata(500, 0)
    long.brokers = []
    for version in (1, 12):
        assert b"".join(encode_in_pieces(long.plan(version), long)) == long.encode(version)
