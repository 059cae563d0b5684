"""The answer that carries one error for a whole request, for every call that is served.

Most calls have an error code at the top. Others repeat the error for each topic, partition or resource that was asked
for, because their clients look nowhere else; the table says what is taken over from the request then. Error messages
follow Kafka's rule: none if it would only repeat what the code says, and none with UNKNOWN_SERVER_ERROR, whose cause
is nobody else's business. Some calls are told what the code says and no more, DeleteTopics nothing at all.
"""

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, Final, NamedTuple

from ottla.broker.request.request_context import ANONYMOUS, WorkInTurns
from ottla.protocol.api_key import ApiKey
from ottla.protocol.catalog import response_type
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.errors import ApiError, ErrorCode
from ottla.protocol.messages.produce import ProduceRequest

ITSELF: Final = ""
"""Stands for an element that is a plain value, as the partitions of some requests are."""


class Echo(NamedTuple):
    """A list of the request that comes back in the response with the error in each element."""

    asked: str
    """The request's field."""
    answered: str
    """The response's field."""
    taken: Mapping[str, str]
    """The copied fields: field of the request's element to field of the response's."""
    within: "Echo | None" = None
    """The list inside of each element."""
    fixed: Mapping[str, object] = {}
    """Further fields of an element; their defaults mean success."""


_NAME: Final = {"name": "name"}
_RESOURCE: Final = {"resource_type": "resource_type", "resource_name": "resource_name"}
_PARTITIONS: Final = Echo("partitions", "partitions", {"partition_index": "partition_index"})
_FETCHED: Final = Echo(
    "partitions",
    "partitions",
    {"partition": "partition_index"},
    # Records are empty and never null: some clients cannot read null there.
    fixed={"high_watermark": -1, "records": b""},
)
_PRODUCED: Final = Echo("partition_data", "partition_responses", {"index": "index"}, fixed={"base_offset": -1})

_ECHOES: Final = {
    ApiKey.PRODUCE: Echo("topic_data", "responses", {"name": "name", "topic_id": "topic_id"}, _PRODUCED),
    ApiKey.FETCH: Echo("topics", "responses", {"topic": "topic", "topic_id": "topic_id"}, _FETCHED),
    ApiKey.LIST_OFFSETS: Echo("topics", "topics", _NAME, _PARTITIONS),
    ApiKey.METADATA: Echo("topics", "topics", {"name": "name", "topic_id": "topic_id"}),
    ApiKey.CREATE_TOPICS: Echo("topics", "topics", _NAME),
    ApiKey.DELETE_RECORDS: Echo("topics", "topics", _NAME, _PARTITIONS._replace(fixed={"low_watermark": -1})),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: Echo(
        "topics", "topics", {"topic": "topic"}, Echo("partitions", "partitions", {"partition": "partition"})
    ),
    ApiKey.CREATE_ACLS: Echo("creations", "results", {}),
    ApiKey.DELETE_ACLS: Echo("filters", "filter_results", {}),
    ApiKey.DESCRIBE_CONFIGS: Echo("resources", "results", _RESOURCE),
    ApiKey.ALTER_CONFIGS: Echo("resources", "responses", _RESOURCE),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: Echo("resources", "responses", _RESOURCE),
    ApiKey.CREATE_PARTITIONS: Echo("topics", "results", _NAME),
    ApiKey.ELECT_LEADERS: Echo(
        "topic_partitions",
        "replica_election_results",
        {"topic": "topic"},
        Echo("partitions", "partition_result", {ITSELF: "partition_id"}),
    ),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: Echo("topics", "responses", _NAME, _PARTITIONS),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: Echo(
        "topics", "topics", _NAME, Echo("partition_indexes", "partitions", {ITSELF: "partition_index"})
    ),
    ApiKey.ALTER_CLIENT_QUOTAS: Echo("entries", "entries", {"entity": "entity"}),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: Echo("users", "results", {}),
    ApiKey.DESCRIBE_PRODUCERS: Echo(
        "topics", "topics", _NAME, Echo("partition_indexes", "partitions", {ITSELF: "partition_index"})
    ),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: Echo("topics", "topics", _NAME),
    ApiKey.OFFSET_COMMIT: Echo("topics", "topics", {"name": "name", "topic_id": "topic_id"}, _PARTITIONS),
    ApiKey.TXN_OFFSET_COMMIT: Echo("topics", "topics", _NAME, _PARTITIONS),
    ApiKey.DESCRIBE_GROUPS: Echo("groups", "groups", {ITSELF: "group_id"}),
    ApiKey.CONSUMER_GROUP_DESCRIBE: Echo("group_ids", "groups", {ITSELF: "group_id"}),
    ApiKey.DELETE_GROUPS: Echo("groups_names", "results", {ITSELF: "group_id"}),
    ApiKey.DESCRIBE_TRANSACTIONS: Echo("transactional_ids", "transaction_states", {ITSELF: "transactional_id"}),
}

