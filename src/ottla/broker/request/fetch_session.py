"""Fetch sessions (KIP-227): what a reader fetches is remembered, so that it names only what changed.

A session is made by a full fetch with epoch 0 and lives on the broker, not on a connection. Each incremental request
carries the session's next epoch; a request that was sent twice has an old one and changes nothing. The answer leaves
out partitions of which there is nothing new: no records, the same high watermark and log start, no error.

Only `slots` sessions are kept, with `PARTITIONS_MAX` partitions in all. When there is no room, the oldest goes if it
was idle for two minutes; else a newcomer displaces one that is worth less: a consumer's before a follower's, a small
one before a large one, and never one that is young, unless a follower wants the place of a consumer. A reader that gets
no session is answered with the id 0 and names everything each time; one that outgrows the room has to begin anew.
"""

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from ottla.base.dice import DICE
from ottla.base.ids import Uuid
from ottla.replication.request.fetch import FetchPartition, FetchResult

if TYPE_CHECKING:
    from ottla.base.clock import Clock
    from ottla.base.metric import MetricRegistry

EVICTION_MS: Final = 120_000
"""How long a session is safe from being displaced after it was made, and how long it may be idle."""
PARTITIONS_MAX: Final = 1_000_000
"""Partitions in all sessions together, some 400 bytes each. Kafka bounds the sessions alone: a thousand of them with a
hundred thousand partitions each, which anybody may ask for, would be tens of gigabytes."""

PartitionKey: TypeAlias = tuple[Uuid | str, int]
"""A partition as requests name it: by the topic's id, or by its name before v13."""
_Worth: TypeAlias = tuple[bool, int, int]
"""Whether a follower's, how many partitions, and the id to tell them apart: the least is displaced first."""


class SessionPartition:
    """A partition of a session: what is wanted of it, and what the reader was last told."""

    __slots__ = ("high_watermark", "key", "log_start_offset", "wanted")

    def __init__(self, key: PartitionKey, wanted: FetchPartition) -> None:
        self.key = key
        self.wanted = wanted
        """Its topic is the empty string while no topic has the id."""
        self.high_watermark = -1
        self.log_start_offset = -1

    def told(self, result: FetchResult) -> bool:
        """Whether the answer must have the partition; takes note of what it says."""
        is_news = (
            result.records is not None
            or self.high_watermark != result.high_watermark
            or self.log_start_offset != result.log_start_offset
            or result.error_code != 0
            or result.preferred_read_replica != -1
            or result.diverging_epoch is not None
        )
        # After an error the partition is told again once it is well, even if nothing moved meanwhile.
        self.high_watermark = -1 if result.error_code else result.high_watermark
        self.log_start_offset = result.log_start_offset
        return is_news


FetchedPartition: TypeAlias = tuple[SessionPartition, FetchResult]
"""A partition, and what came of reading it."""


class FetchSession:
    """One reader's partitions, in the order in which they are read."""

    __slots__ = (
        "by_id",
        "counted",
        "created_ms",
        "epoch",
        "id",
        "is_follower",
        "partitions",
        "read_with",
        "reading",
        "used_ms",
        "worth",
        "worth_to_followers",
    )

    def __init__(self, session_id: int, partitions: dict[PartitionKey, SessionPartition], now_ms: int) -> None:
        self.id = session_id
        self.epoch = 1
        """The epoch of the next request."""
        self.partitions = partitions
        self.counted = 0
        """How many partitions the cache has counted of it."""
        self.by_id = False
        """Whether topics are named by id."""
        self.is_follower = False
        self.created_ms = now_ms
        self.used_ms = now_ms
        self.reading: tuple[Sequence[SessionPartition], Sequence[FetchPartition]] | None = None
        """All partitions in their order, and what is wanted of them; None when it has to be looked up anew."""
        self.read_with: object = None
        """With whose rights that was found (`Rights.token`)."""
        self.worth: _Worth | None = None
        self.worth_to_followers: _Worth | None = None
        """Under what it stands in the cache's lists of what may be displaced."""

    def update(self, wanted: Iterable[SessionPartition], forgotten: Iterable[PartitionKey]) -> None:
        """Takes over what a request adds, changes and drops."""
        partitions = self.partitions
        self.reading = None
        for partition in wanted:
            known = partitions.get(partition.key)
            if known is None:
                partitions[partition.key] = partition
            elif partition.wanted.topic:
                known.wanted = partition.wanted
            else:
                # A deleted topic is missed by the name that it had: UNKNOWN_TOPIC_OR_PARTITION.
                known.wanted = partition.wanted._replace(topic=known.wanted.topic)
        for key in forgotten:
            partitions.pop(key, None)

    def select(self, outcomes: Iterable[FetchedPartition]) -> list[FetchedPartition]:
        """The outcomes that the reader is told. Partitions that had records go to the end: the next are read first."""
        partitions = self.partitions
        selected = [outcome for outcome in outcomes if outcome[0].told(outcome[1])]
        for partition, result in selected:
            # Another request of the session may have dropped it while this one waited.
            if result.records is not None and partition.key in partitions:
                self.reading = None
                partitions[partition.key] = partitions.pop(partition.key)
        return selected


