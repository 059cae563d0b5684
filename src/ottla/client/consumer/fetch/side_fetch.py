"""Fetches beside a request that waits at its broker: for partitions that this request does not ask for.

A broker answers a connection in order, and one that has no records keeps the request for `fetch.max.wait.ms`. Who seeks
or is assigned a partition meanwhile should not wait for that. So such partitions are asked for at once, on a connection
of their own, without a session and without waiting; the next request of the session covers them.

Waiting at the broker for a-0, then seek(b-0, 7): asked beside it for b-0 from 7, then from 9 if that brought two
records, then no more: nothing new is known until the session's own request asks for b-0, too. That one is not sent
while all it would ask for is on its way beside it: the same megabytes would come twice.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from ottla.base.errors import OttlaError
from ottla.base.thread_owner import one_thread
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.node_pool import Purpose
from ottla.client.consumer.fetch.fetch_answer import FetchAnswers, Sent
from ottla.client.consumer.fetch.fetch_option import FetchOptions
from ottla.client.consumer.fetch.fetch_session import LAST_VERSION_BY_NAME, SessionRequest, without_session
from ottla.client.record import TopicPartition
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.fetch import FetchResponse


@one_thread
class SideFetch:
    """The fetches beside the session with one node; `ended` hears that a request ended, or what went wrong."""

    def __init__(
        self,
        node_id: int,
        cluster: ClusterClient,
        answers: FetchAnswers,
        options: FetchOptions,
        ended: Callable[[BaseException | None], None],
    ) -> None:
        self._node_id: Final = node_id
        self._cluster: Final = cluster
        self._answers: Final = answers
        self._options: Final = options
        self._ended: Final = ended
        self._asked: dict[TopicPartition, Sent] = {}
        self._under_way: Mapping[TopicPartition, Sent] = {}
        self._task: asyncio.Task[None] | None = None

    def begin(self, wanted: Mapping[TopicPartition, Sent], waiting: Mapping[TopicPartition, Sent]) -> None:
        """Asks for partitions that are neither waited for nor asked for before; one request at a time."""
        if self._task is not None:
            return
        left = {key: sent for key, sent in wanted.items() if waiting.get(key) != sent and self._asked.get(key) != sent}
        if left:
            self._asked |= left
            self._under_way = left
            request = without_session({key: sent.target for key, sent in left.items()})
            self._task = asyncio.get_running_loop().create_task(self._fetch(request, left), name="side fetch")
            self._task.add_done_callback(self._done)

    def waiting_ended(self) -> None:
        """The session's request was answered: the next one covers all that is wanted."""
        self._asked = {}

    def brings(self, wanted: Mapping[TopicPartition, Sent]) -> bool:
        """Whether a request under way asks for all of that: its end, which does not wait for records, is told."""
        return self._task is not None and all(self._under_way.get(key) == sent for key, sent in wanted.items())

    async def close(self) -> None:
        """Ends what runs."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._task = None
        if not task.cancelled():
            self._ended(task.exception())

    async def _fetch(self, session: SessionRequest, sent: dict[TopicPartition, Sent]) -> None:
        loop = asyncio.get_running_loop()
        started_s = loop.time()
        try:
            response = await self._cluster.request(
                self._node_id,
                self._options.request(session, max_wait_ms=0),
                version=None if session.uses_topic_ids else LAST_VERSION_BY_NAME,
                purpose=Purpose.CATCH_UP,
            )
        except OttlaError:
            # The session's own request will meet with the same trouble, and deal with it.
            return
        assert isinstance(response, FetchResponse)
        self._answers.metrics.fetched(loop.time() - started_s, response.throttle_time_ms)
        if response.error_code == ErrorCode.NONE:
            self._answers.apply(sent, response)
