"""Fetch (key 1), versions 4–18: reads batches from several partitions, for consumers and for followers.

Waits up to `max_wait_ms` for `min_bytes`, not at all if a partition has an error. Topics are named by name, from v13 by
id (KIP-516). From v7 in sessions (KIP-227), see `broker.fetch_session`: a wrong epoch is INVALID_FETCH_SESSION_EPOCH
and leaves the session as it is, an unknown id FETCH_SESSION_ID_NOT_FOUND, names where the session has ids
FETCH_SESSION_TOPIC_ID_ERROR; more than one partition without an id is UNKNOWN_SERVER_ERROR. On an error of a partition
its offsets are -1 and its records empty, never null. From v16 a partition that moved comes with its new leader
(KIP-951). Records leave as slices of their files.

The metadata topic is not to be had here, as on Apache Kafka's brokers: only on the controllers' listeners.

Deviations: none known.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from ottla.base.ids import ZERO_UUID
from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.client_session import ClientSession
from ottla.broker.request.fetch_session import FetchedPartition, FetchSession, PartitionKey, SessionPartition
from ottla.broker.request.metadata.current_leader import CurrentLeaders
from ottla.broker.request.request_context import RequestContext, WorkInTurns
from ottla.broker.security.rights import may_cluster, may_topic
from ottla.protocol.acl import AclOperation
from ottla.protocol.definition import Response
from ottla.protocol.errors import ErrorCode, UnknownServerError
from ottla.protocol.fetch_session import FINAL_EPOCH, INITIAL_EPOCH, NO_SESSION, next_epoch
from ottla.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    SnapshotId,
)
from ottla.replication.request.fetch import READ_COMMITTED, READ_UNCOMMITTED, ClientMetadata, FetchParams, FetchResult
from ottla.replication.request.fetch import FetchPartition as WantedPartition

_TURN_PARTITIONS: Final = 1_000
"""After so many partitions others have a turn."""
_TOPIC_IDS_SINCE: Final = 13
_LEADERS_SINCE: Final = 16
_REPLICA_STATE_SINCE: Final = 15
_NEAR_REPLICAS_SINCE: Final = 11
_STORAGE_ERROR_SINCE: Final = 6

_UNKNOWN_TOPIC: Final = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
_UNKNOWN_TOPIC_ID: Final = int(ErrorCode.UNKNOWN_TOPIC_ID)
_FORBIDDEN: Final = int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
_NOT_READ: Final = {_UNKNOWN_TOPIC_ID: 1, _UNKNOWN_TOPIC: 2, _FORBIDDEN: 2}
"""Where answers about what does not exist, or may not be read, stand behind the others: ids are looked up first."""
_NOT_LEADER: Final = int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
_FENCED: Final = int(ErrorCode.FENCED_LEADER_EPOCH)
_STORAGE_ERROR: Final = int(ErrorCode.KAFKA_STORAGE_ERROR)
_UNKNOWN_SERVER_ERROR: Final = int(ErrorCode.UNKNOWN_SERVER_ERROR)

# The answer of nearly every partition, made once and never changed.
_NO_EPOCH: Final = EpochEndOffset()
_NO_LEADER: Final = LeaderIdAndEpoch()
_NO_SNAPSHOT: Final = SnapshotId()
_NO_SUCH_ID: Final = FetchResult(_UNKNOWN_TOPIC_ID)
_NOT_ALLOWED: Final = FetchResult(_FORBIDDEN)


def handle(parts: BrokerParts, context: RequestContext, request: FetchRequest) -> Response | None:
    """Reads what is there; answers by itself, at once or when there is enough."""
    version = context.route.version
    replica_id = request.replica_id if version < _REPLICA_STATE_SINCE else request.replica_state.replica_id
    if replica_id >= 0:
        context.exempt_from_quotas()
    work = _PendingFetch(parts, context, is_follower=replica_id >= 0)
    if len(request.topics) > _TURN_PARTITIONS or any(
        len(topic.partitions) > _TURN_PARTITIONS for topic in request.topics
    ):
        return context.in_turns(_in_turns(work, request, replica_id))
    for topic in request.topics:
        work.name(topic, topic.partitions)
    return _fetch(work, request, replica_id)


def _in_turns(work: "_PendingFetch", request: FetchRequest, replica_id: int) -> WorkInTurns:
    """Answers a request of very many partitions in steps, between which other requests have their turn."""
    for topic in request.topics:
        for start in range(0, len(topic.partitions), _TURN_PARTITIONS):
            work.name(topic, topic.partitions[start : start + _TURN_PARTITIONS])
            yield
    return _fetch(work, request, replica_id)


def _fetch(work: "_PendingFetch", request: FetchRequest, replica_id: int) -> FetchResponse | None:
    """Reads what is named, and what the session has."""
    parts, context = work.parts, work.context
    refused = work.open(request)
    if refused is not None:
        return FetchResponse(error_code=int(refused), session_id=NO_SESSION)
    wait_ms = context.fetch_throttle_ms
    if wait_ms:
        session_id = NO_SESSION if work.session is None else work.session.id
        return FetchResponse(throttle_time_ms=wait_ms, session_id=session_id)
    if not work.partitions:
        work.fetched(())
        return None
    if request.isolation_level not in (READ_UNCOMMITTED, READ_COMMITTED) and work.reads_anything:
        raise UnknownServerError(f"Unknown isolation level {request.isolation_level}")
    params = _params(parts, context, request, replica_id)
    abandon = parts.replicas.fetch(params, work.wanted, context.guarded(work.fetched))
    session = context.exchange.connection.session
    if isinstance(session, ClientSession):
        session.abandon_fetch = abandon
    return None


def _params(parts: BrokerParts, context: RequestContext, request: FetchRequest, replica_id: int) -> FetchParams:
    """The parameters of all partitions; the same object as the last time if nothing changed on this connection."""
    bytes_max = context.fetch_bytes_max(min(request.max_bytes, parts.config.integer("fetch.max.bytes")))
    session = context.exchange.connection.session
    if isinstance(session, ClientSession):
        same = session.fetch_params
        if (
            same is not None
            and same.max_wait_ms == request.max_wait_ms
            and same.min_bytes == min(request.min_bytes, bytes_max)
            and same.max_bytes == bytes_max
            and same.isolation_level == request.isolation_level
            and same.replica_id == replica_id
            and same.replica_epoch == request.replica_state.replica_epoch
            and (same.client is None) == (replica_id >= 0 or context.route.version < _NEAR_REPLICAS_SINCE)
            and (same.client is None or _is_same(same.client, context, request))
        ):
            return same
    params = FetchParams(
        max_wait_ms=request.max_wait_ms,
        min_bytes=min(request.min_bytes, bytes_max),
        max_bytes=bytes_max,
        replica_id=replica_id,
        replica_epoch=request.replica_state.replica_epoch,
        isolation_level=request.isolation_level,
        client=_client(context, request, replica_id),
    )
    if isinstance(session, ClientSession):
        session.fetch_params = params
    return params


def _is_same(client: ClientMetadata, context: RequestContext, request: FetchRequest) -> bool:
    return client.rack_id == request.rack_id and client.client_id == context.client_id


def _client(context: RequestContext, request: FetchRequest, replica_id: int) -> ClientMetadata | None:
    if replica_id >= 0 or context.version < _NEAR_REPLICAS_SINCE:
        return None
    return ClientMetadata(request.rack_id, context.client_id, context.client_host, context.listener)


class _PendingFetch:
    """A Fetch request between its frame and its answer."""

    __slots__ = (
        "_all",
        "_is_follower",
        "_named",
        "_request_epoch",
        "_rights",
        "context",
        "partitions",
        "parts",
        "session",
        "wanted",
    )

    def __init__(self, parts: BrokerParts, context: RequestContext, *, is_follower: bool) -> None:
        self.parts = parts
        self.context = context
        self._is_follower = is_follower
        self._named: dict[PartitionKey, SessionPartition] = {}
        self._request_epoch = FINAL_EPOCH
        self.session: FetchSession | None = None
        """The session of an incremental fetch."""
        self.partitions: Sequence[SessionPartition] = ()
        """What is read."""
        self.wanted: Sequence[WantedPartition] = ()
        """The partitions in the form that `ReplicaManager.fetch` takes."""
        self._all: Collection[SessionPartition] | None = None
        """What is read and, in between, what is not, because no topic has the id or the client may not: if there is
        any."""
        self._rights = context.rights

    def open(self, request: FetchRequest) -> ErrorCode | None:
        """Finds out what is to be read, with the session's help; says what is wrong with the session."""
        sessions = self.parts.fetch_sessions
        epoch = self._request_epoch = request.session_epoch
        by_id = self.context.route.version >= _TOPIC_IDS_SINCE
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            if request.session_id != NO_SESSION:
                sessions.remove(request.session_id)
            self._read(self._named.values())
            return None
        session = sessions.get(request.session_id)
        if session is None:
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        if session.epoch != epoch:
            return ErrorCode.INVALID_FETCH_SESSION_EPOCH
        if session.by_id != by_id:
            return ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
        if request.topics or request.forgotten_topics_data:
            session.update(self._named.values(), _forgotten(request, by_id=by_id))
        if not session.partitions:
            sessions.remove(session.id)
            self._request_epoch = FINAL_EPOCH
            return None
        if not sessions.touch(session):
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        session.epoch = next_epoch(epoch)
        self.session = session
        token = self._rights.token
        if session.reading is None or session.read_with != token:
            self._read(session.partitions.values())
            if self._all is None:
                session.reading, session.read_with = (self.partitions, self.wanted), token
        else:
            self.partitions, self.wanted = session.reading
        return None

    @property
    def reads_anything(self) -> bool:
        """Whether any of the partitions exists."""
        metadata = self.parts.metadata
        return any(metadata.partition(wanted.topic, wanted.partition) is not None for wanted in self.wanted)

    def name(self, topic: FetchTopic, partitions: Sequence[FetchPartition]) -> None:
        """The request names these partitions of a topic: of one that is named twice the last counts."""
        by_id = self.context.route.version >= _TOPIC_IDS_SINCE
        name = (self.parts.metadata.topic_name(topic.topic_id) or "") if by_id else topic.topic
        for asked in partitions:
            wanted = WantedPartition(
                name,
                asked.partition,
                asked.fetch_offset,
                asked.partition_max_bytes,
                asked.current_leader_epoch,
                asked.last_fetched_epoch,
                asked.log_start_offset,
                topic.topic_id,
            )
            key: PartitionKey = (topic.topic_id if by_id else name, asked.partition)
            self._named[key] = SessionPartition(key, wanted)

    def _read(self, partitions: Collection[SessionPartition]) -> None:
        """Parts what can be read from what has no name; that may have got one since it was first asked for."""
        by_id = self.context.route.version >= _TOPIC_IDS_SINCE
        readable: list[SessionPartition] = []
        limited = not self._rights.is_unlimited
        for partition in partitions:
            is_known = partition.wanted.topic or not by_id or self._found_name(partition)
            if not is_known or (limited and not self._may_read(partition.wanted.topic)):
                self._all = partitions
            else:
                readable.append(partition)
        if by_id and self._all is not None and _nameless(partitions) > 1:
            raise UnknownServerError("Partitions without a topic's id can't be told apart")
        self.partitions = readable
        self.wanted = [partition.wanted for partition in readable]

    def _may_read(self, topic: str) -> bool:
        if self._is_follower:
            return may_cluster(self._rights, AclOperation.CLUSTER_ACTION)
        return may_topic(self._rights, AclOperation.READ, topic)

    def _found_name(self, partition: SessionPartition) -> bool:
        name = self.parts.metadata.topic_name(partition.wanted.topic_id)
        if name is None:
            return False
        partition.wanted = partition.wanted._replace(topic=name)
        return True

    def fetched(self, results: Sequence[FetchResult]) -> None:
        """Answers: every partition has its outcome."""
        outcomes: Collection[FetchedPartition] = list(zip(self.partitions, results, strict=True))
        if self._all is not None:
            read = {partition.key: result for partition, result in outcomes}
            outcomes = [(partition, read.get(partition.key) or _not_read(partition)) for partition in self._all]
        session_id = NO_SESSION
        session = self.session
        if session is not None:
            session_id = session.id
            if session.epoch != next_epoch(self._request_epoch):
                # Another request has gone on with the session while this one waited.
                code = int(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
                self.context.answer(FetchResponse(error_code=code, session_id=session_id))
                return
            outcomes = self._not_read_last(session.select(outcomes))
        else:
            outcomes = self._not_read_last(outcomes)
        if session is None and self._request_epoch == INITIAL_EPOCH:
            by_id = self.context.version >= _TOPIC_IDS_SINCE
            created = self.parts.fetch_sessions.create(outcomes, by_id=by_id, is_follower=self._is_follower)
            session_id = NO_SESSION if created is None else created.id
        response = self.context.in_turns(self._response(session_id, outcomes))
        if response is not None:
            self.context.answer(response)

    def _not_read_last(self, outcomes: Collection[FetchedPartition]) -> Collection[FetchedPartition]:
        """Kafka tells last of what does not exist, as it was not among what it read; followers in one go."""
        if not any(result.error_code in _NOT_READ for _, result in outcomes):
            return outcomes
        if self._is_follower:
            return sorted(outcomes, key=lambda outcome: outcome[1].error_code in _NOT_READ)
        return sorted(outcomes, key=lambda outcome: _NOT_READ.get(outcome[1].error_code, 0))

    def _response(self, session_id: int, outcomes: Collection[FetchedPartition]) -> WorkInTurns:
        version = self.context.route.version
        topics: list[FetchableTopicResponse] = []
        leaders: CurrentLeaders | None = None
        last = None
        for number, (partition, result) in enumerate(outcomes, 1):
            wanted = partition.wanted
            data = _partition_data(wanted.partition, result)
            code = result.error_code
            if code:
                if code == _STORAGE_ERROR and version < _STORAGE_ERROR_SINCE:
                    # Clients that old don't know the code, and would not look for another leader.
                    data.error_code = _NOT_LEADER
                if version >= _LEADERS_SINCE and code in (_NOT_LEADER, _FENCED):
                    leaders = leaders or CurrentLeaders(self.parts, self.context)
                    data.current_leader = LeaderIdAndEpoch(**leaders.of(wanted.topic, wanted.partition)._asdict())
            topic = (wanted.topic, wanted.topic_id)
            if topic != last:
                topics.append(FetchableTopicResponse(topic=wanted.topic, topic_id=wanted.topic_id))
                last = topic
            topics[-1].partitions.append(data)
            if wanted.topic and code not in _NOT_READ:
                self._count(wanted.topic, result)
            if not number % _TURN_PARTITIONS:
                yield
        response = FetchResponse(session_id=session_id, responses=topics)
        # Followers know the brokers: they are only told who leads.
        if leaders is not None and not self._is_follower:
            response.node_endpoints = [NodeEndpoint(**endpoint._asdict()) for endpoint in leaders.endpoints]
        return response

    def _count(self, topic: str, result: FetchResult) -> None:
        counts = self.parts.topic_metrics.of(topic)
        counts.fetch_requests += 1
        if result.records is not None:
            if self._is_follower:
                counts.replication_bytes_out += len(result.records)
            else:
                counts.bytes_out += len(result.records)
        elif result.error_code == _UNKNOWN_SERVER_ERROR:
            counts.failed_fetch_requests += 1


def _not_read(partition: SessionPartition) -> FetchResult:
    return _NOT_ALLOWED if partition.wanted.topic else _NO_SUCH_ID


def _nameless(partitions: Collection[SessionPartition]) -> int:
    return sum(partition.wanted.topic_id == ZERO_UUID for partition in partitions)


def _partition_data(index: int, result: FetchResult) -> PartitionData:
    aborted = result.aborted_transactions
    if aborted is None and result.error_code in _NOT_READ:
        aborted = ()
    diverging = result.diverging_epoch
    return PartitionData(
        partition_index=index,
        error_code=result.error_code,
        high_watermark=result.high_watermark,
        last_stable_offset=result.last_stable_offset,
        log_start_offset=result.log_start_offset,
        diverging_epoch=_NO_EPOCH
        if diverging is None
        else EpochEndOffset(epoch=diverging.epoch, end_offset=diverging.start_offset),
        current_leader=_NO_LEADER,
        snapshot_id=_NO_SNAPSHOT,
        aborted_transactions=None
        if aborted is None
        else [AbortedTransaction(producer_id=one.producer_id, first_offset=one.first_offset) for one in aborted],
        preferred_read_replica=result.preferred_read_replica,
        records=b"" if result.records is None else result.records,
    )


def _forgotten(request: FetchRequest, *, by_id: bool) -> Iterator[PartitionKey]:
    for topic in request.forgotten_topics_data:
        for index in topic.partitions:
            yield (topic.topic_id if by_id else topic.topic, index)
