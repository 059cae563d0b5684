"""ISR changes on their way to the controller (AlterPartition, KIP-497): replication's `AlterPartitionPort`.

One request at a time, with everything that was proposed while the last one was under way, so that a broker whose
thousand partitions all lose a follower sends a handful of requests. A refusal of the whole request (no controller, a
broker epoch that is not the registered one yet) is no answer to anybody: it is sent again.
"""

import logging
from collections.abc import Callable
from typing import Final

from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.broker.node.lifecycle import Channel, Scheduler
from ottla.protocol.definition import Response
from ottla.protocol.errors import ApiError, UnknownServerError, error_for
from ottla.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
    RequestPartitionData,
    RequestTopicData,
    ResponsePartitionData,
)
from ottla.replication.ports import AlterPartitionDone, IsrMember, LeaderAndIsr

_log = logging.getLogger(__name__)

_TIMEOUT_MS: Final = 30_000
_RETRY_DELAY_S: Final = 0.05
_ANY_EPOCH: Final = -1

Key = tuple[Uuid, int]


@frozen
class _Proposal:
    proposed: LeaderAndIsr
    done: AlterPartitionDone


class ControllerAlterPartition:
    """Proposes ISRs through the controller channel. Loop thread only."""

    def __init__(self, node_id: int, broker_epoch: Callable[[], int], channel: Channel, loop: Scheduler) -> None:
        self._node_id = node_id
        self._broker_epoch = broker_epoch
        self._channel = channel
        self._loop = loop
        self._waiting: dict[Key, _Proposal] = {}
        self._in_flight: dict[Key, _Proposal] = {}
        self._is_scheduled = False

    def alter(self, topic_id: Uuid, partition: int, proposed: LeaderAndIsr, done: AlterPartitionDone) -> None:
        """Proposes an ISR; `done` hears what the controller says, later."""
        self._waiting[topic_id, partition] = _Proposal(proposed, done)
        self._schedule(0.0)

    def _schedule(self, delay_s: float) -> None:
        if not self._is_scheduled and not self._in_flight:
            self._is_scheduled = True
            self._loop.call_later(delay_s, self._send)

    def _send(self) -> None:
        self._is_scheduled = False
        self._in_flight, self._waiting = self._waiting, {}
        if not self._in_flight:
            return
        by_topic: dict[Uuid, list[RequestPartitionData]] = {}
        for (topic_id, partition), proposal in self._in_flight.items():
            by_topic.setdefault(topic_id, []).append(_wanted(partition, proposal.proposed))
        request = AlterPartitionRequest(
            broker_id=self._node_id,
            broker_epoch=self._broker_epoch(),
            topics=[RequestTopicData(topic_id=topic_id, partitions=wanted) for topic_id, wanted in by_topic.items()],
        )
        self._channel.send(request, self._answered, timeout_ms=_TIMEOUT_MS)

    def _answered(self, answer: Response | ApiError) -> None:
        asked, self._in_flight = self._in_flight, {}
        if not isinstance(answer, AlterPartitionResponse):
            _log.info("the controller did not take %d ISR changes, asking again: %s", len(asked), answer)
            # What was proposed anew meanwhile rests on the same state of the partition, and counts.
            self._waiting = {**asked, **self._waiting}
            self._schedule(_RETRY_DELAY_S)
            return
        for topic in answer.topics:
            for partition in topic.partitions:
                proposal = asked.pop((topic.topic_id, partition.partition_index), None)
                if proposal is not None:
                    proposal.done(_outcome(partition, proposal.proposed))
        for proposal in asked.values():
            proposal.done(UnknownServerError("the controller's answer leaves the partition out"))
        if self._waiting:
            self._schedule(0.0)


def _wanted(partition: int, proposed: LeaderAndIsr) -> RequestPartitionData:
    return RequestPartitionData(
        partition_index=partition,
        leader_epoch=proposed.leader_epoch,
        new_isr_with_epochs=[
            BrokerState(broker_id=member.broker_id, broker_epoch=member.broker_epoch) for member in proposed.isr
        ],
        leader_recovery_state=proposed.leader_recovery_state,
        partition_epoch=proposed.partition_epoch,
    )


def _outcome(partition: ResponsePartitionData, proposed: LeaderAndIsr) -> LeaderAndIsr | ApiError:
    if partition.error_code:
        return error_for(partition.error_code)
    epochs = {member.broker_id: member.broker_epoch for member in proposed.isr}
    return LeaderAndIsr(
        leader_id=partition.leader_id,
        leader_epoch=partition.leader_epoch,
        isr=tuple(IsrMember(broker_id, epochs.get(broker_id, _ANY_EPOCH)) for broker_id in partition.isr),
        leader_recovery_state=partition.leader_recovery_state,
        partition_epoch=partition.partition_epoch,
    )
