"""Produce and InitProducerId: batches good and bad, acknowledgements, idempotence."""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.compression import CompressionType
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest
from ottla.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.clients.patience import until
from tests.parity.batch import TIME_MS, bad_batches, batch, patched
from tests.parity.talk import Talk, Topic, framed

NEWEST = 13


def request(
    topic: Topic, *partitions: tuple[int, bytes | None], acks: int = -1, transaction: str | None = None
) -> ProduceRequest:
    """Records for partitions of one topic; names and ids are both there, each version takes what it knows."""
    data = [PartitionProduceData(index=index, records=records) for index, records in partitions]
    topics = [TopicProduceData(name=topic.name, topic_id=topic.id, partition_data=data)]
    return ProduceRequest(transactional_id=transaction, acks=acks, timeout_ms=5_000, topic_data=topics)


def run(talk: Talk) -> None:
    """All about Produce."""
    topic = talk.topic("produce", 2)
    talk.ask_all_versions("one batch", request(topic, (0, batch(b"v"))))
    for codec in CompressionType:
        for version in (3, 6, 7, NEWEST):
            talk.ask(f"{codec.name.lower()}", request(topic, (1, batch(b"a", b"b", compression=codec))), version)
    _acks(talk, topic)
    _targets(talk, topic)
    _bad(talk, talk.topic("produce-bad"))
    _spoiled(talk, topic)
    _limits(talk)
    _idempotence(talk, talk.topic("produce-idempotent"))
    _transactions(talk, topic)
    _producer_ids(talk)


def _acks(talk: Talk, topic: Topic) -> None:
    for acks in (1, -1, 2, -2):
        talk.ask(f"acks {acks}", request(topic, (0, batch(b"v")), acks=acks), NEWEST)
        talk.ask(f"acks {acks}", request(topic, (0, batch(b"v")), acks=acks), 3)
    talk.ask("acks 0 to an unknown partition", request(topic, (9, batch(b"v")), acks=0), NEWEST, patience=2)
    talk.ask("acks 0 with a bad batch", request(topic, (0, b"junk"), acks=0), NEWEST, patience=2)
    talk.ask("acks 0", request(topic, (0, batch(b"v")), acks=0), NEWEST, patience=1)


def _targets(talk: Talk, topic: Topic) -> None:
    unknown = Topic("produce-unknown", Uuid(b"\x01" * 16))
    for version in (3, 9, 12, 13):
        talk.ask("an unknown topic", request(unknown, (0, batch(b"v"))), version)
        talk.ask("an unknown partition", request(topic, (5, batch(b"v"))), version)
    talk.ask("a negative partition", request(topic, (-1, batch(b"v"))), 9)
    talk.ask("a bad topic name", request(Topic("a/b", topic.id), (0, batch(b"v"))), 9)
    talk.ask("no topic name", request(Topic("", topic.id), (0, batch(b"v"))), 9)
    talk.ask("no topic id", request(Topic("", Uuid(bytes(16))), (0, batch(b"v"))), 13)
    talk.ask("a good and a bad partition", request(topic, (0, batch(b"v")), (7, batch(b"v"))), NEWEST)
    talk.ask("the same partition twice", request(topic, (0, batch(b"v")), (0, batch(b"w"))), 9)
    talk.ask("the same partition twice", request(topic, (0, batch(b"v")), (0, batch(b"w"))), NEWEST)
    talk.ask("no partitions", request(topic), NEWEST)
    talk.ask("no topics", ProduceRequest(acks=1, timeout_ms=1_000), NEWEST)
    talk.ask("a time-out of -1", ProduceRequest(acks=1, timeout_ms=-1), NEWEST)
    talk.ask("null records", request(topic, (0, None)), NEWEST, patience=2)
    talk.ask("null records", request(topic, (0, None)), 8, patience=2)


def _bad(talk: Talk, topic: Topic) -> None:
    for name, data in bad_batches().items():
        talk.ask(name, request(topic, (0, data)), NEWEST)
        if name in ("empty", "two batches", "a flipped bit", "magic 1"):
            talk.ask(name, request(topic, (0, data)), 3)
            talk.ask(name, request(topic, (0, data)), 8)
    talk.raw("no Produce body", framed(0, 9, b""), ApiKey.PRODUCE, 9)


def _spoiled(talk: Talk, topic: Topic) -> None:
    """Good batches together with others, of topics known or not."""
    bad = bad_batches()
    unknown = Topic("produce-none", Uuid(b"\x01" * 16))
    for name in ("magic 3", "length 0", "length 14", "length 48", "a flipped bit", "empty", "magic 1", "two batches"):
        for version in (3, 9, NEWEST):
            talk.ask(f"{name}, and a good one", request(topic, (0, bad[name]), (1, batch(b"v"))), version)
            talk.ask(f"{name} for an unknown partition", request(topic, (0, batch(b"v")), (9, bad[name])), version)
            mixed = request(topic, (0, batch(b"v")))
            mixed.topic_data += request(unknown, (0, bad[name]), (1, batch(b"v"))).topic_data
            talk.ask(f"{name} for an unknown topic", mixed, version)
    both = request(topic, (0, bad["length 0"]), (1, bad["magic 3"]), (0, bad["length -1"]))
    both.topic_data += request(unknown, (0, bad["magic 3"])).topic_data + request(topic, (1, batch(b"v"))).topic_data
    talk.ask_all_versions("spoiled in three ways", both)
    talk.ask("the end of what was not spoiled", ListOffsetsRequest(replica_id=-1, topics=[_ends(topic)]), 7)


