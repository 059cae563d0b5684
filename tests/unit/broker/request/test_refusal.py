"""The answer to a request that failed as a whole, in the form that each call's clients look for."""

import pytest

from ottla.base.ids import Uuid
from ottla.broker.request.api_table import BROKER_SERVED, CONTROLLER_SERVED
from ottla.broker.request.refusal import refuse
from ottla.protocol.api_key import ApiKey
from ottla.protocol.catalog import request_type
from ottla.protocol.definition import Request, Struct
from ottla.protocol.errors import (
    ClusterAuthorizationFailedError,
    ErrorCode,
    InvalidRequestError,
    NotControllerError,
    UnknownServerError,
    UnsupportedVersionError,
)
from ottla.protocol.messages import (
    alter_client_quotas,
    alter_partition_reassignments,
    alter_replica_log_dirs,
    alter_user_scram_credentials,
    create_delegation_token,
    create_topics,
    delete_topics,
    describe_client_quotas,
    elect_leaders,
    fetch,
    init_producer_id,
    list_offsets,
    metadata,
    produce,
)
from ottla.protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from ottla.protocol.struct_type import Kind

ID = Uuid(b"0123456789abcdef")
ERROR = NotControllerError("Ask another")
CODE = ErrorCode.NOT_CONTROLLER
ALL = sorted({*BROKER_SERVED.served, *CONTROLLER_SERVED.served})


def filled(struct: type[Struct], version: int) -> Struct:
    """A struct that has one element in every list."""
    made = struct()
    for name, field in struct.definition.items():
        if field.kind is Kind.ARRAY and field.versions.includes(version):
            if field.struct is not None:
                setattr(made, name, [filled(field.struct, version)])
            else:
                setattr(made, name, [{Kind.STRING: "x", Kind.UUID: ID}.get(field.element, 3)])  # type: ignore[arg-type]
    return made


def codes(struct: Struct) -> set[int]:
    """All error codes of a response."""
    found = set()
    for name in struct.definition:
        value = getattr(struct, name)
        if name in ("error_code", "partition_error_code"):
            found.add(int(value))
        for part in value if isinstance(value, list) else ():
            if isinstance(part, Struct):
                found |= codes(part)
    return found


@pytest.mark.parametrize("api", ALL, ids=lambda api: api.name)
def test_every_call_has_a_place_for_the_error_in_every_version(api: ApiKey) -> None:
    """Only DescribeLogDirs has none before v3: its clients of those days took an empty answer for it."""
    for version in range(request_type(api).valid_versions.lowest, request_type(api).valid_versions.highest + 1):
        request = filled(request_type(api), version)
        assert isinstance(request, Request)
        if isinstance(request, produce.ProduceRequest):
            request.acks = 1
        response = refuse(request, version, ERROR)
        assert response is not None
        decoded = type(response).decode(response.encode(version), version)
        silent = api is ApiKey.DESCRIBE_LOG_DIRS and version < 3
        assert codes(decoded) - {0} == (set() if silent else {CODE})


def test_produce_repeats_it_for_each_partition() -> None:
    data = [produce.PartitionProduceData(index=index, records=b"") for index in (4, 5)]
    topics = [produce.TopicProduceData(name="t", partition_data=data), produce.TopicProduceData(name="empty")]
    response = refuse(produce.ProduceRequest(acks=-1, topic_data=topics), 9, ERROR)
    answers = [
        produce.PartitionProduceResponse(index=index, error_code=CODE, base_offset=-1, error_message="Ask another")
        for index in (4, 5)
    ]
    assert response == produce.ProduceResponse(
        responses=[produce.TopicProduceResponse(name="t", partition_responses=answers)]
    )


def test_produce_without_acknowledgement_has_no_answer() -> None:
    assert refuse(produce.ProduceRequest(acks=0), 9, ERROR) is None


