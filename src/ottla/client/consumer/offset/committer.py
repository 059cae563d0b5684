"""Commits offsets on request, automatically, and before partitions go; runs the callbacks.

`offset_commit` makes the requests. Callbacks and interceptors run in the user's context, in the order of the commits.
An automatic commit covers the records that the user got before this poll: calling poll again means "done".
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from ottla.base.errors import OttlaError
from ottla.base.thread_owner import any_thread, one_thread
from ottla.client.cluster.backoff import Backoff
from ottla.client.cluster.retries import Retries
from ottla.client.config.settings import ClientSettings
from ottla.client.consumer.interceptor import Interceptors
from ottla.client.consumer.offset.offset_commit import OffsetCommits
from ottla.client.consumer.subscription_state import SubscriptionState
from ottla.client.consumer.user_call import UserCalls
from ottla.client.errors import CommitFailedError, InvalidStateError, RetriableCommitFailedError
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.protocol.errors import RebalanceInProgressError

_log = logging.getLogger(__name__)

Offsets: TypeAlias = Mapping[TopicPartition, OffsetAndMetadata]
Committed: TypeAlias = Callable[[Offsets, OttlaError | None], Any]
"""Hears the offsets, and why they were not committed, if so."""


@one_thread
class Committer:
    """The commits of one consumer."""

    def __init__(
        self, settings: ClientSettings, subscription: SubscriptionState, calls: UserCalls, interceptors: Interceptors
    ) -> None:
        self.commits: OffsetCommits | None = None
        """Set once connected, if the consumer has a group."""
        has_group = settings.optional_string("group.id") is not None
        self._has_group: Final = has_group
        self.is_automatic: Final = has_group and settings.boolean("enable.auto.commit")
        self.next_at_s = 0.0
        """The loop's time of the next automatic commit."""
        self._backoff: Final = Backoff.of_retries(settings)
        self._interval_s: Final = settings.integer("auto.commit.interval.ms") / 1000
        self._subscription: Final = subscription
        self._calls: Final = calls
        self._interceptors: Final = interceptors

    @any_thread
    def is_due(self, now_s: float) -> bool:
        """Whether an automatic commit should be made now; any thread."""
        return self.is_automatic and now_s >= self.next_at_s

    async def commit(self, offsets: Offsets | None, timeout_s: float) -> None:
        """Commits and waits; the positions of all partitions unless told otherwise."""
        chosen = self._subscription.positions() if offsets is None else dict(offsets)
        deadline_s = asyncio.get_running_loop().time() + timeout_s
        self._needed()
        await self._commit_until(chosen, deadline_s, self._calls.run)
        await self._calls.run()
        if self._interceptors:
            await self._calls.invoke(lambda: self._interceptors.on_commit(chosen))

    def commit_later(self, offsets: Offsets | None, callback: Committed | None, *, is_automatic: bool = False) -> None:
        """Commits without waiting; the callback is called inside of a later call of the consumer."""
        chosen = self._subscription.positions() if offsets is None else dict(offsets)
        done = self._needed().submit(chosen)

        def finished(future: "asyncio.Future[None]") -> None:
            if future.cancelled():
                return
            error = future.exception()
            assert error is None or isinstance(error, OttlaError)
            if callback is not None:
                self._calls.post(lambda: callback(chosen, error))
            elif error is not None:
                # What the next automatic commit may repeat is no trouble yet.
                is_passing = is_automatic and isinstance(error, RetriableCommitFailedError)
                level = logging.DEBUG if is_passing else logging.WARNING
                _log.log(level, "an asynchronous commit of %s failed: %s", _shown(chosen), error)
            if error is None and self._interceptors:
                self._calls.post(lambda: self._interceptors.on_commit(chosen))

        done.add_done_callback(finished)

    def commit_if_due(self) -> None:
        """An automatic commit, if it is time for one."""
        now_s = asyncio.get_running_loop().time()
        if not self.is_due(now_s) or self.commits is None:
            return
        if self.next_at_s == 0.0 or not self._subscription.assigned:
            self.next_at_s = now_s + self._interval_s
            return
        self.next_at_s = now_s + self._interval_s
        self.commit_automatically()

    def commit_automatically(self) -> None:
        """A commit of all positions without waiting, if commits are automatic."""
        if self.is_automatic and self.commits is not None and (offsets := self._subscription.positions()):
            self.commit_later(offsets, None, is_automatic=True)

    async def commit_before_leaving(self, partitions: frozenset[TopicPartition], timeout_s: float) -> None:
        """An automatic commit of partitions that are about to go; its trouble is only logged."""
        if not self.is_automatic or self.commits is None:
            return
        offsets = {key: value for key, value in self._subscription.positions().items() if key in partitions}
        if not offsets:
            return
        try:
            await self._commit_until(offsets, asyncio.get_running_loop().time() + timeout_s)
        except OttlaError as error:
            _log.warning("the offsets of %s were not committed: %s", _shown(offsets), error)

    async def _commit_until(
        self, offsets: Offsets, deadline_s: float, meanwhile: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Commits, through rebalances that are under way: these may need the user's context (`meanwhile`) to go on.

        What they take away in there can't be committed any more: its next owner may have read further already.
        """
        states = {key: state for key, state in self._subscription.assigned.items() if key in offsets}
        retries = Retries(self._backoff, deadline_s)
        while True:
            try:
                await self._needed().submit(offsets, deadline_s)
                return
            except RebalanceInProgressError:
                if not await retries.wait():
                    raise
            if meanwhile is not None:
                await meanwhile()
            gone = [key for key, state in states.items() if self._subscription.assigned.get(key) is not state]
            if gone:
                raise CommitFailedError(
                    f"the group has taken {', '.join(map(str, gone))} away before the offsets could be committed"
                )

    def _needed(self) -> OffsetCommits:
        if self.commits is None:
            raise InvalidStateError(
                "there is nothing to commit yet: poll() first"
                if self._has_group
                else "committing needs a group: set group.id"
            )
        return self.commits


def _shown(offsets: Offsets) -> str:
    return ", ".join(f"{partition} at {offset.offset}" for partition, offset in offsets.items())
