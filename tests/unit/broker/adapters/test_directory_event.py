"""Where replicas live is told until the controller knows; a lost directory goes with the heartbeats."""

from typing import Any

import pytest

from ottla.base.ids import Uuid
from ottla.broker.adapters.directory_event import ASSIGNMENTS_PER_REQUEST_MAX, ControllerDirectoryEvents
from ottla.protocol.errors import ErrorCode, NotControllerError
from ottla.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    ResponseDirectoryData,
    ResponsePartitionData,
    ResponseTopicData,
)
from tests.unit.broker.hand_controller import HandChannel, HandLoop

TOPIC = Uuid(b"t" * 16)
HERE, THERE = Uuid(b"h" * 16), Uuid(b"e" * 16)


class Rig:
    def __init__(self) -> None:
        self.loop = HandLoop()
        self.channel = HandChannel()
        self.failed: list[Uuid] = []
        self.ended = 0
        self.events = ControllerDirectoryEvents((1, lambda: 77), self.failed.append, self.channel, self.loop, self._end)

    def _end(self) -> None:
        self.ended += 1

    def told(self) -> dict[int, Uuid]:
        """What the request that is under way says of the topic's partitions."""
        request: Any = self.channel.sent[0][0]
        assert isinstance(request, AssignReplicasToDirsRequest)
        assert (request.broker_id, request.broker_epoch) == (1, 77)
        return {
            partition.partition_index: directory.id
            for directory in request.directories
            for topic in directory.topics
            for partition in topic.partitions
        }

    def answer(self, errors: dict[int, int]) -> None:
        """The controller's word on each partition that it was told of."""
        directories = [
            ResponseDirectoryData(
                id=directory,
                topics=[
                    ResponseTopicData(
                        topic_id=TOPIC,
                        partitions=[ResponsePartitionData(partition_index=index, error_code=errors.get(index, 0))],
                    )
                ],
            )
            for index, directory in self.told().items()
        ]
        self.channel.answer(AssignReplicasToDirsResponse(directories=directories))


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_a_replica_that_moved_twice_is_told_of_once(rig: Rig) -> None:
    rig.events.assign(TOPIC, 0, THERE)
    rig.events.assign(TOPIC, 1, HERE)
    rig.events.assign(TOPIC, 0, HERE)
    rig.loop.advance(1)
    assert rig.told() == {0: HERE, 1: HERE}
    rig.answer({})
    rig.loop.advance(100)
    assert rig.channel.sent == []


def test_what_is_refused_is_told_again_unless_the_replica_is_gone(rig: Rig) -> None:
    for index in range(3):
        rig.events.assign(TOPIC, index, HERE)
    rig.loop.advance(1)
    rig.answer({0: ErrorCode.UNKNOWN_TOPIC_ID, 1: ErrorCode.UNKNOWN_SERVER_ERROR})
    rig.loop.advance(5)
    assert rig.told() == {1: HERE}


def test_a_refused_request_is_told_again_and_the_newest_place_counts(rig: Rig) -> None:
    rig.events.assign(TOPIC, 0, HERE)
    rig.loop.advance(1)
    rig.events.assign(TOPIC, 0, THERE)
    rig.channel.answer(NotControllerError())
    rig.loop.advance(5)
    assert rig.told() == {0: THERE}


def test_many_replicas_take_several_requests_one_after_the_other(rig: Rig) -> None:
    for index in range(ASSIGNMENTS_PER_REQUEST_MAX + 5):
        rig.events.assign(TOPIC, index, HERE)
    rig.loop.advance(1)
    assert len(rig.channel.sent) == 1
    assert len(rig.told()) == ASSIGNMENTS_PER_REQUEST_MAX
    rig.answer({})
    rig.loop.advance(1)
    assert len(rig.told()) == 5


def test_a_lost_directory_is_handed_to_the_heartbeats_and_the_last_ends_the_broker(rig: Rig) -> None:
    rig.events.failed(HERE, "/data/a")
    rig.events.failed(None, "/data/never-identified")
    rig.events.all_failed()
    assert rig.failed == [HERE]
    assert rig.ended == 1
