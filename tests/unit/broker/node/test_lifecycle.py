"""A broker's life, as the controller sees it: what is said when, and what follows from the answers."""

from typing import Any

import pytest

from ottla.base.ids import Uuid
from ottla.broker.node.lifecycle import (
    BrokerIdentity,
    BrokerLifecycle,
    BrokerState,
    LifecycleSettings,
    LifecycleState,
)
from ottla.metadata.image.cluster import Endpoint
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage, Provenance
from ottla.metadata.metadata_version import LATEST
from ottla.protocol.errors import (
    ApiError,
    DuplicateBrokerRegistrationError,
    InconsistentClusterIdError,
    NotControllerError,
    RequestTimedOutError,
    StaleBrokerEpochError,
)
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.protocol.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse
from ottla.protocol.metadata_log.broker import RegisterBrokerRecord
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from tests.unit.broker.hand_controller import HandChannel, HandLoop

INCARNATION = Uuid(bytes(15) + b"\x07")
DIRECTORIES = [Uuid(bytes(14) + b"\x02\x02"), Uuid(bytes(14) + b"\x02\x01")]
SETTINGS = LifecycleSettings(heartbeat_interval_ms=2000, session_timeout_ms=9000, registration_timeout_ms=60_000)


class Life:
    """A broker and what became of it."""

    def __init__(self) -> None:
        self.loop = HandLoop()
        self.channel = HandChannel()
        self.metadata_offset = 0
        self.running: list[ApiError | None] = []
        self.stopped = 0
        self.unheard: list[Uuid] = []
        identity = BrokerIdentity(
            node_id=1,
            cluster_id="c",
            incarnation_id=INCARNATION,
            listeners=[Endpoint("PLAINTEXT", "h", 9092, 0)],
            rack="r",
            directories=DIRECTORIES,
            previous_epoch=33,
        )
        state = BrokerState(lambda: self.metadata_offset, lambda: None, self.unheard.append)
        self.lifecycle = BrokerLifecycle(identity, SETTINGS, self.channel, state, self.loop)

    def start(self) -> None:
        self.lifecycle.start(self.running.append)

    def run(self, epoch: int = 50) -> None:
        """Up to the point where it is unfenced."""
        self.start()
        self.channel.answer(BrokerRegistrationResponse(broker_epoch=epoch))
        self.loop.advance(0)
        self.channel.answer(BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False))
        self.see(fenced=False)

    def see(self, *, fenced: bool, directories: list[Uuid] | None = None) -> None:
        """The metadata says that the broker is, or is not, fenced."""
        record = RegisterBrokerRecord(
            broker_id=1,
            incarnation_id=INCARNATION,
            broker_epoch=50,
            fenced=fenced,
            rack=None,
            log_dirs=DIRECTORIES if directories is None else directories,
        )
        self.lifecycle.metadata_changed(MetadataDelta(EMPTY_IMAGE), _image(record))

    def stop(self) -> None:
        self.lifecycle.begin_controlled_shutdown(self._count_stop)

    def _count_stop(self) -> None:
        self.stopped += 1


def _image(record: RegisterBrokerRecord) -> MetadataImage:
    delta = MetadataDelta(EMPTY_IMAGE)
    delta.replay_all([FeatureLevelRecord(name="metadata.version", feature_level=int(LATEST)), record])
    return delta.apply(Provenance(60, 1, 0))


@pytest.fixture
def life() -> Life:
    return Life()


def test_a_broker_registers_with_all_that_the_controller_has_to_know(life: Life) -> None:
    life.start()
    request: Any = life.channel.answer(BrokerRegistrationResponse(broker_epoch=50))
    assert isinstance(request, BrokerRegistrationRequest)
    assert (request.broker_id, request.cluster_id, request.incarnation_id) == (1, "c", INCARNATION)
    assert (request.rack, request.previous_broker_epoch) == ("r", 33)
    assert request.log_dirs == sorted(DIRECTORIES)
    assert [(listener.name, listener.host, listener.port) for listener in request.listeners] == [
        ("PLAINTEXT", "h", 9092)
    ]
    assert {feature.name for feature in request.features} >= {"metadata.version", "kraft.version"}
    assert life.lifecycle.broker_epoch == 50
    assert life.lifecycle.state is LifecycleState.RECOVERY


