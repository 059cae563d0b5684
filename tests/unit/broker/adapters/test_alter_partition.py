"""ISR changes reach the controller together, once, and again if it did not take them."""

from typing import Any

import pytest

from ottla.base.ids import Uuid
from ottla.broker.adapters.alter_partition import ControllerAlterPartition
from ottla.protocol.errors import ApiError, ErrorCode, NotControllerError
from ottla.protocol.messages.alter_partition import (
    AlterPartitionResponse,
    ResponsePartitionData,
    ResponseTopicData,
)
from ottla.replication.ports import IsrMember, LeaderAndIsr
from tests.unit.broker.hand_controller import HandChannel, HandLoop

ORDERS, PAYMENTS = Uuid(b"o" * 16), Uuid(b"p" * 16)


def proposal(*isr: int, partition_epoch: int = 3) -> LeaderAndIsr:
    return LeaderAndIsr(1, 5, tuple(IsrMember(member, member * 100) for member in isr), 0, partition_epoch)


def answer(topic_id: Uuid, index: int, **values: Any) -> AlterPartitionResponse:
    partition = ResponsePartitionData(partition_index=index, **values)
    return AlterPartitionResponse(topics=[ResponseTopicData(topic_id=topic_id, partitions=[partition])])


class Rig:
    def __init__(self) -> None:
        self.loop = HandLoop()
        self.channel = HandChannel()
        self.port = ControllerAlterPartition(1, lambda: 77, self.channel, self.loop)
        self.heard: list[LeaderAndIsr | ApiError] = []

    def alter(self, topic_id: Uuid, index: int, proposed: LeaderAndIsr) -> None:
        self.port.alter(topic_id, index, proposed, self.heard.append)


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_what_is_proposed_together_travels_together(rig: Rig) -> None:
    rig.alter(ORDERS, 0, proposal(1, 2))
    rig.alter(PAYMENTS, 4, proposal(1))
    assert rig.channel.sent == []
    rig.loop.advance(0)
    request: Any = rig.channel.sent[0][0]
    assert (request.broker_id, request.broker_epoch, len(rig.channel.sent)) == (1, 77, 1)
    [orders, payments] = request.topics
    [partition] = orders.partitions
    assert (partition.leader_epoch, partition.partition_epoch) == (5, 3)
    assert [(member.broker_id, member.broker_epoch) for member in partition.new_isr_with_epochs] == [(1, 100), (2, 200)]
    assert [partition.partition_index for partition in payments.partitions] == [4]


def test_the_answer_is_the_partition_as_the_controller_has_it(rig: Rig) -> None:
    rig.alter(ORDERS, 0, proposal(1, 2))
    rig.loop.advance(0)
    rig.channel.answer(answer(ORDERS, 0, leader_id=1, leader_epoch=5, isr=[1, 2], partition_epoch=4))
    assert rig.heard == [proposal(1, 2, partition_epoch=4)]


def test_a_refusal_of_the_partition_is_heard(rig: Rig) -> None:
    rig.alter(ORDERS, 0, proposal(1, 2))
    rig.loop.advance(0)
    rig.channel.answer(answer(ORDERS, 0, error_code=ErrorCode.INVALID_UPDATE_VERSION))
    [error] = rig.heard
    assert isinstance(error, ApiError)
    assert error.code == ErrorCode.INVALID_UPDATE_VERSION


def test_a_refusal_of_the_request_is_tried_again_with_what_came_meanwhile(rig: Rig) -> None:
    rig.alter(ORDERS, 0, proposal(1, 2))
    rig.loop.advance(0)
    rig.alter(PAYMENTS, 4, proposal(1))
    rig.loop.advance(10)
    assert len(rig.channel.sent) == 1
    rig.channel.answer(NotControllerError())
    assert rig.heard == []
    rig.loop.advance(1)
    request: Any = rig.channel.sent[0][0]
    assert [topic.topic_id for topic in request.topics] == [ORDERS, PAYMENTS]


def test_an_answer_that_leaves_a_partition_out_is_an_error_for_it(rig: Rig) -> None:
    rig.alter(ORDERS, 0, proposal(1, 2))
    rig.loop.advance(0)
    rig.channel.answer(AlterPartitionResponse())
    [error] = rig.heard
    assert isinstance(error, ApiError)
    assert error.code == ErrorCode.UNKNOWN_SERVER_ERROR