def test_fetch_repeats_it_until_topics_have_ids() -> None:
    topics = [fetch.FetchTopic(topic="t", partitions=[fetch.FetchPartition(partition=2)])]
    request = fetch.FetchRequest(session_id=7, topics=topics)
    partition = fetch.PartitionData(partition_index=2, error_code=CODE, high_watermark=-1, records=b"")
    repeated = [fetch.FetchableTopicResponse(topic="t", partitions=[partition])]
    assert refuse(request, 12, ERROR) == fetch.FetchResponse(error_code=CODE, session_id=7, responses=repeated)
    assert refuse(request, 13, ERROR) == fetch.FetchResponse(error_code=CODE, session_id=7)


def test_metadata_says_it_of_topics_and_of_all() -> None:
    topics = [metadata.MetadataRequestTopic(name=None, topic_id=ID)]
    response = refuse(metadata.MetadataRequest(topics=topics), 13, ERROR)
    topic = metadata.MetadataResponseTopic(name="", topic_id=ID, error_code=CODE)
    assert response == metadata.MetadataResponse(topics=[topic], error_code=CODE)
    assert refuse(metadata.MetadataRequest(topics=None), 12, ERROR) == metadata.MetadataResponse()


@pytest.mark.parametrize("version", [5, 6])
def test_delete_topics_takes_names_or_states(version: int) -> None:
    request = delete_topics.DeleteTopicsRequest(
        topics=[delete_topics.DeleteTopicState(name=None, topic_id=ID)], topic_names=["t"]
    )
    named = delete_topics.DeletableTopicResult(name="t", error_code=CODE)
    by_id = delete_topics.DeletableTopicResult(name=None, topic_id=ID, error_code=CODE)
    response = refuse(request, version, ERROR)
    assert response == delete_topics.DeleteTopicsResponse(responses=[named if version == 5 else by_id])


def test_directories_are_left_out_where_only_topics_are_answered() -> None:
    topic = alter_replica_log_dirs.AlterReplicaLogDirTopic(name="t", partitions=[1, 2])
    directory = alter_replica_log_dirs.AlterReplicaLogDir(path="/d", topics=[topic])
    response = refuse(alter_replica_log_dirs.AlterReplicaLogDirsRequest(dirs=[directory]), 2, ERROR)
    partitions = [
        alter_replica_log_dirs.AlterReplicaLogDirPartitionResult(partition_index=index, error_code=CODE)
        for index in (1, 2)
    ]
    result = alter_replica_log_dirs.AlterReplicaLogDirTopicResult(topic_name="t", partitions=partitions)
    assert response == alter_replica_log_dirs.AlterReplicaLogDirsResponse(results=[result])


def test_users_are_named_once_and_in_order() -> None:
    request = alter_user_scram_credentials.AlterUserScramCredentialsRequest(
        deletions=[alter_user_scram_credentials.ScramCredentialDeletion(name=name) for name in "ba"],
        upsertions=[alter_user_scram_credentials.ScramCredentialUpsertion(name=name) for name in "ca"],
    )
    response = refuse(request, 0, ERROR)
    assert isinstance(response, alter_user_scram_credentials.AlterUserScramCredentialsResponse)
    assert [(result.user, result.error_code, result.error_message) for result in response.results] == [
        (user, CODE, "Ask another") for user in "abc"
    ]


def test_lists_of_plain_numbers_become_partitions() -> None:
    topics = [elect_leaders.TopicPartitions(topic="t", partitions=[6])]
    request = elect_leaders.ElectLeadersRequest(topic_partitions=topics)
    partition = elect_leaders.PartitionResult(partition_id=6, error_code=CODE, error_message="Ask another")
    result = elect_leaders.ReplicaElectionResult(topic="t", partition_result=[partition])
    assert refuse(request, 0, ERROR) == elect_leaders.ElectLeadersResponse(replica_election_results=[result])
    later = elect_leaders.ElectLeadersResponse(error_code=CODE, replica_election_results=[result])
    assert refuse(request, 2, ERROR) == later
    everything = elect_leaders.ElectLeadersRequest(topic_partitions=None)
    assert refuse(everything, 2, ERROR) == elect_leaders.ElectLeadersResponse(error_code=CODE)


