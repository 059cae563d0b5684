"""Messages as a programmer meets them: made with keywords, compared by value, refused with a reason."""

import copy
import pickle
import subprocess
import sys
import typing
from typing import Any

import pytest

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.protocol.codec.reader import Reader
from ottla.protocol.definition import Message, Struct
from ottla.protocol.errors import DecodeError, EncodeError, UnsupportedVersionError
from ottla.protocol.field import Records, int32, string
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.list_groups import ListGroupsRequest
from ottla.protocol.messages.metadata import MetadataRequest
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from ottla.protocol.struct_type import Field, Kind
from tests.vectors.message_vectors import message_types


def test_what_is_left_out_has_kafkas_default() -> None:
    request = FetchRequest()
    assert (request.replica_id, request.max_bytes, request.session_epoch) == (-1, 0x7FFFFFFF, -1)
    assert request.cluster_id is None
    assert request.topics == []
    assert request.replica_state.replica_epoch == -1
    assert FetchPartition().replica_directory_id == ZERO_UUID


def test_instances_do_not_share_lists_or_structs() -> None:
    first, second = FetchRequest(), FetchRequest()
    first.topics.append(FetchTopic(topic="orders"))
    first.replica_state.replica_id = 7
    assert second == FetchRequest()
    assert first != second


def test_unknown_names_are_refused() -> None:
    with pytest.raises(TypeError, match="grup_id"):
        HeartbeatRequest(grup_id="typo")  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        HeartbeatRequest().grup_id = "typo"  # type: ignore[attr-defined]


def test_shows_what_differs_from_the_defaults() -> None:
    request = FetchRequest(max_wait_ms=500, topics=[FetchTopic(topic="orders")], unknown_tags={9: b"x"})
    assert repr(request) == "FetchRequest(max_wait_ms=500, topics=[FetchTopic(topic='orders')], unknown_tags={9: b'x'})"


def test_copies_and_pickles() -> None:
    request = FetchRequest(topics=[FetchTopic(topic="orders", partitions=[FetchPartition(partition=1)])])
    for clone in (copy.deepcopy(request), pickle.loads(pickle.dumps(request))):
        assert clone == request
        assert clone is not request


def test_is_not_hashable_because_it_can_change() -> None:
    with pytest.raises(TypeError):
        hash(HeartbeatRequest())


def test_versions_outside_the_range_are_refused() -> None:
    for version in (-1, 3, 19):
        with pytest.raises(UnsupportedVersionError, match=f"FetchRequest has versions 4-18, not {version}"):
            FetchRequest().encode(version)


NOT_CARRIED = [
    (ListGroupsRequest(states_filter=["Stable"]), 3, "ListGroupsRequest.states_filter: version 3 has no such field"),
    (HeartbeatRequest(group_instance_id="i-1"), 2, "HeartbeatRequest.group_instance_id"),
    (FetchRequest(topics=[FetchTopic(partitions=[FetchPartition(last_fetched_epoch=3)])]), 11,
     "FetchRequest.topics[0].partitions[0].last_fetched_epoch"),
    (MetadataRequest(allow_auto_topic_creation=False), 3, "MetadataRequest.allow_auto_topic_creation"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "version", "reason"), NOT_CARRIED)
def test_a_value_that_the_version_cannot_carry_is_an_error(message: Message, version: int, reason: str) -> None:
    with pytest.raises(UnsupportedVersionError) as caught:
        message.encode(version)
    assert reason in str(caught.value)


def test_an_ignorable_value_is_dropped_by_versions_without_it() -> None:
    request = FetchRequest(rack_id="east", max_bytes=5)
    assert FetchRequest.decode(request.encode(10), 10) == FetchRequest(max_bytes=5)
    assert FetchRequest.decode(request.encode(11), 11) == request


UNFIT = [
    (HeartbeatRequest(generation_id=1 << 31), "HeartbeatRequest.generation_id: 2147483648 is not within"),
    (HeartbeatRequest(generation_id=-(1 << 70)), "is not within"),
    (HeartbeatRequest(generation_id="1"), "'1' is not an integer"),  # type: ignore[arg-type]
    (HeartbeatRequest(group_id=None), "HeartbeatRequest.group_id: null where no null can stand"),  # type: ignore[arg-type]
    (HeartbeatRequest(group_id=b"g"), "b'g' is not a str"),  # type: ignore[arg-type]
    (HeartbeatRequest(group_id="x" * 32768), "a string of 32768 bytes; 32767 is the limit"),
    (HeartbeatRequest(group_id="\ud800"), "no UTF-8 for it"),
]


@pytest.mark.parametrize(("message", "reason"), UNFIT)
def test_a_value_that_does_not_fit_its_field_is_an_error(message: Message, reason: str) -> None:
    for version in (3, 4):
        with pytest.raises(EncodeError) as caught:
            message.encode(version)
        assert reason in str(caught.value)


