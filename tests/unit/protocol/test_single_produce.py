"""The short way for Produce reads and writes what the codec does, and leaves to it what it does not know."""

from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.base.accelerated import compiled_module
from ottla.base.ids import Uuid
from ottla.protocol import single_produce_plain
from ottla.protocol.frame import decode_request, encode_request, encode_response
from ottla.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

_COMPILED = compiled_module("ottla.protocol._single_produce")
TWINS = [single_produce_plain] if _COMPILED is None else [single_produce_plain, _COMPILED]
VERSIONS = range(3, 14)
TOPIC_ID = Uuid(bytes(range(16)))
NAMES = ["t", "x" * 126, "x" * 127, "x" * 249, ""]


@pytest.fixture(params=TWINS, ids=lambda twin: twin.__name__.rpartition(".")[2])
def twin(request: pytest.FixtureRequest) -> ModuleType:
    return request.param


def _request(name: str = "orders", *, transactional_id: str | None = None, records: bytes | None = b"records" * 40):
    partition = PartitionProduceData(index=7, records=records)
    topic = TopicProduceData(name=name, topic_id=TOPIC_ID, partition_data=[partition])
    return ProduceRequest(transactional_id=transactional_id, acks=-1, timeout_ms=1500, topic_data=[topic])


def _frame(request: ProduceRequest, version: int, client_id: str | None = "me") -> bytes:
    return encode_request(request, version, correlation_id=77, client_id=client_id)[4:]


def _key(name: str, version: int) -> bytes:
    return bytes(TOPIC_ID) if version >= 13 else name.encode()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("client_id", ["me", "", None])
def test_reads_what_the_codec_reads(twin: ModuleType, version: int, name: str, client_id: str | None) -> None:
    request = _request(name)
    found = twin.parse(bytearray(_frame(request, version, client_id)))
    client = None if client_id is None else client_id.encode()
    assert found[:7] == (version, 77, client, -1, 1500, _key(name, version), 7)
    assert found[7] == request.topic_data[0].partition_data[0].records


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", NAMES)
def test_writes_what_the_codec_writes(twin: ModuleType, version: int, name: str) -> None:
    answer = PartitionProduceResponse(index=7, base_offset=2**40, log_append_time_ms=-1, log_start_offset=12)
    topic = TopicProduceResponse(name=name, topic_id=TOPIC_ID, partition_responses=[answer])
    request = twin.parse(_frame(_request(name), version))
    expected = encode_response(ProduceResponse(responses=[topic]), version, correlation_id=77)
    assert twin.encode(request, 2**40, -1, 12) == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_leaves_everything_else_to_the_codec(twin: ModuleType, version: int) -> None:
    assert twin.parse(_frame(_request(transactional_id="x"), version)) is None
    assert twin.parse(_frame(_request(records=None), version)) is None
    assert twin.parse(_frame(ProduceRequest(acks=1, timeout_ms=1), version)) is None
    two = _request()
    two.topic_data = two.topic_data * 2
    assert twin.parse(_frame(two, version)) is None
    two = _request()
    two.topic_data[0].partition_data = two.topic_data[0].partition_data * 2
    assert twin.parse(_frame(two, version)) is None
    if version >= 9:
        tagged = _request()
        tagged.unknown_tags = {5: b"x"}
        assert twin.parse(_frame(tagged, version)) is None
    assert twin.parse(b"\x00\x01" + _frame(_request(), version)[2:]) is None


@pytest.mark.parametrize("version", [2, 14, -1])
def test_leaves_other_versions_to_the_codec(twin: ModuleType, version: int) -> None:
    frame = bytearray(_frame(_request(), 9))
    frame[2:4] = version.to_bytes(2, "big", signed=True)
    assert twin.parse(frame) is None


@given(st.sampled_from([3, 8, 9, 12, 13]), st.integers(0, 400), st.binary(max_size=3), st.booleans())
@settings(max_examples=400, deadline=None)
def test_damaged_frames(version: int, at: int, patch: bytes, cut: bool) -> None:
    frame = bytearray(_frame(_request(), version))
    if cut:
        del frame[at:]
    else:
        frame[at : at + len(patch)] = patch
    outcomes = [twin.parse(bytes(frame)) for twin in TWINS]
    assert all(outcome == outcomes[0] for outcome in outcomes)
    if outcomes[0] is not None:
        _, request = decode_request(frame)
        assert isinstance(request, ProduceRequest)
        [topic] = request.topic_data
        [partition] = topic.partition_data
        assert (request.acks, request.timeout_ms, partition.index) == outcomes[0][3:5] + outcomes[0][6:7]
        assert partition.records == outcomes[0][7]
