"""Incremental fetch sessions: what a request has to say."""

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.client.consumer.fetch.fetch_session import FetchSession, FetchTarget, SessionRequest
from ottla.client.record import TopicPartition

A, B = TopicPartition("a", 0), TopicPartition("b", 1)
IDS = {"a": Uuid(b"a" * 16), "b": Uuid(b"b" * 16)}


def targets(offsets: dict[TopicPartition, int]) -> dict[TopicPartition, FetchTarget]:
    return {partition: FetchTarget(offset, 5, IDS[partition.topic], 1024) for partition, offset in offsets.items()}


def named(request: SessionRequest) -> tuple[dict[TopicPartition, int], set[TopicPartition]]:
    """Which partitions are asked for from where, and which are forgotten."""
    wanted = {
        TopicPartition(topic.topic, partition.partition): partition.fetch_offset
        for topic in request.topics
        for partition in topic.partitions
    }
    forgotten = {TopicPartition(topic.topic, index) for topic in request.forgotten for index in topic.partitions}
    return wanted, forgotten


def opened() -> FetchSession:
    session = FetchSession()
    session.request(targets({A: 5}))
    session.answered(9)
    return session


def test_the_first_request_names_all() -> None:
    request = FetchSession().request(targets({A: 5, B: 0}))
    assert (request.session_id, request.epoch) == (0, 0)
    assert named(request) == ({A: 5, B: 0}, set())
    assert request.topics[0].partitions[0].current_leader_epoch == 5


def test_later_requests_name_changes() -> None:
    """The module's example."""
    session = opened()
    request = session.request(targets({A: 8, B: 0}))
    assert (request.session_id, request.epoch, named(request)) == (9, 1, ({A: 8, B: 0}, set()))
    session.answered(9)
    request = session.request(targets({B: 0}))
    assert (request.session_id, request.epoch, named(request)) == (9, 2, ({}, {A}))


def test_without_a_session_each_request_names_all() -> None:
    session = FetchSession()
    for _ in range(2):
        request = session.request(targets({A: 5}))
        assert (request.epoch, named(request)) == (0, ({A: 5}, set()))
        session.answered(0)
    assert not session.is_open


def test_after_a_failure_a_full_request_replaces_the_session() -> None:
    session = opened()
    session.request(targets({A: 8}))
    session.failed()
    request = session.request(targets({A: 8}))
    assert (request.session_id, request.epoch, named(request)) == (9, 0, ({A: 8}, set()))
    session.forget()
    assert session.request(targets({A: 8})).session_id == 0


def test_a_topic_made_anew_is_forgotten_by_its_old_id() -> None:
    session = opened()
    anew = {A: FetchTarget(0, 0, Uuid(b"c" * 16), 1024)}
    request = session.request(anew)
    assert [topic.topic_id for topic in request.forgotten] == [IDS["a"]]
    assert [topic.topic_id for topic in request.topics] == [Uuid(b"c" * 16)]


def test_a_topic_without_an_id_needs_a_session_by_name() -> None:
    session = opened()
    request = session.request({A: FetchTarget(5, 5, ZERO_UUID, 1024)})
    assert (request.epoch, request.uses_topic_ids) == (0, False)