def _ends(topic: Topic) -> ListOffsetsTopic:
    asked = [ListOffsetsPartition(partition_index=index, timestamp=-1) for index in range(2)]
    return ListOffsetsTopic(name=topic.name, partitions=asked)


def _limits(talk: Talk) -> None:
    small = talk.topic("produce-small", max_message_bytes="500")
    talk.ask("a batch above max.message.bytes", request(small, (0, batch(bytes(1_000)))), NEWEST)
    talk.ask("a good one behind", request(small, (0, batch(b"v"))), NEWEST)
    compacted = talk.topic("produce-compacted", cleanup_policy="compact")
    talk.ask("no key on a compacted topic", request(compacted, (0, batch(b"v", b"w", key=None))), NEWEST)
    talk.ask("no key on a compacted topic", request(compacted, (0, batch(b"v", key=None))), 7)
    bounded = talk.topic(
        "produce-bounded", message_timestamp_before_max_ms="1000", message_timestamp_after_max_ms="1000"
    )
    talk.ask("too old", request(bounded, (0, batch(b"v"))), NEWEST)
    talk.ask("too far ahead", request(bounded, (0, batch(b"v", time_ms=TIME_MS * 3))), NEWEST)
    plain = talk.topic("produce-plain")
    talk.ask("two hours ahead by default", request(plain, (0, batch(b"v", time_ms=TIME_MS * 3))), NEWEST)
    talk.ask("a time of 0", request(plain, (0, batch(b"v", time_ms=0))), NEWEST)
    talk.ask("a time of -1", request(plain, (0, batch(b"v", time_ms=-1))), NEWEST)
    talk.ask("a time of -2", request(plain, (0, batch(b"v", time_ms=-2))), NEWEST)
    arrival = talk.topic("produce-arrival", message_timestamp_type="LogAppendTime")
    talk.ask_all_versions("on a topic with LogAppendTime", request(arrival, (0, batch(b"v"))))
    recompressed = talk.topic("produce-recompressed", compression_type="gzip")
    talk.ask("recompressed", request(recompressed, (0, batch(b"v" * 100, b"w" * 100))), NEWEST)
    safe = talk.topic("produce-safe", min_insync_replicas="2")
    talk.ask("acks all with too few replicas", request(safe, (0, batch(b"v"))), NEWEST)
    talk.ask("acks 1 with too few replicas", request(safe, (0, batch(b"v")), acks=1), NEWEST)


def _idempotence(talk: Talk, topic: Topic) -> None:
    steps = (
        ("the first batch", 1000, 0, 0),
        ("its duplicate", 1000, 0, 0),
        ("the next", 1000, 0, 2),
        ("the one after", 1000, 0, 4),
        ("a gap", 1000, 0, 9),
        ("an old duplicate", 1000, 0, 2),
        ("a partial duplicate", 1000, 0, 5),
        ("a new epoch at 7", 1000, 1, 7),
        ("a new epoch at 0", 1000, 1, 0),
        ("the old epoch", 1000, 0, 6),
        ("an unknown producer at 5", 2000, 0, 5),
        ("an unknown producer at the end", 3000, 0, 2**31 - 2),
        ("over the end", 3000, 0, 0),
        ("an epoch of -5", 4000, -5, 0),
    )
    for name, producer_id, epoch, sequence in steps:
        producer = (producer_id, epoch, sequence)
        talk.ask(f"idempotent: {name}", request(topic, (0, batch(b"a", b"b", producer=producer))), NEWEST)
    for sequence in range(2, 14, 2):
        talk.quietly(request(topic, (0, batch(b"a", b"b", producer=(1000, 1, sequence)))), NEWEST)
    talk.ask(
        "idempotent: a duplicate of 6 batches ago",
        request(topic, (0, batch(b"a", b"b", producer=(1000, 1, 0)))),
        NEWEST,
    )


def _transactions(talk: Talk, topic: Topic) -> None:
    talk.ask("a transactional id with a plain batch", request(topic, (0, batch(b"v")), transaction="t"), 11)
    squeezed = patched(batch(b"v", compression=CompressionType.ZSTD, producer=(99, 0, 0)), ">h", 21, 16 + 4)
    for version in (6, 7):
        talk.ask("transactional zstd without an id", request(topic, (0, squeezed)), version)
    unknown = Topic("produce-unknown", Uuid(b"\x01" * 16))
    talk.ask("transactional without an id, to an unknown topic", request(unknown, (0, squeezed)), NEWEST)


def _producer_ids(talk: Talk) -> None:
    # The first request is answered with 14 until a block of ids has come from the controller.
    until(
        0,
        lambda: talk.quietly(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1_000), 4).error_code,
    )
    talk.ask_all_versions(
        "no transactional id", InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1_000), "0-5"
    )
    talk.ask("an empty transactional id", InitProducerIdRequest(transactional_id="", transaction_timeout_ms=1_000), 4)
    talk.ask("a time-out of 0", InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0), 4)
    talk.ask(
        "an id without an epoch",
        InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1, producer_id=5),
        4,
    )
    known = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1, producer_id=5, producer_epoch=3)
    talk.ask("an id with an epoch", known, 4)
