"""Gives assigned partitions a position, and keeps it true when leaders change.

A partition without a position starts at the group's committed offset, else where `auto.offset.reset` says. A position
is compared with the log of a new leader before anything is read from it (KIP-320): the leader of epoch 5 says that
epoch 3 ended at offset 80, the position is 85 with epoch 3: records 80..84 that were read are gone from the log.

The work runs in the background until it is done, across any number of short polls, and changes only partitions whose
version is the one it started with: a seek in between wins.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.retries import is_retriable
from ottla.client.consumer.errors import FetchBrokenError
from ottla.client.consumer.offset.committed_offset import CommittedOffsets, is_of_membership
from ottla.client.consumer.offset.offset_lookup import EpochEnd, OffsetFound, OffsetLookup
from ottla.client.consumer.offset.offset_reset import LATEST, OffsetReset, ResetKind
from ottla.client.consumer.subscription_state import UNCHECKED, PartitionState, Position, SubscriptionState
from ottla.client.errors import LogTruncationError, NoOffsetForPartitionError
from ottla.client.record import TopicPartition
from ottla.protocol.errors import UnknownTopicOrPartitionError

_log = logging.getLogger(__name__)

_ATTEMPT_MS: Final = 30_000


class PositionUpdate:
    """The positions of one consumer; `changed` is told whenever there is news for the user or the fetcher."""

    def __init__(
        self,
        cluster: ClusterClient,
        subscription: SubscriptionState,
        lookup: OffsetLookup,
        reset: OffsetReset,
        changed: Callable[[], None],
    ) -> None:
        self.is_needed = False
        """Whether `begin` has something to look at; set after an assignment, a seek, or news of leaders."""
        self.default_reset: Final = reset
        self.committed: CommittedOffsets | None = None
        """Where to look for committed offsets; None without a group."""
        self._cluster: Final = cluster
        self._subscription: Final = subscription
        self._lookup: Final = lookup
        self._changed: Final = changed
        self._task: asyncio.Task[None] | None = None
        self._error: OttlaError | None = None

    def begin(self) -> None:
        """In the user's call: compares leaders, starts what is to be asked; raises what an earlier start ended with."""
        error, self._error = self._error, None
        if error is not None:
            raise error
        if not self.is_needed:
            return
        self.is_needed = False
        for state in self._subscription.assigned.values():
            self._check_leader(state)
        if self._task is None and any(map(_is_unsettled, self._subscription.assigned.values())):
            self._task = asyncio.get_running_loop().create_task(self._run(), name="consumer positions")
            self._task.add_done_callback(self._ended)
        self._changed()

    async def close(self) -> None:
        """Ends what runs."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def _check_leader(self, state: PartitionState) -> None:
        """Whether the position has to be compared with the log of the leader that is known now."""
        partition = self._cluster.view.partition(*state.partition)
        if partition is None or state.position is None or partition.leader_epoch == state.validated_epoch:
            return
        epoch = state.position.epoch
        if epoch is None or partition.leader_epoch < 0 or epoch == partition.leader_epoch:
            state.validated_epoch = partition.leader_epoch
            return
        # What was fetched ahead came from the former leader: the new one may have other records there.
        if state.validated_epoch != UNCHECKED:
            state.refetch()
        state.needs_validation = True

    async def _run(self) -> None:
        failures = 0
        try:
            while True:
                error = await self._round()
                self._changed()
                if not any(map(_is_unsettled, self._subscription.assigned.values())):
                    return
                if error is None:
                    failures = 0
                    continue
                await asyncio.sleep(self._cluster.backoff.delay_ms(failures) / 1000)
                failures += 1
        except OttlaError as error:
            self._error = error

    def _ended(self, task: "asyncio.Task[None]") -> None:
        cause = None if task.cancelled() else task.exception()
        if cause is not None:
            self._error = FetchBrokenError(f"finding positions met with something unforeseen: {cause!r}")
            self._error.__cause__ = cause
        self._task = None
        self.is_needed = True
        self._changed()

    async def _round(self) -> OttlaError | None:
        """One attempt at everything that is open: why something is left, if it is for an error."""
        try:
            await self._read_committed()
            return await self._reset() or await self._validate()
        except OttlaError as error:
            # One who was thrown out of the group loses its partitions: the membership sees to that.
            if not is_retriable(error) and not is_of_membership(error):
                raise
            return error

    async def _read_committed(self) -> None:
        """The starting point of partitions that are new: the committed offset, or a reset."""
        fresh = {
            partition: (state, state.version)
            for partition, state in self._subscription.assigned.items()
            if state.position is None and state.reset is None
        }
        if not fresh:
            return
        found = {} if self.committed is None else await self.committed.read(list(fresh), self._deadline_s())
        missing = []
        for partition, (state, version) in fresh.items():
            if state.version != version:
                continue
            committed = found.get(partition)
            if committed is not None:
                _log.debug("%s starts at the committed offset %d", partition, committed.offset)
                self._settle(state, Position(committed.offset, committed.leader_epoch))
            elif self.default_reset.kind is ResetKind.NONE:
                missing.append(partition)
            else:
                state.reset = self.default_reset
        if missing:
            raise NoOffsetForPartitionError(missing)

    async def _reset(self) -> OttlaError | None:
        pending = {
            partition: (state, state.version, state.reset)
            for partition, state in self._subscription.assigned.items()
            if state.reset is not None
        }
        if not pending:
            return None
        now_ms = time.time_ns() // 1_000_000
        timestamps = {partition: reset.timestamp(now_ms) for partition, (_, _, reset) in pending.items()}
        found, error = await self._lookup.try_offsets(timestamps, _ATTEMPT_MS)
        for partition, offset in found.items():
            state, version, reset = pending[partition]
            if state.version == version and state.reset is reset:
                self._apply_reset(state, offset, reset)
        return error

    def _apply_reset(self, state: PartitionState, found: OffsetFound, reset: OffsetReset) -> None:
        if found.offset < 0:
            # Nothing is as young as the duration asks for: what comes next will be.
            state.reset = LATEST
            return
        _log.info("%s starts at offset %d (%s)", state.partition, found.offset, reset)
        self._settle(state, Position(found.offset, found.leader_epoch))

    def _settle(self, state: PartitionState, position: Position) -> None:
        state.seek(position)
        self._check_leader(state)

    async def _validate(self) -> OttlaError | None:
        pending: dict[TopicPartition, tuple[PartitionState, int, int]] = {}
        epochs: dict[TopicPartition, int] = {}
        unknown: TopicPartition | None = None
        for partition, state in self._subscription.assigned.items():
            if not state.needs_validation or state.position is None:
                continue
            known = self._cluster.view.partition(*partition)
            if known is None:
                unknown = partition
                continue
            pending[partition] = (state, state.version, known.leader_epoch)
            epochs[partition] = -1 if state.position.epoch is None else state.position.epoch
        if not pending:
            if unknown is None:
                return None
            # Its topic is being deleted, or made anew: metadata that comes later decides.
            self._cluster.refresh_soon()
            return UnknownTopicOrPartitionError(f"no leader of {unknown} is known")
        found, error = await self._lookup.try_epoch_ends(epochs, _ATTEMPT_MS)
        truncated: dict[TopicPartition, int | None] = {}
        for partition, end in found.items():
            state, version, leader_epoch = pending[partition]
            if state.version == version:
                truncated |= self._apply_end(state, end, leader_epoch)
        if truncated:
            raise LogTruncationError(truncated)
        return error

    def _apply_end(self, state: PartitionState, end: EpochEnd, leader_epoch: int) -> dict[TopicPartition, int | None]:
        """Goes on, goes back to where the logs part, or says that the user has to decide."""
        assert state.position is not None
        offset, can_reset = state.position.offset, self.default_reset.kind is not ResetKind.NONE
        if end.epoch < 0 or end.end_offset < 0:
            if not can_reset:
                return {state.partition: None}
            state.request_reset(self.default_reset)
            return {}
        if end.end_offset >= offset:
            state.needs_validation = False
            state.validated_epoch = leader_epoch
            return {}
        _log.warning("%s was truncated: position %d, epoch %d ends at %d", state.partition, offset, *end)
        if not can_reset:
            # Still not validated: each poll says so again, until the user seeks.
            return {state.partition: end.end_offset}
        state.seek(Position(end.end_offset, end.epoch))
        state.validated_epoch = leader_epoch
        return {}

    def _deadline_s(self) -> float:
        return asyncio.get_running_loop().time() + _ATTEMPT_MS / 1000


def _is_unsettled(state: PartitionState) -> bool:
    return state.position is None or state.needs_validation
