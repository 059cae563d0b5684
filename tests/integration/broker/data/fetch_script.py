"""Fetch and the calls beside it. Each function is a scene: what is said, and what is heard in return."""

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.protocol.messages import delete_records, describe_producers, list_offsets, offset_for_leader_epoch
from ottla.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from ottla.protocol.messages.sasl_handshake import SaslHandshakeRequest
from ottla.protocol.records.writer import BatchOptions
from tests.integration.broker.data.produce_script import START, Ids, Scene, batch, produce, producer_id
from tests.integration.broker.data.wire import Talk, shown

EVERYTHING = 1 << 20


def wanted(topic: str | Uuid, *partitions: FetchPartition) -> FetchTopic:
    """What is asked for of one topic."""
    asked = FetchTopic(partitions=list(partitions) or [FetchPartition(partition_max_bytes=EVERYTHING)])
    if isinstance(topic, Uuid):
        asked.topic_id = topic
    else:
        asked.topic = topic
    return asked


def fetch(*topics: FetchTopic, **fields: object) -> FetchRequest:
    """A fetch that does not wait, unless it says so."""
    settings = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": EVERYTHING, **fields}
    return FetchRequest(topics=list(topics), **settings)  # type: ignore[arg-type]


def at(offset: int, **fields: object) -> FetchPartition:
    """Partition 0 from an offset on."""
    settings = {"fetch_offset": offset, "partition_max_bytes": EVERYTHING, **fields}
    return FetchPartition(**settings)  # type: ignore[arg-type]


def versions(wire: Talk, ids: Ids) -> Scene:
    wire.ask(produce("read", batch(3)), 9)
    wire.ask(produce("read", batch(2)), 9)
    for version in range(4, 19):
        topic = ids["read"] if version >= 13 else "read"
        yield f"v{version}", shown(wire.ask(fetch(wanted(topic, at(0))), version), id=ids["read"])


def ranges(wire: Talk, ids: Ids) -> Scene:
    for offset in (1, 3, 4, 5, 6, 99, -1):
        yield f"offset {offset}", shown(wire.ask(fetch(wanted("read", at(offset))), 12))
    yield "0 bytes", shown(wire.ask(fetch(wanted("read", at(0, partition_max_bytes=0))), 12))
    yield "1 byte", shown(wire.ask(fetch(wanted("read", at(0, partition_max_bytes=1))), 12))
    yield "80 bytes", shown(wire.ask(fetch(wanted("read", at(0, partition_max_bytes=80))), 12))
    yield "-1 bytes", shown(wire.ask(fetch(wanted("read", at(0, partition_max_bytes=-1))), 12))
    yield "-1 bytes in all", shown(wire.ask(fetch(wanted("read", at(0)), max_bytes=-1), 12))
    yield "1 byte in all", shown(wire.ask(fetch(wanted("read", at(0)), max_bytes=1), 12))
    yield (
        "two partitions, 1 byte in all",
        shown(wire.ask(fetch(wanted("read", at(0)), wanted("empty", at(0)), wanted("acks", at(0)), max_bytes=1), 12)),
    )
    yield "long poll with data", shown(wire.ask(fetch(wanted("read", at(0)), max_wait_ms=5000), 12))
    yield "long poll without", shown(wire.ask(fetch(wanted("empty", at(0)), max_wait_ms=100), 12))
    yield "long poll with an error", shown(wire.ask(fetch(wanted("empty", at(9)), max_wait_ms=9000), 12))


def refusals(wire: Talk, ids: Ids) -> Scene:
    for version in (4, 12):
        for level in (0, 1, 2):
            request = fetch(wanted("nobody", at(0)), wanted("read", at(77)), isolation_level=level)
            yield f"unknown and out of range v{version} isolation {level}", shown(wire.ask(request, version))
    for level in (0, 1, 2):
        request = fetch(wanted(ids["read"], at(5)), isolation_level=level)
        yield f"isolation {level} by id", shown(wire.ask(request, 18), id=ids["read"])
    yield "unknown partition", shown(wire.ask(fetch(wanted("read", at(0, partition=9))), 12))
    yield "unknown id", shown(wire.ask(fetch(wanted(Uuid(b"x" * 16), at(0))), 18))
    yield "zero id", shown(wire.ask(fetch(wanted(ZERO_UUID, at(0))), 18))
    yield "metadata topic", shown(wire.ask(fetch(wanted("__cluster_metadata", at(0))), 12))
    metadata_id = Uuid((1).to_bytes(16, "big"))
    yield "metadata topic by id", shown(wire.ask(fetch(wanted(metadata_id, at(0))), 18))
    for epoch in (-2, -1, 0, 1):
        request = fetch(wanted(ids["read"], at(0, current_leader_epoch=epoch, partition_max_bytes=1)))
        yield f"current leader epoch {epoch}", shown(wire.ask(request, 18), id=ids["read"])
    for epoch in (-1, 0, 5):
        request = fetch(wanted(ids["read"], at(5, last_fetched_epoch=epoch)))
        yield f"last fetched epoch {epoch}", shown(wire.ask(request, 18), id=ids["read"])
    yield "twice", shown(wire.ask(fetch(wanted("read", at(0), at(5))), 12))
    yield "nothing", shown(wire.ask(fetch(), 12))


