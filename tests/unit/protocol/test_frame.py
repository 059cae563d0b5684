"""Frames: sizes, headers and bodies, against what Apache Kafka says of its APIs."""

import json
from typing import Any

import pytest

from ottla.protocol.api_key import BROKER_APIS, CONTROLLER_APIS, CONTROLLER_ONLY_APIS, FORWARDED_APIS, ApiKey
from ottla.protocol.catalog import request_type, response_type
from ottla.protocol.errors import DecodeError, InvalidRequestError, UnsupportedVersionError
from ottla.protocol.frame import (
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
    encode_response_around,
    request_header_version,
    response_header_version,
)
from ottla.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from ottla.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.vectors.message_vectors import ROOT

APIS = [json.loads(line) for line in (ROOT / "apis.jsonl").read_text().splitlines()]


def test_the_keys_are_kafkas() -> None:
    assert {row["key"]: row["name"] for row in APIS} == {int(api): api.name for api in ApiKey}


@pytest.mark.parametrize("row", APIS, ids=lambda row: row["title"])
def test_versions_and_headers_are_kafkas(row: dict[str, Any]) -> None:
    api = ApiKey(row["key"])
    for message in (request_type(api), response_type(api)):
        assert message.api is api
        assert (message.valid_versions.lowest, message.valid_versions.highest) == (row["minVersion"], row["maxVersion"])
    for version, header in row["requestHeaderVersions"].items():
        assert request_header_version(api, int(version)) == header
    for version, header in row["responseHeaderVersions"].items():
        assert response_header_version(api, int(version)) == header


def test_listeners_are_kafkas() -> None:
    assert {int(api) for api in BROKER_APIS} == {row["key"] for row in APIS if "broker" in row["listeners"]}
    assert {int(api) for api in CONTROLLER_APIS} == {row["key"] for row in APIS if "controller" in row["listeners"]}
    assert {int(api) for api in FORWARDED_APIS} == {row["key"] for row in APIS if row["forwardable"]}
    assert CONTROLLER_ONLY_APIS == CONTROLLER_APIS - BROKER_APIS


@pytest.mark.parametrize("version", range(5))
def test_a_request_comes_back(version: int) -> None:
    request = HeartbeatRequest(group_id="billing", generation_id=3, member_id="m")
    frame = encode_request(request, version, correlation_id=9, client_id="me")
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    header, decoded = decode_request(frame[4:])
    assert decoded == request
    assert (header.request_api_key, header.request_api_version) == (ApiKey.HEARTBEAT, version)
    assert (header.correlation_id, header.client_id) == (9, "me")


@pytest.mark.parametrize("version", range(5))
def test_a_response_comes_back(version: int) -> None:
    response = HeartbeatResponse(error_code=27)
    frame = encode_response(response, version, correlation_id=9)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert decode_response(frame[4:], ApiKey.HEARTBEAT, version) == (9, response)


def test_api_versions_is_answered_with_the_oldest_header() -> None:
    frame = encode_response(ApiVersionsResponse(), 4, correlation_id=1)
    assert frame[4:8] == bytes([0, 0, 0, 1])
    assert frame[8:10] == bytes(2)  # the error code follows at once, with no tags of a header in between
    assert decode_response(frame[4:], ApiKey.API_VERSIONS, 4) == (1, ApiVersionsResponse())


def test_the_client_id_never_has_a_compact_length() -> None:
    frame = encode_request(ApiVersionsRequest(), 3, correlation_id=0, client_id="ab")
    assert frame[4:].startswith(bytes.fromhex("0012 0003 00000000 0002 6162 00"))
    frame = encode_request(ApiVersionsRequest(), 3, correlation_id=0, client_id=None)
    assert frame[4:].startswith(bytes.fromhex("0012 0003 00000000 ffff 00"))


def test_pieces_around_records_have_the_size_in_front() -> None:
    records = memoryview(b"r" * 5000)
    response = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[PartitionData(records=records)])])
    pieces = encode_response_around(response, 11, correlation_id=4)
    assert any(piece is records for piece in pieces)
    assert b"".join(pieces) == encode_response(response, 11, correlation_id=4)  # type: ignore[arg-type]


def test_the_header_of_an_unknown_version_can_be_read() -> None:
    header, position = decode_request_header(bytes.fromhex("0012 00ff 00000005 0001 61 00"))
    assert (header.request_api_version, header.correlation_id, header.client_id, position) == (255, 5, "a", 12)
    header, _ = decode_request_header(bytes.fromhex("0012 ffff 00000005 0001 61"))
    assert header.request_api_version == -1


def test_odd_client_ids_are_tolerated() -> None:
    header, _ = decode_request_header(bytes.fromhex("000c 0000 00000005 fffe"))
    assert header.client_id is None
    header, _ = decode_request_header(bytes.fromhex("000c 0000 00000005 0001 ff"))
    assert header.client_id == "\ufffd"


def test_bytes_behind_a_request_are_tolerated_and_behind_a_response_not() -> None:
    frame = encode_request(HeartbeatRequest(), 0, correlation_id=1, client_id="c") + b"more"
    assert decode_request(frame[4:])[1] == HeartbeatRequest()
    answer = encode_response(HeartbeatResponse(), 0, correlation_id=1) + b"more"
    with pytest.raises(DecodeError, match="4 bytes left over"):
        decode_response(answer[4:], ApiKey.HEARTBEAT, 0)


@pytest.mark.parametrize("frame", ["", "00", "0012", "001200"])
def test_a_request_without_key_and_version_is_refused(frame: str) -> None:
    with pytest.raises(DecodeError):
        decode_request(bytes.fromhex(frame))


@pytest.mark.parametrize("key", ["0004", "0007", "005d", "7fff", "ffff"])
def test_unknown_keys_are_refused(key: str) -> None:
    with pytest.raises(InvalidRequestError, match="unknown API key"):
        decode_request(bytes.fromhex(key + "0000 00000001 ffff"))


def test_unknown_versions_are_refused() -> None:
    with pytest.raises(UnsupportedVersionError, match="HeartbeatRequest has versions 0-4, not 5"):
        decode_request(bytes.fromhex("000c 0005 00000001 ffff 00"))