def test_it_wants_to_be_unfenced_at_once_and_runs_when_the_log_says_so_too(life: Life) -> None:
    life.start()
    life.channel.answer(BrokerRegistrationResponse(broker_epoch=50))
    life.metadata_offset = 57
    life.loop.advance(0)
    request: Any = life.channel.answer(BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False))
    assert isinstance(request, BrokerHeartbeatRequest)
    assert (request.broker_epoch, request.want_fence, request.current_metadata_offset) == (50, False, 57)
    assert life.running == []
    life.see(fenced=False)
    assert life.running == [None]
    assert life.lifecycle.state is LifecycleState.RUNNING


def test_until_it_is_unfenced_it_asks_often_then_every_interval(life: Life) -> None:
    life.start()
    life.channel.answer(BrokerRegistrationResponse(broker_epoch=50))
    asked = 0
    for _ in range(10):
        life.loop.advance(0.1)
        while life.channel.sent:
            life.channel.answer(BrokerHeartbeatResponse(is_fenced=True))
            asked += 1
    assert asked >= 5
    life.loop.advance(0.3)
    life.channel.answer(BrokerHeartbeatResponse(is_fenced=False))
    life.see(fenced=False)
    life.loop.advance(0.25)
    life.channel.answer(BrokerHeartbeatResponse(is_fenced=False))
    life.loop.advance(1.9)
    assert life.channel.sent == []
    life.loop.advance(0.2)
    assert len(life.channel.sent) == 1


def test_it_is_heard_again_whatever_breaks(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object, **_more: object) -> None:
        raise RuntimeError("broken")

    life.run()
    life.loop.advance(0)
    with monkeypatch.context() as patch:
        patch.setattr(life.channel, "send", broken)
        with pytest.raises(RuntimeError, match="broken"):
            life.loop.advance(2.1)
    assert life.channel.sent == []
    life.loop.advance(0.2)
    with monkeypatch.context() as patch:
        patch.setattr(life.lifecycle, "_check_running", broken)
        with pytest.raises(RuntimeError, match="broken"):
            life.channel.answer(BrokerHeartbeatResponse(is_fenced=False))
    life.loop.advance(0.2)
    assert isinstance(life.channel.answer(BrokerHeartbeatResponse(is_fenced=False)), BrokerHeartbeatRequest)


def test_a_broker_that_was_fenced_because_it_was_late_is_heard_at_once(life: Life) -> None:
    life.run()
    life.see(fenced=True)
    life.see(fenced=True)
    life.loop.advance(0)
    request: Any = life.channel.answer(BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False))
    assert isinstance(request, BrokerHeartbeatRequest)
    assert not request.want_fence
    life.loop.advance(1.9)
    assert not life.channel.sent
    life.loop.advance(0.1)
    assert len(life.channel.sent) == 1


def test_a_refused_registration_is_tried_again_ever_more_patiently(life: Life) -> None:
    life.start()
    waits = []
    for _ in range(5):
        life.channel.answer(DuplicateBrokerRegistrationError())
        before = life.loop.now_s
        while not life.channel.sent:
            life.loop.advance(0.05)
        waits.append(round(life.loop.now_s - before, 2))
    assert waits == sorted(waits)
    assert waits[0] < 0.2
    assert waits[-1] >= 0.9
    assert life.running == []


def test_a_registration_that_never_succeeds_is_given_up(life: Life) -> None:
    life.start()
    while not life.running:
        if life.channel.sent:
            life.channel.answer(NotControllerError())
        life.loop.advance(1)
        assert life.loop.now_s < 200
    assert life.loop.now_s >= 160
    assert isinstance(life.running[0], NotControllerError)


def test_a_hopeless_registration_is_given_up_at_once(life: Life) -> None:
    life.start()
    life.channel.answer(InconsistentClusterIdError())
    assert isinstance(life.running[0], InconsistentClusterIdError)


def test_a_controller_that_knows_it_no_more_makes_it_register_again(life: Life) -> None:
    life.run()
    life.loop.advance(2.1)
    life.channel.answer(StaleBrokerEpochError())
    life.loop.advance(0.2)
    request = life.channel.answer(BrokerRegistrationResponse(broker_epoch=90))
    assert isinstance(request, BrokerRegistrationRequest)
    assert life.lifecycle.broker_epoch == 90
    life.loop.advance(0)
    assert life.channel.answer(BrokerHeartbeatResponse(is_fenced=False)).broker_epoch == 90


