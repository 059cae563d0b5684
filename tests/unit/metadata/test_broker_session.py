"""Sessions of brokers: who was silent, and who was merely not listened to."""

from ottla.metadata.controller.broker.broker_session import BrokerSessions
from tests.unit.metadata.cluster import CONTROLLER_ID, Cluster, uuid_of


def fenced(cluster: Cluster) -> list[int]:
    return sorted(broker.id for broker in cluster.image.cluster.brokers.values() if broker.fenced)


def heard(cluster: Cluster, broker_id: int) -> None:
    cluster.controller.heard(broker_id, cluster.image.cluster.brokers[broker_id].epoch, cluster.now_ms)


class TestHeard:
    def test_a_heartbeat_counts_from_its_receipt(self) -> None:
        cluster = Cluster()
        cluster.start(1, 2)
        cluster.pass_time(5_000)
        heard(cluster, 1)
        cluster.pass_time(9_000)
        assert fenced(cluster) == [2]
        cluster.pass_time(1)
        assert fenced(cluster) == [1, 2]

    def test_an_earlier_life_of_the_broker_is_not_heard(self) -> None:
        cluster = Cluster()
        cluster.start(1)
        cluster.pass_time(5_000)
        cluster.controller.heard(1, cluster.image.cluster.brokers[1].epoch - 1, cluster.now_ms)
        cluster.controller.heard(7, 0, cluster.now_ms)
        cluster.pass_time(4_001)
        assert fenced(cluster) == [1]

    def test_an_idle_controller_hears_nobody(self) -> None:
        cluster = Cluster()
        cluster.controller.renounce()
        cluster.controller.heard(1, 0, 0)
        assert cluster.controller.next_tick_ms is None


class TestStall:
    def test_time_in_which_the_controller_stood_still_is_nobodys_silence(self) -> None:
        cluster = Cluster()
        cluster.start(1, 2, 3)
        cluster.now_ms += 60_000
        cluster.controller.tick(cluster.now_ms)
        cluster.commit()
        assert fenced(cluster) == []
        heard(cluster, 1)
        cluster.pass_time(8_500)
        assert fenced(cluster) == [], "500 ms of the session had passed before the stall was to be noticed"
        cluster.pass_time(1)
        assert fenced(cluster) == [2, 3]

    def test_it_does_not_give_an_id_away_either(self) -> None:
        sessions = BrokerSessions(9_000)
        sessions.heard(1, 5, 1_000)
        sessions.postpone(20_000, 21_500)
        assert sessions.is_alive(1, 5, 30_000)
        assert not sessions.is_alive(1, 5, 30_001)

    def test_nobody_is_heard_in_the_future(self) -> None:
        sessions = BrokerSessions(9_000)
        sessions.heard(1, 5, 20_000)
        sessions.postpone(5_000, 20_001)
        assert sessions.next_expiry_ms() == 29_002

    def test_ticks_are_planned_close_enough_to_notice(self) -> None:
        cluster = Cluster(metadata_max_idle_interval_ms=0)
        cluster.start(1)
        assert cluster.controller.next_tick_ms == 500


def test_one_broker_is_fenced_at_a_time() -> None:
    cluster = Cluster(metadata_max_idle_interval_ms=0)
    cluster.start(1, 2, 3)
    cluster.pass_time(9_000)
    for count in (1, 2, 3):
        assert cluster.controller.next_tick_ms == 9_001
        cluster.controller.tick(9_001)
        assert fenced(cluster) == [1, 2, 3][:count]
    assert cluster.controller.next_tick_ms == 9_501


def test_after_a_failover_a_broker_must_have_read_its_registration() -> None:
    """Its epoch is the first offset of the batch; the registration comes after what the crash before it changed."""
    cluster = Cluster(broker_incarnation_id=uuid_of(7))
    cluster.start(1, CONTROLLER_ID)
    cluster.create("t", [CONTROLLER_ID, 1])
    epoch = cluster.register(CONTROLLER_ID, incarnation_id=uuid_of(7))
    assert epoch < cluster.quorum.end_offset() - 1
    cluster.controller.claim(2, cluster.loader.image, cluster.now_ms)
    reply = cluster.heartbeat(CONTROLLER_ID, current_metadata_offset=epoch)
    assert (reply.is_caught_up, reply.is_fenced) == (False, True)
    reply = cluster.heartbeat(CONTROLLER_ID)
    assert (reply.is_caught_up, reply.is_fenced) == (True, False)
