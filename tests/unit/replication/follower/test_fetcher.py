"""Followers: what the leader has they get, and what it has not they give up."""

import pytest

from ottla.protocol.errors import ErrorCode, UnknownServerError
from ottla.replication.request.delete_records import DeleteRecordsEntry
from ottla.replication.request.fetch import ClientMetadata, FetchParams
from ottla.storage.disk.simulated import Fault
from ottla.storage.log.log import Log
from ottla.storage.topic_partition import TopicPartition
from tests.unit.replication.broker_under_test import Answers, BrokerUnderTest, Metadata, offsets, want
from tests.unit.replication.manual_loop import ManualLoop
from tests.unit.replication.memory_leader import Network

ORDERS = TopicPartition("orders", 0)


class Cluster:
    """Three brokers, and a topic that is on all of them."""

    def __init__(self) -> None:
        self.loop = ManualLoop()
        self.network = Network(self.loop)
        for broker_id in (1, 2, 3):
            self.network.brokers[broker_id] = BrokerUnderTest(
                self.loop, broker_id, endpoint_of=self.network.endpoint_of(broker_id)
            )
        self.metadata = Metadata(*self.network.brokers.values())
        for broker_id in (1, 2, 3):
            self.metadata.register(broker_id)
        self.metadata.create("orders", [1, 2, 3])
        self.loop.run()

    def broker(self, broker_id: int) -> BrokerUnderTest:
        return self.network.brokers[broker_id]

    def log(self, broker_id: int) -> Log:
        log = self.broker(broker_id).logs.get(ORDERS)
        assert log is not None
        return log

    def ends(self) -> list[int]:
        return [self.log(broker_id).log_end_offset for broker_id in (1, 2, 3)]

    def contents(self, broker_id: int) -> bytes:
        log = self.log(broker_id)
        data = log.read(log.log_start_offset, 1 << 30, log.log_end_offset).records
        return b"" if data is None else data.read()


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def test_followers_get_what_the_leader_has(cluster: Cluster) -> None:
    for count in (1, 5, 3):
        cluster.broker(1).produce(count=count)
        cluster.loop.advance(10)
    assert cluster.ends() == [9, 9, 9]
    assert cluster.contents(1) == cluster.contents(2) == cluster.contents(3)
    assert cluster.log(1).high_watermark == 9


def test_acks_all_is_answered_when_all_have_it(cluster: Cluster) -> None:
    answers = cluster.broker(1).produce(acks=-1)
    cluster.loop.advance(10)
    assert [(result.error_code, result.base_offset) for result in answers] == [(0, 0)]


def test_followers_learn_the_high_watermark(cluster: Cluster) -> None:
    cluster.broker(1).produce(count=4)
    cluster.loop.advance(300)
    assert [cluster.log(broker_id).high_watermark for broker_id in (2, 3)] == [4, 4]


def test_an_idle_follower_asks_no_more_often_than_the_leader_answers(cluster: Cluster) -> None:
    cluster.loop.advance(1000)
    before = cluster.network.fetches
    cluster.loop.advance(1000)
    assert cluster.network.fetches - before <= 2 * 10 + 2


def test_who_cannot_be_reached_falls_out_of_sync_and_comes_back(cluster: Cluster) -> None:
    leader = cluster.broker(1)
    for broker_id in (1, 2, 3):
        cluster.broker(broker_id).replicas.start()
    cluster.network.cut = {3}
    answers = leader.produce(acks=-1, timeout_ms=100_000)
    cluster.loop.advance(31_000)
    assert leader.proposals.isrs == []
    cluster.loop.advance(15_000)
    assert (leader.proposals.isrs, answers.is_done) == ([[1, 2]], False)
    leader.proposals.accept()
    assert answers[0].error_code == 0
    cluster.network.cut = set()
    cluster.loop.advance(3_000)
    assert cluster.ends() == [1, 1, 1]
    assert leader.proposals.isrs == [[1, 2, 3]]
    leader.proposals.accept()
    assert leader.partition().leadership is not None
    assert leader.partition().leadership.isr.members == {1, 2, 3}
    assert (leader.replicas.isr.shrinks, leader.replicas.isr.expansions) == (1, 1)


def test_a_controller_that_cannot_answer_is_asked_again_after_a_moment(cluster: Cluster) -> None:
    leader = cluster.broker(1)
    cluster.metadata.change("orders", isr=[1, 2])
    cluster.loop.advance(300)
    assert leader.proposals.isrs == [[1, 2, 3]]
    leader.proposals.refuse(UnknownServerError())
    assert leader.proposals.isrs == []
    cluster.loop.advance(100)
    assert leader.proposals.isrs == [[1, 2, 3]]
    leader.proposals.refuse(UnknownServerError())
    cluster.metadata.change("orders", isr=[1, 2, 3])
    cluster.loop.advance(300)
    assert leader.proposals.isrs == [], "the metadata has settled it"


