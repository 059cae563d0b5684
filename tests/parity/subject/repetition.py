"""Topics that a request names twice, or without partitions: every call that takes topics has its own way with them."""

from collections.abc import Callable, Sequence
from typing import Any

from ottla.base.ids import Uuid
from ottla.protocol.catalog import request_type
from ottla.protocol.definition import Request
from ottla.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from ottla.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from ottla.protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from ottla.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from ottla.protocol.messages.fetch import FetchRequest, FetchTopic, ForgottenTopic
from ottla.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from ottla.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.protocol.messages.write_txn_markers import WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest
from tests.parity.batch import batch
from tests.parity.subject.classic_groups import await_coordinators, enter
from tests.parity.subject.commits import fetch as committed
from tests.parity.subject.fetch import partition
from tests.parity.subject.transactions import Producer, add_offsets, end, producer, settle
from tests.parity.talk import Talk, Topic

Lines = Sequence[tuple[Topic, Sequence[int]]]
"""Topics with partitions, as a request lists them."""
_UNKNOWN = Topic("repetition-none", Uuid(b"\x05" * 16))
_BAD = Topic("a/b", Uuid(b"\x06" * 16))


def run(talk: Talk) -> None:
    """All calls that take topics."""
    await_coordinators(talk)
    lists = _lists(talk.topic("repetition", 3), talk.topic("repetition-other"))
    for make in (_produce, _fetch, _list_offsets, _leader_epochs, _delete_records, _producers, _move, _log_dirs):
        _ask(talk, lists, make)
    talk.quietly(_commit(9, lists["twice"]), 9)
    for make in (_commit, _committed, _delete_offsets):
        _ask(talk, lists, make)
        talk.ask(f"after {make.__name__}", committed(7, "repeaters", None), 7)
    _transactions(talk, lists)
    _sessions(talk, lists)


def _lists(one: Topic, other: Topic) -> dict[str, Lines]:
    return {
        "twice": [(one, [0]), (other, [0]), (one, [1])],
        "twice with the same partition": [(one, [0]), (one, [0])],
        "no partitions": [(one, [])],
        "no partitions, and another": [(one, []), (other, [0])],
        "another, and no partitions": [(other, [0]), (one, [])],
        "no partitions, then some": [(one, []), (other, [0]), (one, [2])],
        "an unknown one twice": [(_UNKNOWN, [0]), (other, [0]), (_UNKNOWN, [1])],
        "an unknown one without partitions": [(_UNKNOWN, [])],
        "unknown partitions in between": [(one, [9, 0]), (other, [5]), (one, [1, 8])],
        "known and unknown ones": [(other, [0]), (_UNKNOWN, [0]), (one, [2, 7]), (_UNKNOWN, [])],
        "a bad name twice": [(_BAD, [0]), (one, [0]), (_BAD, [1])],
        "a bad name without partitions": [(_BAD, []), (one, [0])],
    }


def _ask(talk: Talk, lists: dict[str, Lines], make: Callable[[int, Lines], Request]) -> None:
    for name, lines in lists.items():
        served = request_type(make(99, lines).api).valid_versions
        for version in _ends(served.lowest, served.highest):
            talk.ask(name, make(version, lines), version)


def _ends(lowest: int, highest: int) -> list[int]:
    """The oldest, the newest, and the one before that, as topics have ids in the newest of many calls."""
    return sorted({lowest, max(lowest, highest - 1), highest})


def _produce(version: int, lines: Lines) -> ProduceRequest:
    topics = [
        TopicProduceData(
            name=topic.name,
            topic_id=topic.id,
            partition_data=[PartitionProduceData(index=index, records=batch(b"v")) for index in indexes],
        )
        for topic, indexes in lines
    ]
    return ProduceRequest(acks=-1, timeout_ms=5_000, topic_data=topics)


def _fetch(version: int, lines: Lines) -> FetchRequest:
    topics = [
        FetchTopic(topic=topic.name, topic_id=topic.id, partitions=[partition(index, 0) for index in indexes])
        for topic, indexes in lines
    ]
    return FetchRequest(max_wait_ms=0, min_bytes=1, topics=topics)


def _list_offsets(version: int, lines: Lines) -> ListOffsetsRequest:
    topics = [
        ListOffsetsTopic(
            name=topic.name,
            partitions=[ListOffsetsPartition(partition_index=index, timestamp=-2) for index in indexes],
        )
        for topic, indexes in lines
    ]
    return ListOffsetsRequest(replica_id=-1, topics=topics)


def _leader_epochs(version: int, lines: Lines) -> OffsetForLeaderEpochRequest:
    topics = [
        OffsetForLeaderTopic(
            topic=topic.name,
            partitions=[OffsetForLeaderPartition(partition=index, leader_epoch=0) for index in indexes],
        )
        for topic, indexes in lines
    ]
    return OffsetForLeaderEpochRequest(replica_id=-1, topics=topics)


def _delete_records(version: int, lines: Lines) -> DeleteRecordsRequest:
    topics = [
        DeleteRecordsTopic(
            name=topic.name, partitions=[DeleteRecordsPartition(partition_index=index, offset=0) for index in indexes]
        )
        for topic, indexes in lines
    ]
    return DeleteRecordsRequest(topics=topics, timeout_ms=5_000)


def _producers(version: int, lines: Lines) -> DescribeProducersRequest:
    topics = [TopicRequest(name=topic.name, partition_indexes=list(indexes)) for topic, indexes in lines]
    return DescribeProducersRequest(topics=topics)