_TOLD_THE_CODE: Final = frozenset(
    {
        ApiKey.FIND_COORDINATOR,
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.ALTER_CLIENT_QUOTAS,
        ApiKey.DESCRIBE_QUORUM,
        ApiKey.CONTROLLER_REGISTRATION,
        ApiKey.ADD_RAFT_VOTER,
        ApiKey.REMOVE_RAFT_VOTER,
    }
)
"""Calls whose answers spell out what the code says, whatever the reason was."""


class Refusal:
    """One error, in one version of a response."""

    __slots__ = ("code", "message", "version")

    def __init__(self, api: ApiKey, version: int, error: ApiError) -> None:
        self.code = int(error.code)
        self.version = version
        self.message: str | None = error.message
        if api in _TOLD_THE_CODE:
            self.message = error.default_message
        elif self.message == error.default_message or error.code is ErrorCode.UNKNOWN_SERVER_ERROR:
            self.message = None

    def mark(self, struct: Struct) -> None:
        """Puts the error into a struct that has a place for it in this version."""
        for name, value in (("error_code", self.code), ("error_message", self.message)):
            field = struct.definition.get(name)
            if field is not None and field.versions.includes(self.version):
                setattr(struct, name, value)

    def repeat(self, echo: Echo, source: Any, target: Struct) -> Generator[None, None, None]:
        """Fills the target's list with an element for each that the source asks for, one at each step."""
        made = target.definition[echo.answered].struct
        assert made is not None
        answers: list[Struct] = getattr(target, echo.answered)
        for element in getattr(source, echo.asked) or ():
            answer = made()
            for name, value in echo.fixed.items():
                setattr(answer, name, value)
            for of, to in echo.taken.items():
                setattr(answer, to, element if of is ITSELF else getattr(element, of))
            self.mark(answer)
            if echo.within is not None:
                yield from self.repeat(echo.within, element, answer)
            answers.append(answer)
            yield


def wants_answer(request: Request) -> bool:
    """Whether the client expects an answer; if not, the connection is to be closed: Produce with acks=0."""
    return not (isinstance(request, ProduceRequest) and request.acks == 0)


def refuse(request: Request, version: int, error: ApiError) -> Response | None:
    """The response to a request that failed as a whole; None if the client expects none."""
    if not wants_answer(request):
        return None
    steps = refusing(request, version, error)
    try:
        while True:
            next(steps)
    except StopIteration as finished:
        response: Response | None = finished.value
        return response


def refusing(request: Request, version: int, error: ApiError) -> WorkInTurns:
    """Makes the response of `refuse` in small steps, as a request may have very many elements."""
    api = request.api
    refusal = Refusal(api, version, error)
    response: Response = response_type(api)()
    refusal.mark(response)
    fill = _SPECIAL.get(api)
    if fill is not None:
        yield from fill(refusal, request, response)
    elif api in _ECHOES:
        yield from refusal.repeat(_ECHOES[api], request, response)
    return response


# The rest of the calls: what a table cannot say. Each fills the response in, in steps if it is long.

_AT_ONCE: Final = ()


