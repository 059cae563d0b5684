"""Fetch at a follower: appending, truncating, and asking around."""

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import fetch
from ottla.raft.effect import ApplyCommitted
from ottla.raft.errors import RaftInvariantError
from ottla.raft.identity import LeaderAndEpoch
from ottla.raft.roles.role import RoleKind
from tests.unit.raft.replica import Replica, batch, fetch_response


def records(data: bytes, high_watermark: int = -1) -> fetch.PartitionData:
    return fetch.PartitionData(partition_index=0, high_watermark=high_watermark, records=data)


def follower(*batches: bytes) -> Replica:
    """Follows node 2 in epoch 5 with a log of its own."""
    replica = Replica()
    for data in batches:
        replica.log.append(data)
    replica.log.flush()
    replica.start().become_follower(2, 5)
    return replica


def answer(replica: Replica, data: fetch.PartitionData) -> None:
    sent, _ = replica.take_one(fetch.FetchRequest)
    replica.respond(sent, fetch_response(2, 5, data))


def test_it_asks_the_leader_from_its_end_with_its_last_epoch() -> None:
    replica = follower(batch(0, 1, b"a"), batch(1, 3, b"b"))
    sent, request = replica.take_one(fetch.FetchRequest)
    partition = request.topics[0].partitions[0]
    assert (sent.destination.id, sent.destination.host) == (2, "c2")
    assert (partition.fetch_offset, partition.last_fetched_epoch, partition.current_leader_epoch) == (2, 3, 5)
    assert (request.replica_state.replica_id, request.cluster_id) == (1, replica.setup.cluster_id)
    assert partition.high_watermark == -1


def test_it_appends_and_asks_for_more() -> None:
    replica = follower()
    answer(replica, records(batch(0, 5, b"a", b"b")))
    assert replica.log.end_offset == replica.log.flushed_end_offset == 2
    _, request = replica.take_one(fetch.FetchRequest)
    assert request.topics[0].partitions[0].fetch_offset == 2


def test_it_asks_for_more_only_once_what_it_has_is_flushed() -> None:
    replica = follower()
    replica.flushes = False
    answer(replica, records(batch(0, 5, b"a")))
    assert replica.take_sent(fetch.FetchRequest) == []
    replica.flush()
    assert len(replica.take_sent(fetch.FetchRequest)) == 1


def test_a_broker_does_not_wait_for_its_disk() -> None:
    broker = Replica(node_id=9, can_become_voter=False)
    broker.flushes = False
    broker.start().become_follower(2, 5)
    answer(broker, records(batch(0, 5, b"a")))
    assert len(broker.take_sent(fetch.FetchRequest)) == 1


def test_what_is_committed_is_handed_to_the_listener() -> None:
    replica = follower()
    answer(replica, records(batch(0, 5, b"a") + batch(1, 5, b"b"), high_watermark=1))
    [applied] = [effect for effect in replica.told if isinstance(effect, ApplyCommitted)]
    assert (applied.base_offset, applied.last_offset, replica.core.high_watermark) == (0, 0, 1)


def test_the_high_watermark_is_no_further_than_the_log() -> None:
    replica = follower()
    answer(replica, records(batch(0, 5, b"a"), high_watermark=100))
    assert replica.core.high_watermark == 1


def test_a_late_answer_does_not_make_the_high_watermark_fall() -> None:
    replica = follower()
    answer(replica, records(batch(0, 5, b"a", b"b"), high_watermark=2))
    answer(replica, records(b"", high_watermark=1))
    assert replica.core.high_watermark == 2


@pytest.mark.parametrize(
    ("diverging", "end"),
    [((1, 1), 1), ((5, 1), 2), ((3, 3), 3), ((9, 3), 4), ((2, 2), 2), ((1, 0), 1)],
    ids=lambda value: str(value),
)
def test_it_truncates_where_the_logs_part(diverging: tuple[int, int], end: int) -> None:
    replica = follower(batch(0, 1, b"a"), batch(1, 1, b"b"), batch(2, 3, b"c"), batch(3, 3, b"d"))
    data = records(b"")
    data.diverging_epoch = fetch.EpochEndOffset(end_offset=diverging[0], epoch=diverging[1])
    answer(replica, data)
    assert replica.log.end_offset == end


