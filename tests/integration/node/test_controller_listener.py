"""What clients and nodes hear on the controller listener: every call that it lists, and none that it does not."""

import asyncio
import struct
from pathlib import Path
from typing import Any

from ottla.broker.node.node import Node
from ottla.broker.request.api_table import CONTROLLER_SERVED
from ottla.protocol.api_key import ApiKey
from ottla.protocol.catalog import request_type
from ottla.protocol.definition import Request
from ottla.protocol.errors import ErrorCode
from ottla.protocol.frame import decode_response, encode_request
from ottla.protocol.messages.api_versions import ApiVersionsRequest
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from ottla.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from ottla.protocol.messages.envelope import EnvelopeRequest
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from ottla.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.raft.identity import METADATA_TOPIC_ID
from tests.integration.node.nodes import CLUSTER_ID, CONTROLLER, PLAINTEXT, ask, formatted, running

BROKER, BROKER_LOGGER, TOPIC = 4, 8, 2


def run(directory: Path, scenario: Any) -> None:
    async def start() -> None:
        async with running(formatted(directory)) as node:
            await scenario(node)

    asyncio.run(start())


def test_it_lists_its_own_calls(tmp_path: Path) -> None:
    async def scenario(node: Node) -> None:
        request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
        answer = await ask(node.listener_address(CONTROLLER), request)
        listed = {ApiKey(key.api_key) for key in answer.api_keys}
        assert listed == set(CONTROLLER_SERVED.served)
        assert ApiKey.PRODUCE not in listed
        assert ApiKey.VOTE in listed
        assert {feature.name for feature in answer.finalized_features} >= {"metadata.version"}

    run(tmp_path, scenario)


def test_every_listed_call_answers_an_empty_request(tmp_path: Path) -> None:
    """In its oldest and its newest version, and never with UNKNOWN_SERVER_ERROR."""

    async def scenario(node: Node) -> None:
        for api, served in CONTROLLER_SERVED.served.items():
            for version in {served.versions.lowest, served.versions.highest}:
                frame = await exchanged(node, _empty(api), version)
                _, response = decode_response(frame, api, version)
                assert getattr(response, "error_code", 0) != ErrorCode.UNKNOWN_SERVER_ERROR, api.name

    run(tmp_path, scenario)


def _empty(api: ApiKey) -> Request:
    request: Any = request_type(api)()
    if hasattr(request, "timeout_ms"):
        request.timeout_ms = 10_000
    if api is ApiKey.API_VERSIONS:
        request.client_software_name = request.client_software_version = "1"
    return request


async def exchanged(node: Node, request: Request, version: int) -> bytes:
    """The frame that answers a request."""
    reader, writer = await asyncio.open_connection(*node.listener_address(CONTROLLER))
    writer.write(encode_request(request, version, correlation_id=1, client_id="test"))
    async with asyncio.timeout(20):
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        frame = await reader.readexactly(size)
    writer.close()
    await writer.wait_closed()
    return frame


def test_a_client_may_talk_to_the_controller_itself(tmp_path: Path) -> None:
    async def scenario(node: Node) -> None:
        topic = CreatableTopic(name="orders", num_partitions=2, replication_factor=1)
        request = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
        answer = await ask(node.listener_address(CONTROLLER), request)
        assert [(one.name, one.error_code) for one in answer.topics] == [("orders", 0)]

    run(tmp_path, scenario)