class FetchSessionCache:
    """All fetch sessions of a broker, `max.incremental.fetch.session.cache.slots` at most."""

    def __init__(self, slots: int, clock: "Clock", metrics: "MetricRegistry") -> None:
        self._slots = slots
        self._clock = clock
        self._sessions: dict[int, FetchSession] = {}
        """By id; the one that was used longest ago comes first."""
        self._partition_count = 0
        self._evictable: list[_Worth] = []
        """The sessions that a larger newcomer may evict."""
        self._evictable_by_followers: list[_Worth] = []
        self._evictions = metrics.counter(
            "kafka_server_fetchsessioncache_incrementalfetchsessionevictions_total",
            "Fetch sessions that had to make room for others.",
        )
        name = "kafka_server_fetchsessioncache_numincrementalfetch"
        metrics.gauge(f"{name}sessions", "Fetch sessions.", lambda: len(self._sessions))
        metrics.gauge(f"{name}partitionscached", "Partitions in fetch sessions.", lambda: self._partition_count)

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, session_id: int) -> FetchSession | None:
        """The session of that id, if it is still there."""
        return self._sessions.get(session_id)

    def touch(self, session: FetchSession) -> bool:
        """A request uses the session, and may have changed its partitions; False if there is no room for them."""
        now_ms = self._clock.monotonic_ms()
        session.used_ms = now_ms
        del self._sessions[session.id]
        self._sessions[session.id] = session
        self._count(session)
        self._rank(session, now_ms)
        while self._partition_count > PARTITIONS_MAX and session.id in self._sessions:
            if not self._evict(now_ms, _worth_of(session)):
                self.remove(session.id)
        return session.id in self._sessions

    def remove(self, session_id: int) -> FetchSession | None:
        """Forgets a session, if it is there."""
        session = self._sessions.pop(session_id, None)
        if session is not None:
            self._partition_count -= session.counted
            _move(self._evictable, session.worth, None)
            _move(self._evictable_by_followers, session.worth_to_followers, None)
        return session

    def create(self, outcomes: Collection[FetchedPartition], *, by_id: bool, is_follower: bool) -> FetchSession | None:
        """A session for the partitions of a full fetch; None if there is no room for it."""
        now_ms = self._clock.monotonic_ms()
        if len(outcomes) > PARTITIONS_MAX:
            return None
        while len(self._sessions) >= self._slots or self._partition_count + len(outcomes) > PARTITIONS_MAX:
            if not self._evict(now_ms, (is_follower, len(outcomes), 0)):
                return None
        partitions = {}
        for partition, result in outcomes:
            partition.told(result)
            partitions[partition.key] = partition
        session = FetchSession(self._new_id(), partitions, now_ms)
        session.by_id, session.is_follower = by_id, is_follower
        self._sessions[session.id] = session
        self._count(session)
        self._rank(session, now_ms)
        return session

    def _count(self, session: FetchSession) -> None:
        self._partition_count += len(session.partitions) - session.counted
        session.counted = len(session.partitions)

    def _new_id(self) -> int:
        while True:
            session_id = DICE.randint(1, 2**31 - 1)
            if session_id not in self._sessions:
                return session_id

    def _rank(self, session: FetchSession, now_ms: int) -> None:
        """Notes by whom the session may be displaced from now on."""
        worth = _worth_of(session)
        is_old = now_ms - session.created_ms > EVICTION_MS
        to_all = worth if is_old else None
        to_followers = worth if is_old or not session.is_follower else None
        if to_all != session.worth:
            _move(self._evictable, session.worth, to_all)
            session.worth = to_all
        if to_followers != session.worth_to_followers:
            _move(self._evictable_by_followers, session.worth_to_followers, to_followers)
            session.worth_to_followers = to_followers

    def _evict(self, now_ms: int, newcomer: _Worth) -> bool:
        """Makes room for a new session, by evicting an old one if necessary."""
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None:
            return False
        if now_ms - oldest.used_ms > EVICTION_MS:
            self.remove(oldest.id)
        else:
            candidates = self._evictable_by_followers if newcomer[0] else self._evictable
            if not candidates or newcomer < candidates[0]:
                return False
            self.remove(candidates[0][2])
        self._evictions.add()
        return True


def _worth_of(session: FetchSession) -> _Worth:
    return (session.is_follower, len(session.partitions), session.id)


def _move(worths: list[_Worth], old: _Worth | None, new: _Worth | None) -> None:
    if old is not None:
        del worths[bisect_left(worths, old)]
    if new is not None:
        insort(worths, new)