def test_a_former_leader_gives_up_what_nobody_else_got(cluster: Cluster) -> None:
    cluster.broker(1).produce(count=5)
    cluster.loop.advance(10)
    cluster.network.cut = {1}
    cluster.broker(1).produce(count=7)
    cluster.metadata.change("orders", leader=2, isr=[2, 3])
    cluster.loop.advance(10)
    cluster.broker(2).produce(count=2)
    cluster.loop.advance(10)
    assert cluster.ends() == [12, 7, 7]
    cluster.network.cut = set()
    cluster.loop.advance(3000)
    assert cluster.ends() == [7, 7, 7]
    assert cluster.contents(1) == cluster.contents(2)
    assert [entry.epoch for entry in cluster.log(1).epochs.entries] == [0, 1]


def test_histories_that_parted_more_than_once_are_mended(cluster: Cluster) -> None:
    """1 and 2 write alone in turns, three times; then 3, which has the least, leads."""
    for number in range(3):
        for broker_id in (1, 2):
            cluster.network.cut = {1, 2, 3}
            cluster.metadata.change("orders", leader=broker_id, isr=[broker_id])
            cluster.loop.advance(10)
            cluster.broker(broker_id).produce(count=2 + number)
            cluster.loop.advance(10)
    cluster.metadata.change("orders", leader=3, isr=[3])
    cluster.loop.advance(10)
    cluster.broker(3).produce(count=1)
    cluster.network.cut = set()
    cluster.loop.advance(30_000)
    assert cluster.ends() == [1, 1, 1]
    assert cluster.contents(1) == cluster.contents(2) == cluster.contents(3)


def test_a_leader_that_wrote_nothing_in_its_epoch_follows_without_a_hitch(cluster: Cluster) -> None:
    """Its epoch has no record to truncate, but the epoch itself has to go."""
    cluster.broker(1).produce(count=5)
    cluster.loop.advance(10)
    cluster.network.cut = {2}
    cluster.metadata.change("orders", leader=2)
    cluster.loop.advance(10)
    cluster.metadata.change("orders", leader=3)
    cluster.network.cut = set()
    cluster.loop.advance(10)
    cluster.broker(3).produce(count=1)
    cluster.loop.advance(3000)
    assert cluster.ends() == [6, 6, 6]
    before = cluster.network.fetches
    cluster.loop.advance(1000)
    assert cluster.network.fetches - before < 50
    assert [entry.epoch for entry in cluster.log(2).epochs.entries] == [0, 2]


def test_a_follower_that_was_away_for_too_long_begins_where_the_leader_does(cluster: Cluster) -> None:
    cluster.broker(1).produce(count=5)
    cluster.loop.advance(10)
    cluster.network.cut = {3}
    cluster.broker(1).produce(count=5)
    cluster.metadata.change("orders", isr=[1, 2])
    cluster.loop.advance(31_000)
    cluster.broker(1).produce(count=5)
    cluster.loop.advance(300)
    answers: Answers = Answers()
    leader = cluster.broker(1).replicas
    leader.delete_records([DeleteRecordsEntry("orders", 0, 10)], timeout_ms=1, done=answers.take)
    cluster.network.cut = set()
    cluster.loop.advance(5000)
    assert (cluster.log(3).log_start_offset, cluster.log(3).log_end_offset) == (10, 15)
    [result] = cluster.broker(1).fetch(want(offset=10))
    assert offsets(result) == [10, 11, 12, 13, 14]


def test_a_new_follower_of_a_log_that_begins_within_a_batch_gets_the_whole_batch(cluster: Cluster) -> None:
    cluster.network.cut = {3}
    cluster.metadata.change("orders", isr=[1, 2])
    cluster.loop.advance(31_000)
    cluster.broker(1).produce(count=10)
    cluster.loop.advance(300)
    answers: Answers = Answers()
    leader = cluster.broker(1).replicas
    leader.delete_records([DeleteRecordsEntry("orders", 0, 4)], timeout_ms=1, done=answers.take)
    cluster.network.cut = set()
    cluster.loop.advance(5000)
    assert cluster.contents(3) == cluster.contents(1)
    assert (cluster.log(3).log_start_offset, cluster.log(3).log_end_offset) == (4, 10)


def test_followers_move_their_log_start_with_the_leaders(cluster: Cluster) -> None:
    cluster.broker(1).produce(count=10)
    cluster.loop.advance(300)
    answers: Answers = Answers()
    leader = cluster.broker(1).replicas
    leader.delete_records([DeleteRecordsEntry("orders", 0, 4)], timeout_ms=10_000, done=answers.take)
    cluster.loop.advance(1000)
    assert answers == [("orders", 0, 0, 4)]
    assert [cluster.log(broker_id).log_start_offset for broker_id in (1, 2, 3)] == [4, 4, 4]


