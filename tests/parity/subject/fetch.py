"""Fetch and its sessions: offsets, limits, epochs, isolation, unknown partitions, long polling."""

from ottla.base.ids import Uuid
from ottla.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from tests.parity.batch import batch
from tests.parity.subject.produce import request as produce
from tests.parity.talk import Talk, Topic

NEWEST = 18
UNKNOWN = Uuid(b"\x02" * 16)


def request(topic: Topic, *partitions: FetchPartition, **others: object) -> FetchRequest:
    """A fetch that does not wait."""
    topics = [FetchTopic(topic=topic.name, topic_id=topic.id, partitions=list(partitions))]
    wanted: dict[str, object] = {"max_wait_ms": 0, "min_bytes": 1, "topics": topics} | others
    return FetchRequest(**wanted)


def partition(index: int, offset: int, **others: int) -> FetchPartition:
    """What is wanted of a partition."""
    return FetchPartition(**{"partition": index, "fetch_offset": offset, "partition_max_bytes": 1 << 20} | others)


def run(talk: Talk) -> None:
    """All about Fetch."""
    topic = talk.topic("fetch", 2)
    for number in range(5):
        talk.quietly(produce(topic, (0, batch(b"%d" % number, b"%d again" % number))), 13)
    talk.ask_all_versions("from the beginning", request(topic, partition(0, 0)))
    talk.ask_all_versions("read committed", request(topic, partition(0, 0), isolation_level=1))
    talk.ask_all_versions("at the end", request(topic, partition(0, 10)))
    talk.ask_all_versions("beyond the end", request(topic, partition(0, 11)))
    talk.ask_all_versions("an unknown topic", request(Topic("fetch-unknown", UNKNOWN), partition(0, 0)))
    talk.ask_all_versions("an unknown partition", request(topic, partition(7, 0), partition(0, 9)))
    _offsets_and_limits(talk, topic)
    _epochs(talk, topic)
    _odd(talk, topic)
    _without_an_id(talk, topic)
    _sessions(talk, topic)
    _forgetting(talk, topic)


def _offsets_and_limits(talk: Talk, topic: Topic) -> None:
    for offset in (-1, -2, 1, 5, 9):
        talk.ask(f"offset {offset}", request(topic, partition(0, offset)), NEWEST)
    for limit in (0, 1, 100, 150, -1):
        talk.ask(f"partition limit {limit}", request(topic, partition(0, 0, partition_max_bytes=limit)), NEWEST)
        talk.ask(f"limit {limit}", request(topic, partition(0, 0), partition(1, 0), max_bytes=limit), NEWEST)
    talk.ask("limits of 1", request(topic, partition(0, 0, partition_max_bytes=1), max_bytes=1), NEWEST)
    talk.ask(
        "read committed with a limit of 1",
        request(topic, partition(0, 3, partition_max_bytes=1), isolation_level=1),
        11,
    )
    talk.ask("a wait without data", request(topic, partition(0, 10), max_wait_ms=300), NEWEST)
    talk.ask("a wait for no bytes", request(topic, partition(0, 10), max_wait_ms=20_000, min_bytes=0), NEWEST)
    talk.ask("a wait with an error", request(topic, partition(0, 10), partition(5, 0), max_wait_ms=300), NEWEST)
    talk.ask("a negative wait", request(topic, partition(0, 10), max_wait_ms=-1), NEWEST)
    talk.ask("negative min bytes", request(topic, partition(0, 10), max_wait_ms=20_000, min_bytes=-1), NEWEST)


def _epochs(talk: Talk, topic: Topic) -> None:
    for epoch in (-2, -1, 0, 1, 5):
        talk.ask(f"current leader epoch {epoch}", request(topic, partition(0, 0, current_leader_epoch=epoch)), NEWEST)
        talk.ask(f"last fetched epoch {epoch}", request(topic, partition(0, 4, last_fetched_epoch=epoch)), NEWEST)
    talk.ask("last fetched epoch 0 beyond the end", request(topic, partition(0, 14, last_fetched_epoch=0)), NEWEST)


