"""Whom the admin client asks, and how often."""

import asyncio
from collections.abc import Mapping

import pytest

from ottla.base.errors import OttlaError
from ottla.client.admin.channel import ANY_NODE, CONTROLLER
from ottla.client.admin.route import coordinators, fixed, leaders
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.record import TopicPartition
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import (
    ClusterAuthorizationFailedError,
    ErrorCode,
    NetworkError,
    NotControllerError,
    NotCoordinatorError,
    NotLeaderOrFollowerError,
)
from ottla.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from ottla.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.unit.client.admin.scripted import ScriptedCluster, channel

Outcomes = Mapping[str, int | OttlaError]


def test_a_refusal_is_raised_with_its_words() -> None:
    refused = DescribeClusterResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, error_message="not you")
    cluster = ScriptedCluster(lambda node, request: refused)
    with pytest.raises(ClusterAuthorizationFailedError, match="not you"):
        asyncio.run(channel(cluster).ask(ANY_NODE, DescribeClusterRequest(), DescribeClusterResponse))
    assert len(cluster.asked) == 1


def test_what_may_pass_is_asked_again_and_the_controller_looked_for() -> None:
    answers: list[Response | OttlaError] = [
        NetworkError("gone"),
        DescribeClusterResponse(error_code=ErrorCode.NOT_CONTROLLER),
        DescribeClusterResponse(cluster_id="c"),
    ]
    cluster = ScriptedCluster(lambda node, request: answers.pop(0))
    found = asyncio.run(channel(cluster).ask(CONTROLLER, DescribeClusterRequest(), DescribeClusterResponse))
    assert found.cluster_id == "c"
    assert len(cluster.asked) == 3
    assert cluster.refreshed >= 1


def test_when_the_time_is_up_the_last_trouble_is_raised() -> None:
    cluster = ScriptedCluster(lambda node, request: NotControllerError())
    with pytest.raises(NotControllerError):
        asyncio.run(
            channel(cluster, api_timeout_ms=0).ask(CONTROLLER, DescribeClusterRequest(), DescribeClusterResponse)
        )
    assert len(cluster.asked) == 1


def test_a_version_is_limited_by_the_caller_and_by_the_node() -> None:
    for speaks, asked in ((99, 9), (8, 8)):
        cluster = ScriptedCluster(lambda node, request: DescribeClusterResponse(), version=speaks)
        work = channel(cluster).ask_once(1, DescribeClusterRequest(), DescribeClusterResponse, version_max=9)
        asyncio.run(work)
        assert cluster.versions == [asked]


def test_only_the_keys_that_were_not_answered_are_asked_about_again() -> None:
    rounds: list[tuple[int, list[str]]] = []

    async def ask(node: int, keys: list[str]) -> Outcomes:
        rounds.append((node, keys))
        return {key: NotCoordinatorError() if key == "b" and len(rounds) == 1 else len(key) for key in keys}

    cluster = ScriptedCluster(lambda node, request: DescribeClusterResponse())
    found = asyncio.run(channel(cluster).ask_each(["a", "b", "c", "a"], fixed(7), ask))
    assert list(found.items()) == [("a", 1), ("b", 1), ("c", 1)]
    assert rounds == [(7, ["a", "b", "c"]), (7, ["b"])]


def test_a_node_that_fails_fails_its_keys_alone() -> None:
    async def route(keys: list[str]) -> Mapping[str, int | OttlaError]:
        return {"a": 1, "b": 2}

    async def ask(node: int, keys: list[str]) -> Outcomes:
        if node == 2:
            raise ClusterAuthorizationFailedError
        return dict.fromkeys(keys, node)

    cluster = ScriptedCluster(lambda node, request: DescribeClusterResponse())
    found = asyncio.run(channel(cluster).ask_each(["a", "b"], route, ask))
    assert found["a"] == 1
    assert isinstance(found["b"], ClusterAuthorizationFailedError)


def test_a_key_that_the_answer_leaves_out_has_failed() -> None:
    async def ask(node: int, keys: list[str]) -> Outcomes:
        return {}

    cluster = ScriptedCluster(lambda node, request: DescribeClusterResponse())
    found = asyncio.run(channel(cluster).ask_each(["a"], fixed(1), ask))
    assert "says nothing" in str(found["a"])


def test_partitions_go_to_the_leaders_they_have_at_that_moment() -> None:
    partition = TopicPartition("t", 0)
    leader_ids = [1, 2]

    def answer(node: int, request: Request) -> Response:
        led = MetadataResponsePartition(partition_index=0, leader_id=leader_ids.pop(0))
        return MetadataResponse(topics=[MetadataResponseTopic(name="t", partitions=[led])])

    async def ask(node: int, partitions: list[TopicPartition]) -> Mapping[TopicPartition, int | OttlaError]:
        return {partition: NotLeaderOrFollowerError() if node == 1 else node}

    through = channel(ScriptedCluster(answer))
    assert asyncio.run(through.ask_each([partition], leaders(through), ask)) == {partition: 2}


def test_a_coordinator_that_is_none_is_forgotten() -> None:
    cluster = ScriptedCluster(lambda node, request: DescribeClusterResponse())

    async def ask(node: int, groups: list[str]) -> Outcomes:
        if node == 1:
            cluster.coordinators["g"] = 2
            return {"g": NotCoordinatorError()}
        return {"g": node}

    route = coordinators(cluster, CoordinatorKind.GROUP)
    assert asyncio.run(channel(cluster).ask_each(["g"], route, ask)) == {"g": 2}
    assert cluster.forgotten == ["g"]