def test_a_cluster_that_learns_of_directories_is_told_of_them(life: Life) -> None:
    life.run()
    life.see(fenced=False, directories=[])
    life.loop.advance(0)
    assert isinstance(life.channel.answer(BrokerRegistrationResponse(broker_epoch=50)), BrokerRegistrationRequest)


def test_a_lost_directory_is_told_at_once_and_with_every_heartbeat(life: Life) -> None:
    life.run()
    life.lifecycle.directory_failed(DIRECTORIES[0])
    life.loop.advance(0)
    first: Any = life.channel.answer(BrokerHeartbeatResponse(is_fenced=False))
    life.loop.advance(2.1)
    second: Any = life.channel.answer(BrokerHeartbeatResponse(is_fenced=False))
    assert first.offline_log_dirs == second.offline_log_dirs == [DIRECTORIES[0]]


def test_a_directory_lost_while_a_heartbeat_is_under_way_is_told_right_after(life: Life) -> None:
    life.run()
    life.loop.advance(2.1)
    life.lifecycle.directory_failed(DIRECTORIES[0])
    assert life.channel.answer(BrokerHeartbeatResponse(is_fenced=False)).offline_log_dirs == []
    life.loop.advance(0)
    assert life.channel.answer(BrokerHeartbeatResponse(is_fenced=False)).offline_log_dirs == [DIRECTORIES[0]]


def test_a_lost_directory_that_the_controller_does_not_hear_of_ends_the_broker(life: Life) -> None:
    life.run()
    life.lifecycle.directory_failed(DIRECTORIES[0])
    life.loop.advance(0)
    life.channel.answer(BrokerHeartbeatResponse(is_fenced=False))
    life.lifecycle.directory_failed(DIRECTORIES[1])
    life.loop.advance(29)
    assert life.unheard == []
    life.loop.advance(2)
    assert life.unheard == [DIRECTORIES[1]]


def test_it_stops_once_the_controller_gives_leave(life: Life) -> None:
    life.run()
    life.stop()
    life.loop.advance(0)
    assert life.channel.answer(BrokerHeartbeatResponse(is_fenced=False)).want_shut_down
    assert life.stopped == 0
    life.loop.advance(0.1)
    life.channel.answer(BrokerHeartbeatResponse(is_fenced=False, should_shut_down=True))
    assert life.stopped == 1
    life.loop.advance(1000)
    assert life.channel.sent == []
    assert life.stopped == 1


def test_it_does_not_wait_for_a_controller_that_does_not_answer(life: Life) -> None:
    life.run()
    life.stop()
    life.loop.advance(0)
    life.loop.advance(8.9)
    assert life.stopped == 0
    life.loop.advance(0.2)
    assert life.stopped == 1


def test_it_does_not_wait_for_a_controller_that_refuses(life: Life) -> None:
    life.run()
    life.stop()
    for _ in range(200):
        life.loop.advance(0.05)
        while life.channel.sent:
            life.channel.answer(RequestTimedOutError())
    assert life.stopped == 1


def test_it_waits_as_long_as_it_is_told_to_wait_but_not_for_ever(life: Life) -> None:
    life.run()
    life.stop()
    for _ in range(299):
        life.loop.advance(1)
        while life.channel.sent:
            life.channel.answer(BrokerHeartbeatResponse(is_fenced=False))
    assert life.stopped == 0
    life.loop.advance(10)
    assert life.stopped == 1


def test_a_broker_that_never_ran_stops_at_once(life: Life) -> None:
    life.start()
    life.stop()
    assert life.stopped == 1


def test_an_answer_that_comes_after_the_end_changes_nothing(life: Life) -> None:
    life.run()
    life.loop.advance(2.1)
    life.lifecycle.close()
    life.channel.answer(BrokerHeartbeatResponse(is_fenced=False))
    life.loop.advance(100)
    assert life.channel.sent == []
    assert life.lifecycle.state is LifecycleState.SHUTTING_DOWN