def followers(wire: Talk, ids: Ids) -> Scene:
    request = fetch(wanted("read", at(5)), replica_id=77)
    yield "unknown replica v12", shown(wire.ask(request, 12))
    for replica in (1, 77, -2, -3):
        state = ReplicaState(replica_id=replica, replica_epoch=-1)
        request = fetch(wanted(ids["read"], at(5)), replica_state=state)
        yield f"replica {replica} v18", shown(wire.ask(request, 18), id=ids["read"])


def sessions(wire: Talk, ids: Ids) -> Scene:
    first = wire.expect(
        fetch(wanted("session", at(0)), wanted("empty", at(0)), wanted("nobody", at(0)), session_epoch=0),
        12,
        FetchResponse,
    )
    session_id = first.session_id

    def go_on(*topics: FetchTopic, version: int = 12, **fields: object) -> str:
        settings = {"session_id": session_id, **fields}
        return shown(wire.ask(fetch(*topics, **settings), version), session=session_id)

    yield "full", shown(first, session=session_id)
    yield "nothing new", go_on(session_epoch=1)
    yield "same epoch again", go_on(session_epoch=1)
    yield "epoch too high", go_on(session_epoch=7)
    wire.ask(produce("session", batch(2)), 9)
    yield "something new", go_on(session_epoch=2)
    yield "position moved", go_on(wanted("session", at(2)), session_epoch=3)
    yield (
        "topic forgotten",
        go_on(session_epoch=4, forgotten_topics_data=[ForgottenTopic(topic="nobody", partitions=[0, 1])]),
    )
    yield "by id", go_on(version=13, session_epoch=5)
    yield "after the mistake", go_on(session_epoch=5)
    yield "topic added", go_on(wanted("read", at(0, partition_max_bytes=1)), session_epoch=6)
    yield "other id", shown(wire.ask(fetch(session_id=session_id ^ 1, session_epoch=7), 12))
    yield "closed", go_on(wanted("empty", at(0)), session_epoch=-1)
    yield "after closing", go_on(session_epoch=7)
    yield "no session, no epoch", shown(wire.ask(fetch(wanted("empty", at(0)), session_epoch=3), 12))


def id_sessions(wire: Talk, ids: Ids) -> Scene:
    strange = Uuid(b"y" * 16)
    first = wire.expect(fetch(wanted(ids["empty"], at(0)), wanted(strange, at(0)), session_epoch=0), 18, FetchResponse)
    session_id = first.session_id

    def go_on(epoch: int, version: int = 18, **fields: object) -> str:
        request = fetch(session_id=session_id, session_epoch=epoch, **fields)
        return shown(wire.ask(request, version), session=session_id, id=ids["empty"])

    yield "full", shown(first, session=session_id, id=ids["empty"])
    yield "nothing new", go_on(1)
    yield "by name", go_on(2, version=12)
    yield (
        "all forgotten",
        go_on(
            2,
            forgotten_topics_data=[
                ForgottenTopic(topic_id=ids["empty"], partitions=[0]),
                ForgottenTopic(topic_id=strange, partitions=[0]),
            ],
        ),
    )
    yield "after that", go_on(3)


def offsets(wire: Talk, ids: Ids) -> Scene:
    def ask(timestamp: int, version: int, *, topic: str = "read", epoch: int = -1, **fields: object) -> str:
        asked = list_offsets.ListOffsetsPartition(current_leader_epoch=epoch, timestamp=timestamp)
        settings = {"replica_id": -1, **fields}
        request = list_offsets.ListOffsetsRequest(
            topics=[list_offsets.ListOffsetsTopic(name=topic, partitions=[asked])],
            **settings,  # type: ignore[arg-type]
        )
        return shown(wire.ask(request, version), start=START)

    for version in range(1, 12):
        for special in (-1, -2, -3, -4, -5, -6, -7):
            yield f"{special} v{version}", ask(special, version)
    for time_ms in (0, START, START + 1):
        yield f"time {time_ms - START if time_ms else 0}", ask(time_ms, 11)
    yield "empty", ask(0, 11, topic="empty")
    yield "empty, largest timestamp", ask(-3, 11, topic="empty")
    yield "empty, end", ask(-1, 11, topic="empty")
    yield "unknown", ask(-1, 11, topic="nobody")
    for epoch in (-2, 0, 1):
        yield f"epoch {epoch}", ask(-1, 11, epoch=epoch)
    for level in (1, 2):
        yield f"isolation {level}", ask(-1, 11, isolation_level=level)
    for replica in (-2, 1, 77):
        yield f"replica {replica}", ask(-1, 11, replica_id=replica)
    asked = [list_offsets.ListOffsetsPartition(timestamp=-1), list_offsets.ListOffsetsPartition(timestamp=-2)]
    doubled = list_offsets.ListOffsetsTopic(name="read", partitions=asked)
    yield "twice", shown(wire.ask(list_offsets.ListOffsetsRequest(replica_id=-1, topics=[doubled]), 11))
    yield "nothing", shown(wire.ask(list_offsets.ListOffsetsRequest(replica_id=-1), 11))