def test_entities_come_back_with_their_entries() -> None:
    entity = alter_client_quotas.EntityData(entity_type="user", entity_name="u")
    request = alter_client_quotas.AlterClientQuotasRequest(
        entries=[alter_client_quotas.RequestEntryData(entity=[entity])]
    )
    told = ERROR.default_message
    entry = alter_client_quotas.ResponseEntryData(error_code=CODE, error_message=told, entity=[entity])
    assert refuse(request, 1, ERROR) == alter_client_quotas.AlterClientQuotasResponse(entries=[entry])


def test_answers_that_say_nothing_else_say_none_and_not_zero() -> None:
    initial = refuse(init_producer_id.InitProducerIdRequest(transactional_id=None), 4, ERROR)
    assert initial == init_producer_id.InitProducerIdResponse(error_code=CODE, producer_id=-1, producer_epoch=-1)
    quotas = refuse(describe_client_quotas.DescribeClientQuotasRequest(), 1, ERROR)
    told = describe_client_quotas.DescribeClientQuotasResponse(
        error_code=CODE, error_message="Ask another", entries=None
    )
    assert quotas == told
    token = refuse(create_delegation_token.CreateDelegationTokenRequest(), 3, ERROR)
    assert isinstance(token, create_delegation_token.CreateDelegationTokenResponse)
    assert (token.principal_name, token.token_requester_principal_name, token.expiry_timestamp_ms) == (
        "ANONYMOUS",
        "ANONYMOUS",
        -1,
    )
    offsets = refuse(
        list_offsets.ListOffsetsRequest(
            topics=[list_offsets.ListOffsetsTopic(name="t", partitions=[list_offsets.ListOffsetsPartition()])]
        ),
        11,
        ERROR,
    )
    assert isinstance(offsets, list_offsets.ListOffsetsResponse)
    assert offsets.topics[0].partitions[0].offset == -1


def test_api_versions_tells_which_versions_it_has() -> None:
    own = ApiVersion(api_key=18, min_version=0, max_version=4)
    refused = refuse(ApiVersionsRequest(), 0, UnsupportedVersionError())
    assert refused == ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[own])
    assert refuse(ApiVersionsRequest(), 0, InvalidRequestError()) == ApiVersionsResponse(error_code=42)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InvalidRequestError("Name it"), "Name it"),
        (ClusterAuthorizationFailedError(), None),
        (UnknownServerError("/var/secret is missing"), None),
    ],
    ids=["own words", "the code's words", "nobody's business"],
)
def test_messages_are_given_if_they_say_more_than_the_code(error: Exception, message: str | None) -> None:
    request = create_topics.CreateTopicsRequest(topics=[create_topics.CreatableTopic(name="t")])
    response = refuse(request, 7, error)  # type: ignore[arg-type]
    assert isinstance(response, create_topics.CreateTopicsResponse)
    assert response.topics[0].error_message == message


def test_some_calls_spell_the_code_out() -> None:
    entries = [alter_client_quotas.RequestEntryData()]
    request = alter_client_quotas.AlterClientQuotasRequest(entries=entries)
    response = refuse(request, 1, UnknownServerError("/var/secret is missing"))
    assert isinstance(response, alter_client_quotas.AlterClientQuotasResponse)
    assert response.entries[0].error_message == UnknownServerError.default_message


def test_nested_partitions_keep_their_order() -> None:
    partitions = [alter_partition_reassignments.ReassignablePartition(partition_index=index) for index in (3, 1)]
    topics = [alter_partition_reassignments.ReassignableTopic(name="t", partitions=partitions)]
    request = alter_partition_reassignments.AlterPartitionReassignmentsRequest(topics=topics)
    response = refuse(request, 1, ERROR)
    assert isinstance(response, alter_partition_reassignments.AlterPartitionReassignmentsResponse)
    assert (response.error_code, response.error_message) == (CODE, "Ask another")
    assert [answer.partition_index for answer in response.responses[0].partitions] == [3, 1]