def test_an_envelope_is_opened_and_answered(tmp_path: Path) -> None:
    async def scenario(node: Node) -> None:
        address = node.listener_address(CONTROLLER)
        topic = CreatableTopic(name="orders", num_partitions=2, replication_factor=1)
        inner = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
        data = encode_request(inner, 7, correlation_id=99, client_id="inner")[4:]
        principal = bytes.fromhex("0000055573657203616c0000")
        envelope = EnvelopeRequest(request_data=data, request_principal=principal, client_host_address=bytes(4))
        answer = await ask(address, envelope)
        assert answer.error_code == 0
        correlation_id, response = decode_response(answer.response_data, ApiKey.CREATE_TOPICS, 7)
        assert correlation_id == 99
        assert isinstance(response, CreateTopicsResponse)
        assert response.topics[0].error_code == 0

        async def refused(**changes: Any) -> int:
            values = {"request_data": data, "request_principal": principal, "client_host_address": bytes(4)} | changes
            code: int = (await ask(address, EnvelopeRequest(**values))).error_code
            return code

        produce = struct.pack(">hhi", 18, 0, 1) + b"\xff\xff"
        assert await refused(request_principal=b"noise") == ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE
        assert await refused(client_host_address=b"123") == ErrorCode.INVALID_REQUEST
        assert await refused(request_data=data[:20]) == ErrorCode.UNSUPPORTED_VERSION
        assert await refused(request_data=produce) == ErrorCode.INVALID_REQUEST

    run(tmp_path, scenario)


def test_the_metadata_log_is_fetched_and_a_fetch_waits_for_news(tmp_path: Path) -> None:
    def fetch(offset: int, epoch: int) -> FetchRequest:
        partition = FetchPartition(
            partition=0,
            fetch_offset=offset,
            last_fetched_epoch=epoch,
            current_leader_epoch=1,
            partition_max_bytes=1 << 20,
        )
        return FetchRequest(
            cluster_id=CLUSTER_ID,
            replica_state=ReplicaState(replica_id=77),
            max_wait_ms=20_000,
            min_bytes=1,
            topics=[FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[partition])],
        )

    async def scenario(node: Node) -> None:
        address = node.listener_address(CONTROLLER)
        first = (await ask(address, fetch(0, 0))).responses[0].partitions[0]
        assert first.error_code == 0
        assert len(first.records) > 0
        # An idle controller writes every half second, so the answer comes long before the time is up.
        waited = (await ask(address, fetch(first.high_watermark, 1))).responses[0].partitions[0]
        assert waited.error_code == 0

    run(tmp_path, scenario)


def test_configs_of_the_controller_and_its_loggers(tmp_path: Path) -> None:
    async def scenario(node: Node) -> None:
        address = node.listener_address(CONTROLLER)
        described = await ask(
            address,
            DescribeConfigsRequest(
                resources=[DescribeConfigsResource(resource_type=BROKER, resource_name="1", configuration_keys=None)]
            ),
        )
        configs = {config.name: config.value for config in described.results[0].configs}
        assert configs["node.id"] == "1"

        def change(kind: int, name: str, key: str, value: str) -> AlterConfigsResource:
            config = AlterableConfig(name=key, config_operation=0, value=value)
            return AlterConfigsResource(resource_type=kind, resource_name=name, configs=[config])

        answer = await ask(
            address,
            IncrementalAlterConfigsRequest(
                resources=[
                    change(BROKER_LOGGER, "1", "ottla.broker.node.node", "DEBUG"),
                    change(BROKER_LOGGER, "1", "no.such.logger", "DEBUG"),
                    change(BROKER, "", "max.connections", "1000"),
                    change(TOPIC, "missing", "retention.ms", "1"),
                ]
            ),
        )
        outcomes = {(one.resource_type, one.resource_name): one.error_code for one in answer.responses}
        assert outcomes[BROKER, ""] == 0
        assert outcomes[TOPIC, "missing"] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        loggers = sorted(one.error_code for one in answer.responses if one.resource_type == BROKER_LOGGER)
        assert loggers == [0, ErrorCode.INVALID_CONFIG]

    run(tmp_path, scenario)


def test_calls_of_brokers_close_the_connection(tmp_path: Path) -> None:
    async def scenario(node: Node) -> None:
        for listener, api in ((CONTROLLER, ApiKey.METADATA), (PLAINTEXT, ApiKey.VOTE)):
            reader, writer = await asyncio.open_connection(*node.listener_address(listener))
            version = request_type(api).valid_versions.highest
            writer.write(encode_request(request_type(api)(), version, correlation_id=1, client_id=None))
            async with asyncio.timeout(20):
                assert await reader.read() == b""
            writer.close()
            await writer.wait_closed()

    run(tmp_path, scenario)