def _produce(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    yield from refusal.repeat(_ECHOES[ApiKey.PRODUCE], request, response)
    # Every partition once, and under its topic, however the request lists them.
    topics: dict[Any, dict[int, Any]] = {}
    for topic in response.responses:
        found = topics.setdefault((topic.name, topic.topic_id), {})
        found.update((partition.index, partition) for partition in topic.partition_responses)
    made = response.definition["responses"].struct
    response.responses = [
        made(name=name, topic_id=topic_id, partition_responses=list(found.values()))
        for (name, topic_id), found in topics.items()
        if found
    ]


def _fetch(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    response.session_id = request.session_id
    # Since topics have ids here the error at the top is enough for every client.
    if refusal.version < 13:
        yield from refusal.repeat(_ECHOES[ApiKey.FETCH], request, response)


def _metadata(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    yield from refusal.repeat(_ECHOES[ApiKey.METADATA], request, response)
    for topic in response.topics:
        topic.name = topic.name or ""


def _delete_topics(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    by_name = Echo("topic_names", "responses", {ITSELF: "name"})
    by_state = Echo("topics", "responses", {"name": "name", "topic_id": "topic_id"})
    refusal.message = None
    yield from refusal.repeat(by_name if refusal.version < 6 else by_state, request, response)


def _alter_replica_log_dirs(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    partitions = Echo("partitions", "partitions", {ITSELF: "partition_index"})
    for directory in request.dirs:
        yield from refusal.repeat(Echo("topics", "results", {"name": "topic_name"}, partitions), directory, response)


def _alter_scram(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    made = response.definition["results"].struct
    for name in sorted({credential.name for credential in (*request.deletions, *request.upsertions)}):
        result = made(user=name)
        refusal.mark(result)
        response.results.append(result)
        yield


def _create_token(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    kind, _, name = ANONYMOUS.partition(":")
    response.principal_type, response.principal_name = kind, name
    if refusal.version >= 3:
        response.token_requester_principal_type, response.token_requester_principal_name = kind, name
    response.issue_timestamp_ms = response.expiry_timestamp_ms = response.max_timestamp_ms = -1
    return _AT_ONCE


def _init_producer_id(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    response.producer_epoch = -1
    return _AT_ONCE


def _find_coordinator(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    nowhere = {"node_id": -1, "port": -1}
    if refusal.version < 4:
        response.node_id = response.port = -1
    yield from refusal.repeat(
        Echo("coordinator_keys", "coordinators", {ITSELF: "key"}, fixed=nowhere), request, response
    )


def _offset_fetch(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    if refusal.version >= 8:
        yield from refusal.repeat(Echo("groups", "groups", {"group_id": "group_id"}), request, response)
    elif refusal.version < 2:
        partitions = Echo(
            "partition_indexes",
            "partitions",
            {ITSELF: "partition_index"},
            fixed={"committed_offset": -1, "metadata": ""},
        )
        yield from refusal.repeat(Echo("topics", "topics", _NAME, partitions), request, response)


def _join_group(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    response.generation_id = -1
    response.protocol_name = None if refusal.version >= 7 else ""
    return _AT_ONCE


def _add_partitions_to_txn(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    partitions = Echo("partitions", "results_by_partition", {ITSELF: "partition_index"})
    if refusal.version < 4:
        topics = Echo("v3_and_below_topics", "results_by_topic_v3_and_below", _NAME, partitions)
        yield from refusal.repeat(topics, request, response)
        for topic in response.results_by_topic_v3_and_below:
            _mark_partitions(refusal, topic.results_by_partition)


def _mark_partitions(refusal: Refusal, partitions: Any) -> None:
    """This call has another name for the code."""
    for partition in partitions:
        partition.partition_error_code = refusal.code


def _write_txn_markers(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    partitions = Echo("partition_indexes", "partitions", {ITSELF: "partition_index"})
    topics = Echo("topics", "topics", _NAME, partitions)
    yield from refusal.repeat(Echo("markers", "markers", {"producer_id": "producer_id"}, topics), request, response)


def _describe_quotas(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    response.entries = None
    return _AT_ONCE


def _api_versions(refusal: Refusal, request: Any, response: Any) -> Iterable[None]:
    if refusal.code == ErrorCode.UNSUPPORTED_VERSION:
        versions = request.valid_versions
        made = response.definition["api_keys"].struct
        own = made(api_key=int(ApiKey.API_VERSIONS), min_version=versions.lowest, max_version=versions.highest)
        response.api_keys.append(own)
    return _AT_ONCE


_SPECIAL: Final[Mapping[ApiKey, Callable[[Refusal, Any, Any], Iterable[None]]]] = {
    ApiKey.PRODUCE: _produce,
    ApiKey.FETCH: _fetch,
    ApiKey.METADATA: _metadata,
    ApiKey.DELETE_TOPICS: _delete_topics,
    ApiKey.ALTER_REPLICA_LOG_DIRS: _alter_replica_log_dirs,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _alter_scram,
    ApiKey.CREATE_DELEGATION_TOKEN: _create_token,
    ApiKey.INIT_PRODUCER_ID: _init_producer_id,
    ApiKey.FIND_COORDINATOR: _find_coordinator,
    ApiKey.OFFSET_FETCH: _offset_fetch,
    ApiKey.JOIN_GROUP: _join_group,
    ApiKey.ADD_PARTITIONS_TO_TXN: _add_partitions_to_txn,
    ApiKey.WRITE_TXN_MARKERS: _write_txn_markers,
    ApiKey.DESCRIBE_CLIENT_QUOTAS: _describe_quotas,
    ApiKey.API_VERSIONS: _api_versions,
}