def test_a_deletion_is_confirmed_once_no_replica_can_forget_it(cluster: Cluster) -> None:
    """The leader hears of a follower's log start when that is on its disk; a follower that is killed may lead next."""
    cluster.broker(1).produce(count=10)
    cluster.loop.advance(300)
    for offset in (4, 6):
        answers: Answers = Answers()
        entry = DeleteRecordsEntry("orders", 0, offset)
        cluster.broker(1).replicas.delete_records([entry], timeout_ms=10_000, done=answers.take)
        for _ in range(1_500):
            if answers.is_done:
                break
            cluster.loop.advance(1)
        assert answers == [("orders", 0, 0, offset)]
        for broker_id in (1, 2, 3):
            [home] = cluster.broker(broker_id).logs.directories.all()
            assert home.log_starts.read() == {ORDERS: offset}


def test_an_unclean_leader_with_a_shorter_log_is_followed(cluster: Cluster) -> None:
    cluster.broker(1).produce(count=3)
    cluster.loop.advance(300)
    cluster.network.cut = {3}
    cluster.broker(1).produce(count=5)
    cluster.metadata.change("orders", isr=[1, 2])
    cluster.loop.advance(300)
    assert cluster.ends() == [8, 8, 3]
    cluster.network.cut = set()
    cluster.metadata.change("orders", leader=3, isr=[3])
    cluster.loop.advance(3000)
    assert cluster.ends() == [3, 3, 3]
    assert cluster.log(1).high_watermark == 3


def test_a_follower_whose_disk_fails_stops_and_the_others_go_on(cluster: Cluster) -> None:
    cluster.broker(2).disk.fail(Fault("write", path_ending=".log"))
    cluster.broker(1).produce(count=3)
    cluster.loop.advance(300)
    assert cluster.broker(2).events.lost == ["/data"]
    assert cluster.log(3).log_end_offset == 3


def test_consumers_that_wait_at_a_follower_hear_of_new_records(cluster: Cluster) -> None:
    answers: Answers = Answers()
    client = ClientMetadata("", "c", "localhost", "PLAINTEXT")
    params = FetchParams(max_wait_ms=10_000, min_bytes=1, max_bytes=1000, client=client)
    cluster.broker(2).replicas.fetch(params, [want()], answers.take)
    cluster.broker(1).produce(count=2)
    cluster.loop.advance(500)
    assert offsets(answers[0]) == [0, 1]


def test_a_topic_that_is_deleted_is_fetched_no_more(cluster: Cluster) -> None:
    cluster.metadata.delete("orders")
    cluster.loop.advance(10)
    before = cluster.network.fetches
    cluster.loop.advance(1000)
    assert cluster.network.fetches == before


def test_a_leader_that_does_not_know_yet_that_it_leads_is_asked_again(cluster: Cluster) -> None:
    followers, leader = cluster.metadata.brokers[:1] + cluster.metadata.brokers[2:], cluster.metadata.brokers[1]
    cluster.metadata.brokers = followers
    image = cluster.metadata.image
    cluster.metadata.change("orders", leader=2)
    cluster.loop.advance(500)
    assert cluster.broker(2).produce()[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    cluster.metadata.brokers = [leader]
    cluster.metadata.image = image
    cluster.metadata.change("orders", leader=2)
    cluster.loop.advance(500)
    cluster.broker(2).produce(count=2)
    cluster.loop.advance(2000)
    assert cluster.ends() == [2, 2, 2]


def test_a_leader_that_hears_late_of_its_election_is_followed_within_milliseconds(cluster: Cluster) -> None:
    followers, leader = cluster.metadata.brokers[:1] + cluster.metadata.brokers[2:], cluster.metadata.brokers[1]
    cluster.metadata.brokers = followers
    image = cluster.metadata.image
    cluster.metadata.change("orders", leader=2)
    cluster.loop.advance(15)
    cluster.metadata.brokers = [leader]
    cluster.metadata.image = image
    cluster.metadata.change("orders", leader=2)
    cluster.loop.advance(1)
    answers = cluster.broker(2).produce(count=2, acks=-1)
    cluster.loop.advance(25)
    assert answers[0].error_code == ErrorCode.NONE
    assert cluster.ends() == [2, 2, 2]


def test_a_broker_that_never_leads_is_asked_ever_more_seldom(cluster: Cluster) -> None:
    cluster.metadata.brokers = cluster.metadata.brokers[:1] + cluster.metadata.brokers[2:]
    cluster.metadata.change("orders", leader=2)
    cluster.loop.advance(10_000)
    before = cluster.network.fetches
    cluster.loop.advance(10_000)
    assert cluster.network.fetches - before == 2 * 10