def epochs(wire: Talk, ids: Ids) -> Scene:
    def ask(epoch: int, version: int = 4, *, current: int = -1, topic: str = "read") -> str:
        asked = offset_for_leader_epoch.OffsetForLeaderPartition(current_leader_epoch=current, leader_epoch=epoch)
        topics = [offset_for_leader_epoch.OffsetForLeaderTopic(topic=topic, partitions=[asked])]
        request = offset_for_leader_epoch.OffsetForLeaderEpochRequest(topics=topics)
        if version >= 3:
            request.replica_id = -1
        return shown(wire.ask(request, version))

    for version in (2, 3, 4):
        yield f"v{version}", ask(0, version)
    for epoch in (-1, 0, 1, 99):
        yield f"epoch {epoch}", ask(epoch)
    for current in (-2, 0, 1):
        yield f"current {current}", ask(0, current=current)
    yield "unknown", ask(0, topic="nobody")


def deletion(wire: Talk, ids: Ids) -> Scene:
    wire.ask(produce("deleted", batch(5)), 9)

    def ask(offset: int, topic: str = "deleted", version: int = 2, index: int = 0) -> str:
        asked = delete_records.DeleteRecordsPartition(partition_index=index, offset=offset)
        topics = [delete_records.DeleteRecordsTopic(name=topic, partitions=[asked])]
        return shown(wire.ask(delete_records.DeleteRecordsRequest(topics=topics, timeout_ms=5000), version))

    for version in (0, 1, 2):
        yield f"v{version}", ask(version + 1, version=version)
    yield "backwards", ask(1)
    yield "too far", ask(99)
    yield "to -2", ask(-2)
    yield "all", ask(-1)
    yield "unknown topic", ask(0, topic="nobody")
    yield "unknown partition", ask(0, index=5)
    yield "compacted", ask(0, topic="compacted")
    yield "compacted and deleted", ask(0, topic="compacted-deleted")
    yield "nothing", shown(wire.ask(delete_records.DeleteRecordsRequest(), 2))
    yield "fetch below", shown(wire.ask(fetch(wanted("deleted", at(1))), 12))
    yield "fetch at", shown(wire.ask(fetch(wanted("deleted", at(5))), 12))


def producers(wire: Talk, ids: Ids) -> Scene:
    options = BatchOptions(producer_id=4242, producer_epoch=3, base_sequence=10)
    wire.ask(produce("described", batch(2, options=options)), 9)

    def ask(topic: str, *indexes: int) -> str:
        topics = [describe_producers.TopicRequest(name=topic, partition_indexes=list(indexes))]
        heard = wire.ask(describe_producers.DescribeProducersRequest(topics=topics), 0)
        return shown(heard, start=START)

    yield "one", ask("described", 0)
    yield "none", ask("empty", 0)
    yield "unknown topic", ask("nobody", 0, 1)
    yield "unknown partition", ask("described", 5)
    yield "impossible topic", ask("a/b", 0)


def producer_ids(wire: Talk, ids: Ids) -> Scene:
    def ask(version: int, **fields: object) -> str:
        settings = {"transactional_id": None, **fields}
        heard = wire.ask(InitProducerIdRequest(**settings), version)  # type: ignore[arg-type]
        if isinstance(heard, InitProducerIdResponse) and heard.producer_id >= 0:
            return f"error {heard.error_code}, an id, epoch {heard.producer_epoch}"
        return shown(heard)

    producer_id(wire)
    for version in range(7):
        yield f"v{version}", ask(version)
    yield "epoch without id", ask(4, producer_epoch=3)
    yield "id without epoch", ask(4, producer_id=3)
    yield "both", ask(4, producer_id=3, producer_epoch=2)
    yield "empty transactional id", ask(4, transactional_id="")


def authentication(wire: Talk, ids: Ids) -> Scene:
    for version in (0, 1):
        yield f"handshake v{version}", shown(wire.ask(SaslHandshakeRequest(mechanism="PLAIN"), version))
    for version in (0, 1, 2):
        yield f"authenticate v{version}", shown(wire.ask(SaslAuthenticateRequest(auth_bytes=b"x"), version))


SCENES = (
    versions,
    ranges,
    refusals,
    followers,
    sessions,
    id_sessions,
    offsets,
    epochs,
    deletion,
    producers,
    producer_ids,
    authentication,
)