def _odd(talk: Talk, topic: Topic) -> None:
    for level in (2, -1):
        talk.ask(f"isolation {level}", request(topic, partition(0, 0), isolation_level=level), NEWEST)
        for version in (6, 12, NEWEST):
            nowhere = request(Topic("fetch-unknown", UNKNOWN), partition(0, 0), isolation_level=level)
            talk.ask(f"isolation {level} of an unknown topic", nowhere, version)
            talk.ask(
                f"isolation {level} of an unknown partition",
                request(topic, partition(9, 0), isolation_level=level),
                version,
            )
            some = request(topic, partition(9, 0), partition(0, 0), isolation_level=level)
            talk.ask(f"isolation {level} of some that exist", some, version)
            state = ReplicaState(replica_id=1)
            by_replica = {"replica_id": 1} if version < NEWEST else {"replica_state": state}
            replica = request(topic, partition(0, 0), isolation_level=level, **by_replica)
            talk.ask(f"isolation {level} as a replica", replica, version)
            wrong = request(topic, partition(0, 0), isolation_level=level, session_id=9, session_epoch=1)
            talk.ask(f"isolation {level} in no session", wrong, version)
    talk.ask("no topic", FetchRequest(max_wait_ms=0, min_bytes=1, topics=[]), NEWEST)
    talk.ask("no topic", FetchRequest(max_wait_ms=0, min_bytes=1, topics=[]), 4)
    talk.ask("no partition", request(topic), NEWEST)
    talk.ask("no topic id", request(Topic("", Uuid(bytes(16))), partition(0, 0)), NEWEST)
    talk.ask("a bad name", request(Topic("a/b", UNKNOWN), partition(0, 0)), 12)
    talk.ask("a partition twice", request(topic, partition(0, 0), partition(0, 4)), NEWEST)
    nothing = request(topic, partition(7, 0), partition(0, 9))
    nothing.topics += request(Topic("fetch-unknown", UNKNOWN), partition(0, 0)).topics
    nothing.topics += request(topic, partition(8, 0)).topics
    talk.ask_all_versions("unknown partitions before unknown topics", nothing)
    nothing.replica_id = 5
    talk.ask_all_versions("unknown partitions before unknown topics, as a replica", nothing, "4-14")
    talk.ask("another cluster's id", request(topic, partition(0, 9), cluster_id="another"), NEWEST)
    talk.ask("as a replica that is none", request(topic, partition(0, 0), replica_id=5), 12)
    state = ReplicaState(replica_id=5, replica_epoch=0)
    talk.ask("as a replica that is none", request(topic, partition(0, 0), replica_state=state), NEWEST)
    talk.ask("as a debugging consumer", request(topic, partition(0, 0), replica_id=-2), 12)
    talk.ask("from a rack", request(topic, partition(0, 9), rack_id="r1"), NEWEST)


def _without_an_id(talk: Talk, topic: Topic) -> None:
    nothing = Topic("", Uuid(bytes(16)))
    none = FetchTopic(topic_id=nothing.id, partitions=[partition(0, 0), partition(1, 0)])
    some = FetchTopic(topic=topic.name, topic_id=topic.id, partitions=[partition(0, 9)])
    for version in (13, 15, NEWEST):
        for name, topics in (("alone", [none]), ("first", [none, some]), ("last", [some, none]), ("twice", [none] * 2)):
            talk.ask(f"no topic id, {name}", request(topic, topics=topics), version)
            first = talk.ask(f"no topic id, {name}: a session", request(topic, topics=topics, session_epoch=0), version)
            if not isinstance(first, FetchResponse) or not first.session_id:
                continue
            session = {"session_id": first.session_id, "topics": []}
            talk.ask(f"no topic id, {name}: the session again", request(topic, session_epoch=1, **session), version)
            forgotten = [ForgottenTopic(topic_id=nothing.id, partitions=[0])]
            again = request(topic, session_epoch=2, forgotten_topics_data=forgotten, **session)
            talk.ask(f"no topic id, {name}: forgotten", again, version)
    first = talk.quietly(request(topic, topics=[some], session_epoch=0), NEWEST)
    later = request(topic, topics=[none], session_epoch=1, session_id=first.session_id)
    talk.ask("no topic id, added to a session", later, NEWEST)
    talk.ask("no name", request(nothing, partition(0, 0)), 12)


def _sessions(talk: Talk, topic: Topic) -> None:
    for version in (7, 12, 13, NEWEST):
        first = talk.ask("a new session", request(topic, partition(0, 0), partition(1, 0), session_epoch=0), version)
        assert isinstance(first, FetchResponse)
        session = {"session_id": first.session_id, "topics": []}
        talk.ask("session: nothing new", request(topic, session_epoch=1, **session), version)
        talk.ask("session: a wrong epoch", request(topic, session_epoch=9, **session), version)
        changed = [FetchTopic(topic=topic.name, topic_id=topic.id, partitions=[partition(0, 8)])]
        talk.ask(
            "session: a partition changed",
            request(topic, session_epoch=2, session_id=first.session_id, topics=changed),
            version,
        )
        unknown = [FetchTopic(topic="fetch-none", topic_id=UNKNOWN, partitions=[partition(0, 8)])]
        talk.ask(
            "session: an unknown one added",
            request(topic, session_epoch=3, session_id=first.session_id, topics=unknown),
            version,
        )
        talk.ask("session: the error is repeated", request(topic, session_epoch=4, **session), version)
        talk.ask("session: closed", request(topic, session_epoch=-1, **session), version)
        talk.ask("session: used when closed", request(topic, session_epoch=5, **session), version)
        talk.ask("session: an unknown id", request(topic, session_epoch=1, session_id=424242, topics=[]), version)
        talk.ask("session: an id of 0 with an epoch", request(topic, partition(0, 9), session_epoch=3), version)
        talk.ask("session: an epoch of -2", request(topic, partition(0, 9), session_epoch=-2), version)


def _forgetting(talk: Talk, topic: Topic) -> None:
    first = talk.ask("forget: a new session", request(topic, partition(0, 0), partition(1, 0), session_epoch=0), NEWEST)
    assert isinstance(first, FetchResponse)
    forgotten = [ForgottenTopic(topic=topic.name, topic_id=topic.id, partitions=[0])]
    session = {"session_id": first.session_id, "topics": []}
    talk.ask(
        "forget: one partition", request(topic, session_epoch=1, forgotten_topics_data=forgotten, **session), NEWEST
    )
    talk.quietly(produce(topic, (0, batch(b"late")), (1, batch(b"late"))), 13)
    talk.ask("forget: only the other has news", request(topic, session_epoch=2, **session), NEWEST)
    talk.ask("forget: an id session used by name", request(topic, session_epoch=3, **session), 12)
