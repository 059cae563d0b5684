"""Bytes from strangers: refused with field path and position, or tolerated where Apache Kafka tolerates them."""

import tracemalloc

import pytest

from ottla.base.ids import Uuid
from ottla.protocol.codec import engine
from ottla.protocol.codec.reader import Reader
from ottla.protocol.codec.tolerant import ELEMENTS_MAX, TolerantReader
from ottla.protocol.definition import Message
from ottla.protocol.errors import DecodeError
from ottla.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsResponse
from ottla.protocol.messages.fetch import FetchRequest
from ottla.protocol.messages.find_coordinator import FindCoordinatorRequest
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.protocol.messages.offset_fetch import OffsetFetchRequest
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.messages.sync_group import SyncGroupRequest

BAD = [
    # what is wrong, message, version, bytes, path, reason
    ("nothing at all", HeartbeatRequest, 0, "", "HeartbeatRequest.group_id", "needs 2 bytes, 0 are left"),
    ("string past the end", HeartbeatRequest, 0, "0005 6162", "HeartbeatRequest.group_id", "needs 5 bytes, 2 are left"),
    ("null where none can stand", HeartbeatRequest, 0, "ffff", "HeartbeatRequest.group_id", "null where no null"),
    ("negative length", HeartbeatRequest, 3, "0000 00000000 0000 fffe", ".group_instance_id", "negative length -2"),
    ("integer cut short", HeartbeatRequest, 0, "0000 0000", "HeartbeatRequest.generation_id", "needs 4 bytes, 2 are"),
    ("bad UTF-8", HeartbeatRequest, 0, "0002 c328 00000000 0000", "HeartbeatRequest.group_id", "not UTF-8"),
    ("surrogate in UTF-8", HeartbeatRequest, 0, "0003 eda080 00000000 0000", ".group_id", "not UTF-8"),
    ("array of 2³¹ - 1", MetadataRequest, 0, "7fffffff", "MetadataRequest.topics", "an array of 2147483647 elements"),
    ("negative array", MetadataRequest, 1, "80000000", "MetadataRequest.topics", "negative length -2147483648"),
    ("array longer than its bytes", MetadataRequest, 0, "00000003 0000", ".topics", "an array of 3 elements in 2"),
    ("second element broken", MetadataRequest, 0, "00000002 000161 0005", "MetadataRequest.topics[1].name", "needs 5"),
    ("varint of six bytes", HeartbeatRequest, 4, "808080808001", "HeartbeatRequest.group_id", "longer than five bytes"),
    ("varint past 2³¹", HeartbeatRequest, 4, "ffffffff0f", "HeartbeatRequest.group_id", "past the limit"),
    ("varint cut short", HeartbeatRequest, 4, "80", "HeartbeatRequest.group_id", "needs 1 bytes, 0 are left"),
    ("compact string too long", HeartbeatRequest, 4, "818002", "HeartbeatRequest.group_id", "32767 is the limit"),
    ("tags out of order", HeartbeatRequest, 4, "01 00000000 01 00 02 0500 0300", ".<tags>", "tag 3 after tag 5"),
    ("a tag twice", HeartbeatRequest, 4, "01 00000000 01 00 02 0500 0500", ".<tags>", "tag 5 after tag 5"),
    ("a tag past the end", HeartbeatRequest, 4, "01 00000000 01 00 01 0509", ".<tag 5>", "needs 9 bytes"),
    ("more tags than bytes", HeartbeatRequest, 4, "01 00000000 01 00 ffffff7f", ".<tags>", "needs 1 bytes, 0"),
    ("records past the end", ProduceRequest, 3, "ffff 0001 00000000 00000001 000161 00000001 00000000 7fffffff",
     "ProduceRequest.topic_data[0].partition_data[0].records", "needs 2147483647 bytes, 0 are left"),
    ("uuid cut short", MetadataRequest, 10, "02 0000", "MetadataRequest.topics[0].topic_id", "needs 16 bytes, 2 are"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("message", "version", "raw", "path", "reason"), [pytest.param(*row[1:], id=row[0]) for row in BAD]
)
def test_refused_with_path_and_position(message: type[Message], version: int, raw: str, path: str, reason: str) -> None:
    with pytest.raises(DecodeError) as caught:
        message.decode(bytes.fromhex(raw), version)
    assert caught.value.path.endswith(path)
    assert reason in caught.value.reason
    assert caught.value.position is not None
    assert f"(at byte {caught.value.position})" in str(caught.value)
    if engine.COMPILED:
        refused = engine._decoder.decode(message.plan(version), bytes.fromhex(raw), 0, tolerant=False)
        assert isinstance(refused, DecodeError)
        assert refused.path.split(".<tag")[0] == caught.value.path.split(".<tag")[0]


def test_bytes_left_over_are_refused_in_strict_decoding() -> None:
    with pytest.raises(DecodeError, match="2 bytes left over"):
        HeartbeatRequest.decode(bytes.fromhex("0000 00000000 0000 ffff"), 0)


TOLERATED = [
    ("trailing bytes", HeartbeatRequest, 0, "000167 00000001 0000 ffff",
     HeartbeatRequest(group_id="g", generation_id=1)),
    ("null by another negative length", HeartbeatRequest, 3, "0000 00000000 0000 fffe", HeartbeatRequest()),
    ("null array by another length", MetadataRequest, 1, "80000000", MetadataRequest(topics=None)),
    ("null by a compact length past 2³¹", MetadataRequest, 9, "ffffffff0f 01 00 00 00",
     MetadataRequest(topics=None, allow_auto_topic_creation=True)),
    ("bad UTF-8", HeartbeatRequest, 0, "0002 c328 00000000 0000", HeartbeatRequest(group_id="\ufffd(")),
    ("tags falling and twice, the last one counts", HeartbeatRequest, 4, "01 00000000 01 00 03 050161 0300 050162",
     HeartbeatRequest(unknown_tags={5: b"b", 3: b""})),
    ("boolean 2", MetadataRequest, 4, "ffffffff 02", MetadataRequest(topics=None, allow_auto_topic_creation=True)),
    ("more tags than Java's int holds", HeartbeatRequest, 4, "01 00000000 01 00 ffffffff0f", HeartbeatRequest()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("message", "version", "raw", "expected"), [pytest.param(*row[1:], id=row[0]) for row in TOLERATED]
)
def test_tolerated_in_requests(message: type[Message], version: int, raw: str, expected: Message) -> None:
    value, _ = message.decode_tolerantly(bytes.fromhex(raw), 0, version)
    assert value == expected
    assert TolerantReader(bytes.fromhex(raw), 0).read(message.plan(version)) == expected


@pytest.mark.parametrize("row", [row for row in BAD if row[0] in {
    "string past the end", "null where none can stand", "array of 2³¹ - 1", "varint of six bytes",
    "array longer than its bytes", "compact string too long", "a tag past the end", "records past the end"}],
    ids=lambda row: row[0],
)  # fmt: skip
def test_not_tolerated_in_requests_either(row: tuple[str, type[Message], int, str, str, str]) -> None:
    _, message, version, raw, _, _ = row
    with pytest.raises(DecodeError):
        message.decode_tolerantly(bytes.fromhex(raw), 0, version)


def test_a_tagged_field_must_have_the_size_it_says() -> None:
    # Fetch v12, tag 0 is the cluster id: it says 9 bytes and has 2.
    good = FetchRequest(cluster_id="x").encode(12)
    assert good.endswith(bytes.fromhex("01 00 02 0278"))
    bad = good[:-3] + bytes.fromhex("09 0278") + bytes(7)
    with pytest.raises(DecodeError, match="says 9 bytes and has 2"):
        FetchRequest.decode(bad, 12)
    value, _ = FetchRequest.decode_tolerantly(bad, 0, 12)
    assert value.cluster_id == "x"


def test_memory_stays_within_the_bytes_received() -> None:
    """A kilobyte that promises millions of elements costs kilobytes."""
    raw = bytes.fromhex("7fffffff") + bytes(1000)
    lying = (1000).to_bytes(4, "big") + bytes(1000)
    for reader in (Reader, TolerantReader):
        tracemalloc.start()
        with pytest.raises(DecodeError):
            reader(raw, 0).read(MetadataRequest.plan(0))
        with pytest.raises(DecodeError):
            reader(lying, 0).read(MetadataRequest.plan(0))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 500_000


def test_large_messages_are_refused_with_the_place_alone() -> None:
    """Reading a hundred megabytes again in plain Python, to say why, would pay for an attack."""
    topics = [MetadataRequestTopic(name=f"topic-{index}") for index in range(10_000)]
    encoded = MetadataRequest(topics=topics).encode(0)
    assert len(encoded) > engine.EXPLAINED_BYTES_MAX
    with pytest.raises(DecodeError) as caught:
        MetadataRequest.decode(encoded[:-1], 0)
    assert caught.value.path == "MetadataRequest.topics[9999].name"
    assert caught.value.position == len(encoded) - 10


@pytest.mark.parametrize("raw", [b"", b"\x00" * 3, b"\xff" * 64, b"\x00" * 64, bytes(range(64))])
@pytest.mark.parametrize("message", [OffsetFetchRequest, SyncGroupRequest, DescribeTopicPartitionsResponse])
def test_every_version_answers_with_a_decode_error_or_a_value(message: type[Message], raw: bytes) -> None:
    for version in range(message.valid_versions.lowest, message.valid_versions.highest + 1):
        try:
            value, position = message.decode_from(raw, 0, version)
        except DecodeError:
            continue
        assert isinstance(value, message)
        assert position <= len(raw)


def test_positions_outside_the_buffer_are_refused() -> None:
    for position in (-1, 5):
        with pytest.raises(DecodeError):
            HeartbeatRequest.decode_from(b"abcd", position, 0)


def test_input_may_be_any_buffer() -> None:
    request = MetadataRequest(topics=[MetadataRequestTopic(name="orders", topic_id=Uuid(range(16)))])
    encoded = request.encode(12)
    for buffer in (encoded, bytearray(encoded), memoryview(encoded), memoryview(bytearray(b"xx" + encoded))[2:]):
        assert MetadataRequest.decode(buffer, 12) == request


def test_views_of_wider_items_are_read_as_bytes() -> None:
    topics = [TopicProduceData(partition_data=[PartitionProduceData(records=bytes(range(40)))])]
    encoded = ProduceRequest(topic_data=topics).encode(9)
    padded = encoded + bytes(-len(encoded) % 4)
    request, _ = ProduceRequest.decode_from(memoryview(padded).cast("I"), 0, 9)
    assert request.topic_data[0].partition_data[0].records == bytes(range(40))


def test_a_request_of_too_many_elements_is_refused_before_they_are_read() -> None:
    names = [""] * (ELEMENTS_MAX + 1)
    encoded = FindCoordinatorRequest(key_type=0, coordinator_keys=names).encode(4)
    plan = FindCoordinatorRequest.plan(4)
    with pytest.raises(DecodeError, match=r"FindCoordinatorRequest\.coordinator_keys"):
        engine.decode_tolerantly(plan, encoded, 0)
    with pytest.raises(DecodeError, match=f"more than {ELEMENTS_MAX} elements"):
        TolerantReader(encoded, 0).read(plan)
    assert len(engine.decode(plan, encoded, 0)[0].coordinator_keys) == len(names)
