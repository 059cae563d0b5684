"""Carries proposals for in-sync replicas to the controller, and its answers back to the partitions."""

import logging
from collections.abc import Iterable
from typing import Final

from ottla.protocol.errors import ApiError
from ottla.replication.isr import Answered
from ottla.replication.partition.partition import Partition
from ottla.replication.partition_table import PartitionTable
from ottla.replication.ports import AlterPartitionPort, LeaderAndIsr
from ottla.replication.schedule.timer_wheel import TimerWheel
from ottla.replication.schedule.waiting import Waiting

_log = logging.getLogger(__name__)
_RETRY_MS: Final = 50
"""A controller that cannot say yes or no just now is not asked again at once: it may be in this very process."""


class IsrUpdater:
    """Speaks with the controller about ISRs; counts for the metrics."""

    def __init__(self, table: PartitionTable, waiting: Waiting, port: AlterPartitionPort, wheel: TimerWheel) -> None:
        self._table: Final = table
        self._waiting: Final = waiting
        self._port: Final = port
        self._wheel: Final = wheel
        self.expansions = 0
        self.shrinks = 0
        self.failures = 0

    def shrink(self, partitions: Iterable[Partition], now_ms: int) -> None:
        """Proposes to remove replicas that lag for too long; stops waiting for joining replicas that lag."""
        for partition in partitions:
            proposed = partition.shrink_isr(now_ms)
            if partition.advance():
                self._waiting.check(partition)
            if proposed is not None:
                _log.info("[%s-%d] shrinking the ISR to %s", partition.topic, partition.index, _ids(proposed))
                self.propose(partition, proposed)

    def propose(self, partition: Partition, proposed: LeaderAndIsr) -> None:
        """Asks the controller for an ISR; its answer may move the high watermark."""
        self._port.alter(
            partition.topic_id,
            partition.index,
            proposed,
            lambda answer: self._answered(partition, proposed, answer),
        )

    def _answered(self, partition: Partition, proposed: LeaderAndIsr, answer: LeaderAndIsr | ApiError) -> None:
        if not self._table.is_here(partition):
            return
        before = 0 if partition.leadership is None else len(partition.leadership.isr.members)
        outcome, moved = partition.isr_answered(proposed, answer)
        if outcome is Answered.ACCEPTED:
            self._count(before, proposed)
            _log.info("[%s-%d] the ISR is now %s", partition.topic, partition.index, _ids(proposed))
        elif outcome is Answered.RETRY:
            self.failures += 1
            _log.warning("[%s-%d] the ISR was not updated, trying again: %s", partition.topic, partition.index, answer)
            self._wheel.add(_RETRY_MS, lambda: self._retry(partition, proposed))
        else:
            self.failures += 1
            _log.debug("[%s-%d] the ISR was not updated: %s", partition.topic, partition.index, answer)
        if moved:
            self._waiting.check(partition)

    def _retry(self, partition: Partition, proposed: LeaderAndIsr) -> None:
        leadership = partition.leadership
        if self._table.is_here(partition) and leadership is not None and leadership.isr.proposed is proposed:
            self.propose(partition, proposed)

    def _count(self, before: int, proposed: LeaderAndIsr) -> None:
        if len(proposed.isr) > before:
            self.expansions += 1
        else:
            self.shrinks += 1


def _ids(proposed: LeaderAndIsr) -> list[int]:
    return [member.broker_id for member in proposed.isr]