def test_it_never_truncates_what_is_committed() -> None:
    replica = follower()
    answer(replica, records(batch(0, 5, b"a") + batch(1, 5, b"b"), high_watermark=2))
    data = records(b"")
    data.diverging_epoch = fetch.EpochEndOffset(end_offset=1, epoch=5)
    with pytest.raises(RaftInvariantError):
        answer(replica, data)


def test_a_damaged_batch_and_all_behind_it_are_asked_for_again() -> None:
    replica = follower()
    damaged = bytearray(batch(1, 5, b"b"))
    damaged[-1] ^= 1
    answer(replica, records(batch(0, 5, b"a") + bytes(damaged) + batch(2, 5, b"c")))
    assert replica.log.end_offset == 1


def test_batches_that_do_not_continue_the_log_are_not_taken() -> None:
    replica = follower()
    answer(replica, records(batch(7, 5, b"x")))
    answer(replica, records(batch(0, 6, b"from a later epoch than the leader's")))
    assert replica.log.end_offset == 0


def test_a_bootstrap_server_is_asked_while_the_leader_does_not_answer() -> None:
    replica = follower()
    replica.fail(replica.take_one(fetch.FetchRequest)[0])
    sent, _ = replica.take_one(fetch.FetchRequest)
    assert sent.destination.id < 0


def test_it_goes_on_with_the_leader_after_the_backoff() -> None:
    replica = follower()
    for _ in ("the leader", "one bootstrap server", "the other"):
        replica.fail(replica.take_one(fetch.FetchRequest)[0])
    assert replica.take_sent(fetch.FetchRequest) == []
    replica.pass_time(20)
    assert 2 in {sent.destination.id for sent, _ in replica.take_sent(fetch.FetchRequest)}


def test_a_late_answer_is_not_taken() -> None:
    replica = follower()
    sent, _ = replica.take_one(fetch.FetchRequest)
    replica.become_follower(3, 6)
    replica.respond(sent, fetch_response(2, 5, records(batch(0, 5, b"a"))))
    assert (replica.log.end_offset, replica.core.leader) == (0, LeaderAndEpoch(3, 6))


def test_an_answer_that_names_another_leader_is_believed() -> None:
    replica = follower()
    sent, _ = replica.take_one(fetch.FetchRequest)
    data = records(b"")
    data.error_code = ErrorCode.FENCED_LEADER_EPOCH
    replica.respond(sent, fetch_response(3, 6, data))
    assert (replica.kind, replica.core.leader) == (RoleKind.FOLLOWER, LeaderAndEpoch(3, 6))


def test_an_unattached_replica_takes_data_with_the_news_of_the_leader() -> None:
    replica = Replica().start()
    sent, _ = replica.take_one(fetch.FetchRequest)
    replica.respond(sent, fetch_response(2, 0, records(b"")))
    assert (replica.kind, replica.core.leader) == (RoleKind.FOLLOWER, LeaderAndEpoch(2, 0))


def test_a_voter_that_cannot_fetch_stands_after_the_fetch_timeout() -> None:
    replica = follower()
    replica.pass_time(1999)
    assert replica.kind is RoleKind.FOLLOWER
    replica.pass_time(1)
    assert replica.kind is RoleKind.PROSPECTIVE


def test_a_successful_fetch_starts_the_fetch_timeout_again() -> None:
    replica = follower()
    replica.pass_time(1500)
    answer(replica, records(b""))
    replica.pass_time(1999)
    assert replica.kind is RoleKind.FOLLOWER


def test_an_observer_goes_on_asking_for_ever() -> None:
    observer = Replica(node_id=4, voters=(1, 2, 3)).start().become_follower(2, 5)
    observer.pass_time(10_000)
    assert observer.kind is RoleKind.FOLLOWER
    assert {sent.destination.id < 0 for sent, _ in observer.take_sent(fetch.FetchRequest)} == {True, False}
