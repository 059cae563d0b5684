"""The coordinator's face: routing, offsets, retention, what happens when topics go."""

import logging

import pytest

from ottla.base.ids import Uuid
from ottla.coordinator.group.caller import GroupCaller
from ottla.coordinator.group.gathering import Gathering
from ottla.coordinator.group.offsets.deletion import DeletedTopic
from ottla.coordinator.group.rebalance_reason import RebalanceReason
from ottla.coordinator.ports import TransactionalProducer, TransactionMarker
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.errors import ErrorCode, NotEnoughReplicasError
from ottla.protocol.group_log.log import GROUP_LOG
from ottla.protocol.group_log.share import ShareGroupMetadataKey, ShareGroupMetadataValue
from ottla.protocol.messages.list_groups import ListGroupsRequest
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from ottla.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.unit.coordinator.group.member import (
    SESSION_MS,
    Member,
    commit_request,
    join_request,
    protocols,
    settle_group,
    subscription,
)
from tests.unit.coordinator.group.rig import Rig
from tests.unit.coordinator.runtime.fake import Answers

HOUR_MS = 3_600_000


def _fetch(rig: Rig, group_id: str, *, require_stable: bool = False) -> list[tuple[int, int]]:
    asked = [OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
    group = OffsetFetchRequestGroup(group_id=group_id, topics=asked)
    (answer,) = rig.ask(OffsetFetchRequest(groups=[group], require_stable=require_stable), 8).groups
    partitions = [partition for topic in answer.topics for partition in topic.partitions]
    return [(answer.error_code or partition.error_code, partition.committed_offset) for partition in partitions]


def test_a_groups_records_are_in_the_partition_that_kafka_would_choose() -> None:
    rig = Rig(partitions=50)
    rig.ask(commit_request("orders"), 8)
    assert rig.coordinator.partition_for("orders") == 31
    assert [len(rig.records(partition)) for partition in (30, 31)] == [0, 1]


@pytest.mark.parametrize("version", range(1, 9))
def test_committed_offsets_are_read_back_in_every_version(version: int) -> None:
    rig = Rig()
    rig.ask(commit_request("g"), 8)
    if version < 8:
        topics = [OffsetFetchRequestTopic(name="t", partition_indexes=[0, 1])]
        (topic,) = rig.ask(OffsetFetchRequest(group_id="g", topics=topics), version).topics
    else:
        asked = [OffsetFetchRequestTopics(name="t", partition_indexes=[0, 1])]
        groups = [OffsetFetchRequestGroup(group_id="g", topics=asked)]
        (topic,) = rig.ask(OffsetFetchRequest(groups=groups), version).groups[0].topics
    assert [partition.committed_offset for partition in topic.partitions] == [5, -1]


def test_many_groups_are_answered_in_order_each_with_its_own_error() -> None:
    rig = Rig(partitions=3)
    for group_id in ("a", "b"):
        rig.ask(commit_request(group_id), 8)
    lost = rig.coordinator.partition_for("b")
    rig.shards.resigned(lost, None)
    group_ids = ["a", "b", "nobody"]
    groups = [OffsetFetchRequestGroup(group_id=group_id, topics=None) for group_id in group_ids]
    expected = [16 if rig.coordinator.partition_for(group_id) == lost else 0 for group_id in group_ids]
    assert expected[:2] == [0, 16]
    for require_stable in (False, True):
        answer = rig.ask(OffsetFetchRequest(groups=groups, require_stable=require_stable), 8)
        assert [(group.group_id, group.error_code) for group in answer.groups] == list(
            zip(group_ids, expected, strict=True)
        )


def test_the_offsets_of_a_transaction_count_once_it_is_committed() -> None:
    rig = Rig()
    answers = Answers()
    partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=7, committed_metadata="")
    request = TxnOffsetCommitRequest(
        transactional_id="tx",
        group_id="g",
        producer_id=1,
        producer_epoch=0,
        topics=[TxnOffsetCommitRequestTopic(name="t", partitions=[partition])],
    )
    caller = GroupCaller("app", "/10.0.0.1", 4)
    rig.coordinator.txn_offset_commit(request, caller, TransactionalProducer("tx", 1, 0), rig.now_ms, answers)
    rig.settle()
    assert answers.only.topics[0].partitions[0].error_code == 0
    assert _fetch(rig, "g") == [(0, -1)]
    assert _fetch(rig, "g", require_stable=True) == [(ErrorCode.UNSTABLE_OFFSET_COMMIT, -1)]
    ended = Answers()
    rig.coordinator.write_marker(0, TransactionMarker(1, 0, 0, committed=True), rig.now_ms, ended)
    rig.settle()
    assert ended.only is None
    assert _fetch(rig, "g") == _fetch(rig, "g", require_stable=True) == [(0, 7)]
    refused = Answers()
    request.group_id = ""
    rig.coordinator.txn_offset_commit(request, caller, TransactionalProducer("tx", 1, 0), rig.now_ms, refused)
    assert refused.only.topics[0].partitions[0].error_code == ErrorCode.INVALID_GROUP_ID


def test_a_commit_is_answered_when_it_is_replicated_and_read_only_then() -> None:
    rig = Rig()
    rig.is_replicating = False
    answers = rig.send(commit_request("g"), 8)
    assert answers.given == []
    assert _fetch(rig, "g") == [(0, -1)]
    rig.replicate()
    assert answers.only.topics[0].partitions[0].error_code == 0
    assert _fetch(rig, "g") == [(0, 5)]