def _move(version: int, lines: Lines) -> AlterReplicaLogDirsRequest:
    topics = [AlterReplicaLogDirTopic(name=topic.name, partitions=list(indexes)) for topic, indexes in lines]
    return AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path="/nowhere", topics=topics)])


def _log_dirs(version: int, lines: Lines) -> DescribeLogDirsRequest:
    topics = [DescribableLogDirTopic(topic=topic.name, partitions=list(indexes)) for topic, indexes in lines]
    return DescribeLogDirsRequest(topics=topics)


def _commit(version: int, lines: Lines) -> OffsetCommitRequest:
    topics = [
        OffsetCommitRequestTopic(
            name=topic.name,
            topic_id=topic.id,
            partitions=[
                OffsetCommitRequestPartition(partition_index=index, committed_offset=place, committed_metadata="")
                for index in indexes
            ],
        )
        for place, (topic, indexes) in enumerate(lines)
    ]
    return OffsetCommitRequest(group_id="repeaters", topics=topics)


def _committed(version: int, lines: Lines) -> OffsetFetchRequest:
    if version < 8:
        names = [OffsetFetchRequestTopic(name=topic.name, partition_indexes=list(indexes)) for topic, indexes in lines]
        return OffsetFetchRequest(group_id="repeaters", topics=names)
    topics = [
        OffsetFetchRequestTopics(name=topic.name, topic_id=topic.id, partition_indexes=list(indexes))
        for topic, indexes in lines
    ]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="repeaters", topics=topics)])


def _delete_offsets(version: int, lines: Lines) -> OffsetDeleteRequest:
    topics = [
        OffsetDeleteRequestTopic(
            name=topic.name, partitions=[OffsetDeleteRequestPartition(partition_index=index) for index in indexes]
        )
        for topic, indexes in lines
    ]
    return OffsetDeleteRequest(group_id="repeaters", topics=topics)


def _transactions(talk: Talk, lists: dict[str, Lines]) -> None:
    by = producer(talk, "repetition")

    def added(version: int, lines: Lines) -> AddPartitionsToTxnRequest:
        return _add(version, by, lines)

    def verified(version: int, lines: Lines) -> AddPartitionsToTxnRequest:
        return _add(version, by, lines, verify_only=True)

    _ask(talk, lists, added)
    for name, lines in lists.items():
        talk.ask(f"{name}: verified", verified(5, lines), 5)
    talk.quietly(end(by), 3)
    settle(talk, by.name)
    enter(talk, "repeaters-in-transactions")
    talk.quietly(add_offsets(by, "repeaters"), 3)

    def commit(version: int, lines: Lines) -> TxnOffsetCommitRequest:
        return _commit_in_transaction(by, "repeaters", lines)

    _ask(talk, lists, commit)
    talk.quietly(end(by), 3)
    settle(talk, by.name)
    talk.ask("after a transaction", committed(7, "repeaters", None), 7)
    for name, lines in lists.items():
        refused = _commit_in_transaction(by, "", lines)
        talk.ask(f"{name}: of no group", refused, 5)
        marker = [WritableTxnMarkerTopic(name=topic.name, partition_indexes=list(indexes)) for topic, indexes in lines]
        written = WritableTxnMarker(producer_id=777, producer_epoch=0, transaction_result=True, topics=marker)
        talk.ask(name, WriteTxnMarkersRequest(markers=[written]), 1, patience=5)


def _add(version: int, by: Producer, lines: Lines, **others: Any) -> AddPartitionsToTxnRequest:
    topics = [AddPartitionsToTxnTopic(name=topic.name, partitions=list(indexes)) for topic, indexes in lines]
    if version < 4:
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=by.name,
            v3_and_below_producer_id=by.id,
            v3_and_below_producer_epoch=by.epoch,
            v3_and_below_topics=topics,
        )
    one = AddPartitionsToTxnTransaction(
        transactional_id=by.name, producer_id=by.id, producer_epoch=by.epoch, topics=topics, **others
    )
    return AddPartitionsToTxnRequest(transactions=[one])


def _commit_in_transaction(by: Producer, group: str, lines: Lines) -> TxnOffsetCommitRequest:
    topics = [
        TxnOffsetCommitRequestTopic(
            name=topic.name,
            partitions=[
                TxnOffsetCommitRequestPartition(partition_index=index, committed_offset=place, committed_metadata="")
                for index in indexes
            ],
        )
        for place, (topic, indexes) in enumerate(lines, 10)
    ]
    return TxnOffsetCommitRequest(
        transactional_id=by.name, producer_id=by.id, producer_epoch=by.epoch, group_id=group, topics=topics
    )


def _sessions(talk: Talk, lists: dict[str, Lines]) -> None:
    """A fetch session that begins with such a list, goes on with it, and forgets it."""
    for version in (12, 18):
        for name, lines in lists.items():
            wanted = _fetch(version, lines)
            wanted.session_epoch = 0
            first: Any = talk.ask(f"{name}: a session", wanted, version)
            if first is None or not first.session_id:
                continue
            wanted.session_id, wanted.session_epoch = first.session_id, 1
            talk.ask(f"{name}: the session again", wanted, version)
            wanted.session_epoch, wanted.topics = 2, []
            wanted.forgotten_topics_data = [
                ForgottenTopic(topic=topic.name, topic_id=topic.id, partitions=list(indexes))
                for topic, indexes in lines
            ]
            talk.ask(f"{name}: forgotten", wanted, version)
            wanted.session_epoch, wanted.forgotten_topics_data = 3, []
            talk.ask(f"{name}: what is left", wanted, version)
