"""In a session a leader is told only what it does not know."""

from ottla.base.ids import Uuid
from ottla.broker.adapters.replica_session import ReplicaSession
from ottla.replication.follower.leader_endpoint import ReplicaFetch

TOPIC, OTHER = Uuid(b"t" * 16), Uuid(b"o" * 16)


def want(index: int, offset: int, topic_id: Uuid = TOPIC) -> ReplicaFetch:
    return ReplicaFetch("t", topic_id, index, offset, 0, 5, 4)


def said(session: ReplicaSession, *wanted: ReplicaFetch) -> tuple[list[tuple[int, int]], list[int]]:
    """What a request names: partitions with offsets, and partitions to forget."""
    topics, forgotten = session.topics(wanted)
    return (
        [(partition.partition, partition.fetch_offset) for topic in topics for partition in topic.partitions],
        [index for topic in forgotten for index in topic.partitions],
    )


def test_the_first_request_names_everything_the_next_what_changed() -> None:
    session = ReplicaSession(1000)
    assert (session.session_id, session.epoch) == (0, 0)
    assert said(session, want(0, 5), want(1, 9)) == ([(0, 5), (1, 9)], [])
    session.answered(77)
    assert (session.session_id, session.epoch) == (77, 1)
    assert said(session, want(0, 7), want(1, 9)) == ([(0, 7)], [])
    session.answered(77)
    assert said(session, want(0, 7)) == ([], [1])
    session.answered(77)
    assert session.epoch == 3


def test_a_leader_without_sessions_hears_everything_each_time() -> None:
    session = ReplicaSession(1000)
    said(session, want(0, 5))
    session.answered(0)
    assert said(session, want(0, 5)) == ([(0, 5)], [])


def test_a_lost_session_begins_anew() -> None:
    session = ReplicaSession(1000)
    said(session, want(0, 5), want(1, 5))
    session.answered(77)
    session.failed()
    assert (session.session_id, session.epoch) == (77, 0), "the full request ends the session at the leader, too"
    assert said(session, want(1, 5)) == ([(1, 5)], [])
    session.forget()
    assert (session.session_id, session.epoch) == (0, 0)
    assert said(session, want(1, 5)) == ([(1, 5)], [])


def test_partitions_of_a_topic_are_named_together() -> None:
    session = ReplicaSession(1000)
    topics, _ = session.topics([want(0, 1), want(0, 1, OTHER), want(1, 1)])
    assert [(topic.topic_id, len(topic.partitions)) for topic in topics] == [(TOPIC, 2), (OTHER, 1)]
    assert topics[0].partitions[0].partition_max_bytes == 1000


def test_the_epoch_of_a_long_session_starts_over_at_one() -> None:
    session = ReplicaSession(1000)
    session.epoch = 2**31 - 1
    session.answered(77)
    assert session.epoch == 1