def test_errors_name_the_element() -> None:
    request = CreateTopicsRequest(topics=[CreatableTopic(name="a"), CreatableTopic(name="b", num_partitions=1 << 40)])
    with pytest.raises(EncodeError, match=r"CreateTopicsRequest.topics\[1\].num_partitions"):
        request.encode(7)
    request.topics[1] = FetchTopic()  # type: ignore[call-overload]
    with pytest.raises(EncodeError, match=r"CreateTopicsRequest.topics\[1\]: .* is not a CreatableTopic"):
        request.encode(7)
    request.topics = 5  # type: ignore[assignment]
    with pytest.raises(EncodeError, match="5 is neither list nor tuple"):
        request.encode(7)


def test_a_deleted_attribute_is_an_error() -> None:
    request = HeartbeatRequest()
    del request.group_id
    with pytest.raises(EncodeError, match="group_id was deleted"):
        request.encode(0)


def test_uuids_must_be_sixteen_bytes() -> None:
    request = FetchRequest(topics=[FetchTopic(topic_id=b"short")])  # type: ignore[arg-type]
    with pytest.raises(EncodeError, match=r"topics\[0\].topic_id: b'short' is not sixteen bytes"):
        request.encode(13)


def test_unknown_tags_are_kept_and_written_back() -> None:
    newer = HeartbeatRequest(group_id="g", unknown_tags={3: b"abc", 500: b""})
    encoded = newer.encode(4)
    assert HeartbeatRequest.decode(encoded, 4).unknown_tags == {3: b"abc", 500: b""}
    assert HeartbeatRequest.decode(encoded, 4).encode(4) == encoded


@pytest.mark.parametrize("tag", [0, -1, 1 << 31])
def test_unknown_tags_cannot_take_a_known_or_impossible_place(tag: int) -> None:
    with pytest.raises(EncodeError, match="can't be used for an unknown field"):
        FetchRequest(unknown_tags={tag: b""}).encode(12)


def test_unknown_tags_need_a_flexible_version() -> None:
    with pytest.raises(UnsupportedVersionError, match="version 3 has no tagged fields, yet some are set"):
        HeartbeatRequest(unknown_tags={1: b"x"}).encode(3)


@pytest.mark.parametrize("tags", [{1: 5}, {1: "x"}, {"1": b""}, [1], {1: None}])
def test_unknown_tags_are_bytes_by_number(tags: Any) -> None:
    with pytest.raises(EncodeError):
        HeartbeatRequest(unknown_tags=tags).encode(4)


def test_base_classes_and_subclasses_have_constructors_of_their_own() -> None:
    class Base(Message, versions="0"):
        name: str = string("0+")

    class Extended(Base, versions="0-1"):
        more: int = int32("1+")

    assert Message() == Message()
    assert Extended(name="n", more=3).encode(1) == bytes.fromhex("0001 6e 00000003")
    assert Base(name="n").encode(0) == bytes.fromhex("0001 6e")
    assert Extended(name="a") != Extended(name="b")


def test_secrets_are_not_shown() -> None:
    request = SaslAuthenticateRequest(auth_bytes=b"\0user\0password")
    assert repr(request) == "SaslAuthenticateRequest(auth_bytes=***)"
    assert SaslAuthenticateRequest.decode(request.encode(2), 2).auth_bytes == b"\0user\0password"


def test_errors_stay_short_whatever_the_value() -> None:
    with pytest.raises(EncodeError) as caught:
        HeartbeatRequest(group_id=bytes(1 << 20)).encode(4)  # type: ignore[arg-type]
    assert str(caught.value) == "HeartbeatRequest.group_id: bytes of 1048576 is not a str"


def test_errors_can_be_sent_to_another_process() -> None:
    with pytest.raises(EncodeError) as refused:
        HeartbeatRequest(generation_id=1 << 40).encode(4)
    with pytest.raises(DecodeError) as malformed:
        HeartbeatRequest.decode(b"", 4)
    for error in (refused.value, malformed.value):
        clone = pickle.loads(pickle.dumps(error))
        assert type(clone) is type(error)
        assert str(clone) == str(error)


@pytest.mark.parametrize("records", [5, "text", memoryview(b"abcdef")[::2]])
def test_records_must_be_bytes_or_a_stretch_of_a_file(records: Any) -> None:
    request = ProduceRequest(topic_data=[TopicProduceData(partition_data=[PartitionProduceData(records=records)])])
    for encode in (request.encode, request.encode_around):
        with pytest.raises(EncodeError, match=r"topic_data\[0\].partition_data\[0\].records"):
            encode(9)