def test_offsets_of_an_emptied_group_expire_and_the_group_with_them() -> None:
    rig = Rig(offsets_retention_ms=HOUR_MS, offsets_retention_check_interval_ms=1_000)
    member = Member(rig)
    settle_group(rig, member)
    assert member.commit() == 0
    for _ in range(2 * HOUR_MS // SESSION_MS):
        rig.advance(SESSION_MS - 1)
        assert member.heartbeat() == 0
    assert _fetch(rig, "g") == [(0, 5)], "the topic is in use"
    member.leave()
    rig.advance(HOUR_MS - 1_000)
    assert _fetch(rig, "g") == [(0, 5)]
    rig.advance(2_000)
    assert _fetch(rig, "g") == [(0, -1)]
    assert rig.ask(ListGroupsRequest()).groups == []


def test_offsets_that_were_never_a_members_expire_from_their_commit() -> None:
    rig = Rig(offsets_retention_ms=HOUR_MS, offsets_retention_check_interval_ms=1_000)
    rig.ask(commit_request("simple"), 8)
    rig.advance(HOUR_MS // 2)
    rig.ask(commit_request("simple"), 8)
    rig.advance(HOUR_MS - 2_000)
    assert _fetch(rig, "simple") == [(0, 5)]
    rig.advance(3_000)
    assert rig.ask(ListGroupsRequest()).groups == []


def test_what_a_consumer_group_no_longer_reads_expires_while_it_lives() -> None:
    rig = Rig(offsets_retention_ms=SESSION_MS, offsets_retention_check_interval_ms=1_000)
    member = Member(rig)
    settle_group(rig, member)
    assert member.commit() == 0
    member.join(protocols=protocols("range", metadata=b"\0\0\0\0\0\0\xff\xff\xff\xff"))
    assert member.join_answer.generation_id == 2
    member.sync({})
    for _ in range(3):
        rig.advance(SESSION_MS // 2)
        assert member.heartbeat() == 0
    assert _fetch(rig, "g") == [(0, -1)]
    assert [group.group_state for group in rig.ask(ListGroupsRequest()).groups] == ["Stable"]


@pytest.mark.parametrize("is_loading", [False, True])
def test_the_offsets_of_a_deleted_topic_go_with_it(is_loading: bool) -> None:
    rig = Rig()
    rig.ask(commit_request("g"), 8)
    if is_loading:
        rig.resign()
        rig.begin_load()
    rig.coordinator.topics_changed([DeletedTopic("t", Uuid(bytes(15) + b"\1"))], frozenset(), rig.now_ms)
    rig.finish_load()
    rig.advance(0)
    assert _fetch(rig, "g") == [(0, -1)]
    assert [group.group_id for group in rig.ask(ListGroupsRequest()).groups] == ["g"]


def test_deleting_offsets_of_a_topic_is_tried_again() -> None:
    rig = Rig()
    rig.ask(commit_request("g"), 8)
    rig.logs[0].fail_with = NotEnoughReplicasError()
    rig.coordinator.topics_changed([DeletedTopic("t", Uuid(bytes(15) + b"\1"))], frozenset(), rig.now_ms)
    rig.advance(0)
    rig.logs[0].fail_with = None
    rig.advance(1_000)
    assert _fetch(rig, "g") == [(0, -1)]


def test_a_rebalance_logs_one_line_that_says_why(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig()
    one, two = Member(rig, client="one"), Member(rig, client="two")
    settle_group(rig, one)
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="ottla.coordinator"):
        two.join(reason="scaled up")
        one.join()
        rig.advance(0)
    (line,) = caplog.messages
    assert line == (
        f"[group=g] Rebalances from Stable, generation 1, reason member_joined: "
        f"member {two.id} joined; client reason: scaled up"
    )
    assert rig.rebalances.counts == {RebalanceReason.MEMBER_JOINED: 2}


def test_a_changed_subscription_is_named(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig()
    one = Member(rig)
    settle_group(rig, one)
    with caplog.at_level(logging.INFO, logger="ottla.coordinator"):
        one.join(protocols=protocols("range", metadata=subscription("u")))
    assert f"metadata_changed: member {one.id} changed, now with u, without t; client reason" in caplog.messages[-1]


def test_rebalances_are_counted_by_reason() -> None:
    rig = Rig()
    one, two = Member(rig, session_timeout_ms=100_000), Member(rig)
    settle_group(rig, one, two, delay_ms=6_000)
    rig.advance(SESSION_MS)
    one.join()
    assert one.join_answer.generation_id == 2
    one.sync({})
    one.join()
    assert one.join_answer.generation_id == 3
    one.sync({})
    one.join(protocols=protocols("range", metadata=b"other"))
    assert one.join_answer.generation_id == 4
    assert one.leave() == 0
    assert rig.rebalances.counts == {
        RebalanceReason.MEMBER_JOINED: 1,
        RebalanceReason.SESSION_TIMED_OUT: 1,
        RebalanceReason.LEADER_REJOINED: 1,
        RebalanceReason.METADATA_CHANGED: 1,
        RebalanceReason.MEMBER_LEFT: 1,
    }


def test_records_of_kinds_that_are_not_served_are_passed_over() -> None:
    rig = Rig()
    record = CoordinatorRecord(ShareGroupMetadataKey(group_id="share"), ShareGroupMetadataValue(epoch=1), 0)
    assert record.value is not None
    pair = (GROUP_LOG.encode_key(record.key), GROUP_LOG.encode_value(record.value, 0))
    rig.logs[0].append([pair], None)
    rig.restart()
    assert rig.ask(ListGroupsRequest()).groups == []
    assert rig.ask(join_request("share")).error_code == ErrorCode.MEMBER_ID_REQUIRED


def test_a_gathering_of_none_is_complete() -> None:
    answers = Answers()
    Gathering(0, answers)
    assert answers.only == []
