"""Commits offsets at the group's coordinator (OffsetCommit, all versions), one commit after the other.

Commits go out in the order in which they were asked for, each when the one before has been answered, so an older offset
can never overwrite a newer one, and callbacks come in the same order. Commits that are waited for are repeated until
their deadline; others fail at the first refusal, as a later commit will say more.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from ottla.base.errors import OttlaError
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.retries import Retries, is_retriable
from ottla.client.consumer.membership import GroupMetadata
from ottla.client.consumer.offset.commit_metric import CommitMetrics
from ottla.client.consumer.offset.group_coordinator import GroupCoordinator
from ottla.client.errors import CommitFailedError, RetriableCommitFailedError
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ApiError, ErrorCode, error_for
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)

_log = logging.getLogger(__name__)

_LAST_VERSION_BY_NAME: Final = 9
_VERSION_MAX: Final = OffsetCommitRequest.valid_versions.highest
_STATIC_FROM: Final = 7
_NOT_WHO_WE_WERE: Final = frozenset(
    {
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.FENCED_MEMBER_EPOCH,
        ErrorCode.STALE_MEMBER_EPOCH,
    }
)
"""The group went on: with us, since the commit left, or without us."""

Offsets = Mapping[TopicPartition, OffsetAndMetadata]


class Member(Protocol):
    """The group member that commits."""

    def metadata(self) -> GroupMetadata:
        """The member's group, generation and ids."""

    @property
    def may_commit(self) -> bool:
        """Whether it is a member where only members may commit."""

    def rejoin_needed(self, error: ApiError) -> None:
        """The coordinator does not know us as we are."""

    async def refresh_epoch(self) -> bool:
        """Asks the coordinator by a heartbeat: whether we are a member, so that a commit may be repeated."""


@dataclass(slots=True)
class _Commit:
    offsets: Offsets
    deadline_s: float | None
    done: asyncio.Future[None]


class OffsetCommits:
    """The commits of one consumer."""

    def __init__(
        self, cluster: ClusterClient, coordinator: GroupCoordinator, member: Member, metrics: CommitMetrics
    ) -> None:
        self._cluster: Final = cluster
        self._coordinator: Final = coordinator
        self._member: Final = member
        self._request_timeout_ms: Final = cluster.request_timeout_ms
        self._metrics: Final = metrics
        self._waiting: Final[deque[_Commit]] = deque()
        self._worker: asyncio.Task[None] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether every commit has ended."""
        return self._worker is None

    def submit(self, offsets: Offsets, deadline_s: float | None = None) -> "asyncio.Future[None]":
        """Queues a commit; one with a deadline is repeated until then. The future says how it ended."""
        loop = asyncio.get_running_loop()
        commit = _Commit(dict(offsets), deadline_s, loop.create_future())
        self._waiting.append(commit)
        if self._worker is None:
            self._worker = loop.create_task(self._work(), name="offset commits")
        return commit.done

    async def drain(self, timeout_s: float) -> None:
        """Waits until all commits have ended, or that long."""
        if self._worker is not None:
            await asyncio.wait({self._worker}, timeout=timeout_s)

    async def close(self) -> None:
        """Gives up what has not ended."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait({self._worker})

    async def _work(self) -> None:
        try:
            while self._waiting:
                commit = self._waiting.popleft()
                if not commit.done.cancelled():
                    await self._finish(commit)
        finally:
            self._worker = None
            for commit in self._waiting:
                commit.done.cancel()

    async def _finish(self, commit: _Commit) -> None:
        try:
            await self._commit(commit)
        except OttlaError as error:
            if not commit.done.done():
                commit.done.set_exception(error)
        except BaseException:
            # Cancelled, or something unforeseen: nobody is to wait for it for ever.
            commit.done.cancel()
            raise
        else:
            if not commit.done.done():
                commit.done.set_result(None)

    async def _commit(self, commit: _Commit) -> None:
        deadline_s = commit.deadline_s
        if deadline_s is None:
            try:
                await self._try(commit.offsets, self._request_timeout_ms)
            except OttlaError as error:
                if is_retriable(error):
                    raise RetriableCommitFailedError(f"an asynchronous commit failed: {error}") from error
                raise
            return
        retries = Retries(self._cluster.backoff, deadline_s, "committing offsets")
        while True:
            try:
                await self._try(commit.offsets, min(retries.left_ms, self._request_timeout_ms))
                return
            except OttlaError as error:
                await retries.pause(error)

    async def _try(self, offsets: Offsets, timeout_ms: int) -> None:
        """One attempt; raises the first refusal, those that can't be repeated before the others."""
        if not offsets:
            return
        if not self._member.may_commit:
            # A user without rights to the group is told so first. Sent without a member, the commit would be accepted
            # by an empty group, whatever another consumer has read in the meantime.
            await self._coordinator.find(timeout_ms=timeout_ms)
            raise _outside("this consumer is not a member of the group now")
        ids = self._coordinator.ids_of({partition.topic for partition in offsets})
        started_s = asyncio.get_running_loop().time()
        response, _ = await self._coordinator.ask(
            ApiKey.OFFSET_COMMIT,
            lambda version: self._request(offsets, version, ids or {}),
            OffsetCommitResponse,
            timeout_ms=timeout_ms,
            version_max=_LAST_VERSION_BY_NAME if ids is None else _VERSION_MAX,
        )
        self._metrics.committed(asyncio.get_running_loop().time() - started_s)
        codes = {each.error_code for topic in response.topics for each in topic.partitions} - {int(ErrorCode.NONE)}
        if codes:
            errors = sorted(map(error_for, codes), key=lambda error: error.retriable)
            await self._refused(errors[0])

    async def _refused(self, error: ApiError) -> None:
        self._coordinator.judge(error)
        if error.code in _NOT_WHO_WE_WERE:
            if await self._member.refresh_epoch():
                raise RetriableCommitFailedError(f"the group has rebalanced meanwhile: {error.message}") from error
            raise _outside(error.message) from error
        if error.code in (ErrorCode.FENCED_INSTANCE_ID, ErrorCode.REBALANCE_IN_PROGRESS):
            self._member.rejoin_needed(error)
        raise error

    def _request(self, offsets: Offsets, version: int, ids: Mapping[str, Uuid]) -> OffsetCommitRequest:
        identity = self._member.metadata()
        topics: dict[str, OffsetCommitRequestTopic] = {}
        for (name, index), committed in offsets.items():
            if name not in topics:
                topic_id = ids[name] if version > _LAST_VERSION_BY_NAME else ZERO_UUID
                topics[name] = OffsetCommitRequestTopic(name=name, topic_id=topic_id, partitions=[])
            topics[name].partitions.append(
                OffsetCommitRequestPartition(
                    partition_index=index,
                    committed_offset=committed.offset,
                    committed_leader_epoch=-1 if committed.leader_epoch is None else committed.leader_epoch,
                    committed_metadata=committed.metadata,
                )
            )
        return OffsetCommitRequest(
            group_id=identity.group_id,
            generation_id_or_member_epoch=identity.generation_id,
            member_id=identity.member_id,
            group_instance_id=identity.group_instance_id if version >= _STATIC_FROM else None,
            topics=list(topics.values()),
        )


def _outside(why: str) -> CommitFailedError:
    return CommitFailedError(
        f"the group has rebalanced without this consumer, its partitions may belong to others now ({why}): "
        "poll() more often, or raise max.poll.interval.ms or lower max.poll.records"
    )
