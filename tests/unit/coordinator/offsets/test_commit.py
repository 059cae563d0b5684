"""OffsetCommit and TxnOffsetCommit: who may commit, what is stored, and what is answered."""

import pytest

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.coordinator.group.offsets.commit import CommitContext, commit, commit_transactional
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.coordinator.runtime.metadata_view import ImageView
from ottla.metadata.image.metadata_image import EMPTY_IMAGE
from ottla.protocol.errors import (
    ApiError,
    ErrorCode,
    GroupIdNotFoundError,
    IllegalGenerationError,
    RebalanceInProgressError,
    StaleMemberEpochError,
)
from tests.unit.coordinator.offsets.fake import RULES, FakeRules, commit_request, replayed, txn_request

CONTEXT = CommitContext(api_version=9, now_ms=1_000)
NO_TOPICS = ImageView(lambda: EMPTY_IMAGE)


def codes(outcome: CoordinatorResult) -> list[int]:
    return [partition.error_code for topic in outcome.response.topics for partition in topic.partitions]


def stale(_topic: str, _id: Uuid, partition: int) -> None:
    if partition == 1:
        raise StaleMemberEpochError


def test_a_commit_is_stored_and_answered() -> None:
    request = commit_request("g", [("orders", 0, 5), ("orders", 1, 7)], metadata="mine")
    request.topics[0].partitions[0].committed_leader_epoch = 3
    outcome = commit(RULES, request, CONTEXT)
    assert codes(outcome) == [0, 0]
    state = replayed(outcome.records, offset=40)
    assert state.offset("g", "orders", 0) == (5, 3, "mine", 1_000, -1, ZERO_UUID, 40)
    assert state.offset("g", "orders", 1) == (7, -1, "mine", 1_000, -1, ZERO_UUID, 41)
    assert state.committed_count == 2
    assert {record.version for record in outcome.records} == {4}


def test_null_metadata_reads_back_as_nothing() -> None:
    state = replayed(commit(RULES, commit_request("g", [("t", 0, 1)], metadata=None), CONTEXT).records)
    found = state.offset("g", "t", 0)
    assert found is not None
    assert found.metadata == ""


def test_the_topic_id_is_stored() -> None:
    topic_id = Uuid.parse("AAAAAAAAAAAAAAAAAAAAAg")
    request = commit_request("g", [("t", 0, 1)])
    request.topics[0].topic_id = topic_id
    outcome = commit(RULES, request, CONTEXT)
    found = replayed(outcome.records).offset("g", "t", 0)
    assert found is not None
    assert found.topic_id == outcome.response.topics[0].topic_id == topic_id


def test_a_retention_time_becomes_the_end_of_the_offset() -> None:
    request = commit_request("g", [("t", 0, 1)])
    request.retention_time_ms = 500
    outcome = commit(RULES, request, CommitContext(2, 1_000))
    assert outcome.records[0].version == 1
    found = replayed(outcome.records).offset("g", "t", 0)
    assert found is not None
    assert found.expire_timestamp_ms == 1_500


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ("x" * 8, ErrorCode.NONE),
        ("x" * 9, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        ("\U0001f600" * 4, ErrorCode.NONE),
        ("\U0001f600" * 5, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        ("ü" * 8, ErrorCode.NONE),
    ],
)
def test_metadata_is_measured_in_characters_of_java(metadata: str, expected: ErrorCode) -> None:
    context = CommitContext(9, 0, metadata_size_max=8)
    plain = commit(RULES, commit_request("g", [("t", 0, 1)], metadata=metadata), context)
    in_transaction = commit_transactional(RULES, txn_request("g", [("t", 0, 1)], metadata=metadata), NO_TOPICS, context)
    assert codes(plain) == codes(in_transaction) == [expected]
    assert len(plain.records) == len(in_transaction.records) == (expected is ErrorCode.NONE)


def test_too_large_metadata_of_one_partition_leaves_the_others_alone() -> None:
    request = commit_request("g", [("t", 0, 1), ("t", 1, 2)])
    request.topics[0].partitions[0].committed_metadata = "x" * 5_000
    outcome = commit(RULES, request, CONTEXT)
    assert codes(outcome) == [ErrorCode.OFFSET_METADATA_TOO_LARGE, 0]
    assert len(outcome.records) == 1


def test_whoever_commits_without_a_generation_makes_the_group() -> None:
    assert len(commit(None, commit_request("g", [("t", 0, 1)]), CONTEXT).records) == 1
    assert len(commit_transactional(None, txn_request("g", [("t", 0, 1)]), NO_TOPICS, CONTEXT).records) == 1


@pytest.mark.parametrize(("version", "error"), [(8, IllegalGenerationError), (9, GroupIdNotFoundError)])
def test_a_generation_of_an_unknown_group_is_refused(version: int, error: type[ApiError]) -> None:
    with pytest.raises(error):
        commit(None, commit_request("g", [("t", 0, 1)], generation=1), CommitContext(version, 0))


def test_a_generation_of_an_unknown_group_is_refused_in_a_transaction() -> None:
    with pytest.raises(IllegalGenerationError):
        commit_transactional(None, txn_request("g", [("t", 0, 1)], generation=1), NO_TOPICS, CONTEXT)


def test_the_group_may_refuse() -> None:
    with pytest.raises(RebalanceInProgressError):
        commit(FakeRules(RebalanceInProgressError()), commit_request("g", [("t", 0, 1)]), CONTEXT)


def test_a_partition_may_be_stale() -> None:
    rules = FakeRules(check=stale)
    assert codes(commit(rules, commit_request("g", [("t", 0, 1)]), CONTEXT)) == [0]
    with pytest.raises(StaleMemberEpochError):
        commit(rules, commit_request("g", [("t", 0, 1), ("t", 1, 1)]), CONTEXT)


def test_in_a_transaction_stale_is_an_illegal_generation() -> None:
    for rules in (FakeRules(StaleMemberEpochError()), FakeRules(check=stale)):
        with pytest.raises(IllegalGenerationError):
            commit_transactional(rules, txn_request("g", [("t", 1, 1)]), NO_TOPICS, CONTEXT)