class Meddler:
    """Empties the list that is being written, at the moment when it is compared with the field's default."""

    def __init__(self, victims: list[Any]) -> None:
        self.victims = victims

    def __eq__(self, other: object) -> bool:
        self.victims.clear()
        return True

    __hash__ = None  # type: ignore[assignment]


def test_a_list_that_changes_while_it_is_written_does_no_harm() -> None:
    partitions: list[Any] = [FetchPartition(partition=index) for index in range(3)]
    partitions[0].high_watermark = Meddler(partitions)
    request = FetchRequest(topics=[FetchTopic(partitions=partitions)])
    # The plain writer, asked to explain, finds the list empty by then: what it writes is whole.
    assert FetchRequest.decode(request.encode(18), 18).topics == [FetchTopic()]


def test_records_come_out_as_a_view_of_the_input() -> None:
    batch = b"not looked into"
    request = ProduceRequest(topic_data=[TopicProduceData(partition_data=[PartitionProduceData(records=batch)])])
    encoded = bytearray(request.encode(9))
    decoded = ProduceRequest.decode(encoded, 9)
    records = decoded.topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert records == batch
    encoded[encoded.index(batch)] = ord("N")
    assert records == b"Not looked into"


class Region:
    """A stretch of a file, as storage hands it out."""

    position = 100

    def fileno(self) -> int:
        return 3

    def __len__(self) -> int:
        return 1000


def test_encoding_around_records_leaves_them_as_they_are() -> None:
    region, view = Region(), memoryview(b"abcd")
    partitions = [PartitionData(records=records) for records in (region, view, None)]
    response = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=partitions)])
    pieces = response.encode_around(11)
    assert [type(piece) for piece in pieces] == [bytes, Region, bytes, memoryview, bytes]
    assert pieces[1] is region
    assert pieces[3] is view
    whole = b"".join(bytes(1000) if piece is region else piece for piece in pieces)  # type: ignore[misc]
    decoded = FetchResponse.decode(whole, 11).responses[0].partitions
    assert [partition.records for partition in decoded] == [bytes(1000), b"abcd", None]
    with pytest.raises(EncodeError, match="encode around it instead"):
        response.encode(11)


def test_annotations_agree_with_the_definitions() -> None:
    """What a type checker is told is what the codec does."""
    seen: set[type[Struct]] = set()
    for message in message_types().values():
        _check_annotations(message, seen)
    assert len(seen) > 500


def _check_annotations(struct: type[Struct], seen: set[type[Struct]]) -> None:
    if struct in seen:
        return
    seen.add(struct)
    hints = typing.get_type_hints(struct)
    for name, field in struct.definition.items():
        assert hints[name] == _annotation(field), f"{struct.__name__}.{name}"
        if field.struct is not None:
            _check_annotations(field.struct, seen)


SIMPLE: dict[Kind, Any] = {
    Kind.BOOL: bool,
    Kind.FLOAT64: float,
    Kind.UUID: Uuid,
    Kind.STRING: str,
    Kind.BYTES: bytes,
    Kind.RECORDS: Records,
}


def _annotation(field: Field) -> Any:
    kind = field.element if field.element is not None else field.kind
    inner = field.struct if kind is Kind.STRUCT else SIMPLE.get(kind, int)
    whole = list[inner] if field.kind is Kind.ARRAY else inner  # type: ignore[valid-type]
    may_be_none = field.nullable.highest >= field.nullable.lowest or field.default is None
    return whole | None if may_be_none else whole


def test_importing_the_protocol_builds_nothing() -> None:
    script = "import ottla.protocol, sys; print([name for name in sys.modules if name.startswith('ottla')])"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "['ottla', 'ottla.protocol']"


def test_using_one_message_imports_no_other() -> None:
    script = (
        "import sys; from ottla.protocol.messages.heartbeat import HeartbeatRequest; HeartbeatRequest().encode(4);"
        "print(sorted(name for name in sys.modules if name.startswith('ottla.protocol.messages.')), "
        "sorted(HeartbeatRequest._plans))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "['ottla.protocol.messages.heartbeat'] [4]"


def test_the_plain_twins_alone_do_the_work_when_asked() -> None:
    script = (
        "import ottla.protocol.codec.engine as engine; from ottla.protocol.messages.heartbeat import HeartbeatRequest;"
        "print(engine.COMPILED, HeartbeatRequest.decode(HeartbeatRequest(group_id='g').encode(4), 4))"
    )
    environment = {"OTTLA_PLAIN": "1"}
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert shown.stdout.strip() == "False HeartbeatRequest(group_id='g')"


def test_the_plain_reader_reads_at_a_position() -> None:
    encoded = b"xyz" + HeartbeatRequest(group_id="g").encode(0)
    assert Reader(encoded, 3).read(HeartbeatRequest.plan(0)) == HeartbeatRequest(group_id="g")
