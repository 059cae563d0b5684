"""Transactions: InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit, EndTxn, markers and listings."""

from dataclasses import dataclass
from typing import Any

from ottla.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from ottla.protocol.messages.describe_transactions import DescribeTransactionsRequest
from ottla.protocol.messages.end_txn import EndTxnRequest
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest
from ottla.protocol.messages.list_transactions import ListTransactionsRequest
from ottla.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.protocol.messages.write_txn_markers import WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest
from tests.clients.patience import until
from tests.parity.batch import batch, patched
from tests.parity.subject.classic_groups import await_coordinators, enter
from tests.parity.subject.commits import fetch
from tests.parity.subject.produce import request as produce
from tests.parity.talk import Talk, Topic

_TRANSACTIONAL = 16


@dataclass
class Producer:
    """A transactional id with the producer id and epoch that it was given."""

    name: str
    id: int
    epoch: int


def run(talk: Talk) -> None:
    """All about transactions."""
    await_coordinators(talk)
    topic = talk.topic("transactions", 3)
    _init(talk)
    for version in range(6):
        _life(talk, topic, version)
    _bad_partitions(talk, topic)
    _internal(talk, topic)
    _bad_ends(talk, topic)
    _offsets(talk, topic)
    _produce(talk, topic)
    _fencing(talk, topic)
    _markers(talk)
    _looked_at(talk, topic)


def init(name: str | None, **others: Any) -> InitProducerIdRequest:
    """Asks for a producer id."""
    return InitProducerIdRequest(transactional_id=name, **{"transaction_timeout_ms": 60_000} | others)


def producer(talk: Talk, name: str) -> Producer:
    """A producer that may begin a transaction, without a question."""
    answer: Any = None

    def ask() -> int:
        nonlocal answer
        answer = talk.quietly(init(name), 4)
        return int(answer.error_code)

    until(0, ask)
    return Producer(name, answer.producer_id, answer.producer_epoch)


def add(version: int, by: Producer, *partitions: tuple[str, int], verify: bool = False) -> AddPartitionsToTxnRequest:
    """Partitions that a transaction is about to write."""
    topics: dict[str, list[int]] = {}
    for name, index in partitions:
        topics.setdefault(name, []).append(index)
    wanted = [AddPartitionsToTxnTopic(name=name, partitions=found) for name, found in topics.items()]
    if version < 4:
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=by.name,
            v3_and_below_producer_id=by.id,
            v3_and_below_producer_epoch=by.epoch,
            v3_and_below_topics=wanted,
        )
    one = AddPartitionsToTxnTransaction(
        transactional_id=by.name, producer_id=by.id, producer_epoch=by.epoch, verify_only=verify, topics=wanted
    )
    return AddPartitionsToTxnRequest(transactions=[one])


def end(by: Producer, *, committed: bool = True) -> EndTxnRequest:
    """Ends a transaction."""
    return EndTxnRequest(transactional_id=by.name, producer_id=by.id, producer_epoch=by.epoch, committed=committed)


def add_offsets(by: Producer, group: str) -> AddOffsetsToTxnRequest:
    """Says that a group's offsets are about to be committed."""
    return AddOffsetsToTxnRequest(transactional_id=by.name, producer_id=by.id, producer_epoch=by.epoch, group_id=group)


def commit(
    version: int, by: Producer, group: str, topic: Topic, *offsets: tuple[int, int], **others: Any
) -> TxnOffsetCommitRequest:
    """Offsets that are the group's once the transaction is committed."""
    metadata = others.pop("metadata", "")
    partitions = [
        TxnOffsetCommitRequestPartition(partition_index=index, committed_offset=offset, committed_metadata=metadata)
        for index, offset in offsets
    ]
    return TxnOffsetCommitRequest(
        transactional_id=by.name,
        producer_id=by.id,
        producer_epoch=by.epoch,
        group_id=group,
        topics=[TxnOffsetCommitRequestTopic(name=topic.name, partitions=partitions)],
        **(others if version >= 3 else {}),
    )


def transactional(by: Producer, sequence: int, *values: bytes) -> bytes:
    """A batch of a transaction."""
    return patched(batch(*values, producer=(by.id, by.epoch, sequence)), ">h", 21, _TRANSACTIONAL)


def settle(talk: Talk, name: str) -> None:
    """Waits until the markers of a transaction that was decided are written."""

    def is_under_way() -> bool:
        [state] = talk.quietly(DescribeTransactionsRequest(transactional_ids=[name]), 0).transaction_states
        return str(state.transaction_state).startswith("Prepare")

    until(False, is_under_way)


def _init(talk: Talk) -> None:
    until(0, lambda: talk.quietly(init("first"), 4).error_code)
    for version in range(7):
        talk.ask("a new id", init(f"init-{version}"), version)
        talk.ask("the same again", init(f"init-{version}"), version)
        talk.ask("no name", init(""), version)
        talk.ask("a time-out of 0", init("init-bad", transaction_timeout_ms=0), version)
        talk.ask("a negative time-out", init("init-bad", transaction_timeout_ms=-1), version)
        talk.ask("a time-out that is too long", init("init-bad", transaction_timeout_ms=900_001), version)
    by = producer(talk, "init-known")
    for version in range(3, 7):
        for name, producer_id, epoch in (
            ("another producer", by.id + 77, by.epoch),
            ("a later epoch", by.id, by.epoch + 5),
            ("an id without an epoch", by.id, -1),
            ("an epoch without an id", -1, by.epoch),
            ("a producer of an unknown name", 5, 0),
        ):
            who = "init-unknown" if "unknown" in name else by.name
            talk.ask(name, init(who, producer_id=producer_id, producer_epoch=epoch), version)
    answer: Any = talk.ask("the epoch that it has", init(by.name, producer_id=by.id, producer_epoch=by.epoch), 4)
    talk.ask("the epoch before", init(by.name, producer_id=by.id, producer_epoch=by.epoch), 4)
    talk.ask("two epochs before", init(by.name, producer_id=by.id, producer_epoch=answer.producer_epoch - 2), 4)
    talk.ask("two phases", init("init-two", enable2_pc=True), 6)
    talk.ask("two phases, keeping", init("init-two", enable2_pc=True, keep_prepared_txn=True), 6)
    talk.ask("keeping", init("init-two", keep_prepared_txn=True), 6)


def _life(talk: Talk, topic: Topic, version: int) -> None:
    """Transactions that are committed, aborted and empty, each told in one version of everything."""
    by = producer(talk, f"life-{version}")
    for committed in (True, False):
        what = "commit" if committed else "abort"
        talk.ask(
            f"{what}, {version}", add(min(version, 3), by, ("transactions", 0), ("transactions", 1)), min(version, 3)
        )
        talk.ask(f"{what}, {version}", DescribeTransactionsRequest(transactional_ids=[by.name]), 0)
        answer: Any = talk.ask(what, end(by, committed=committed), version)
        settle(talk, by.name)
        talk.ask(f"{what} again", end(by, committed=committed), version)
        talk.ask(f"the opposite of {what}", end(by, committed=not committed), version)
        talk.ask(f"after {what}, {version}", DescribeTransactionsRequest(transactional_ids=[by.name]), 0)
        if version >= 5 and answer.error_code == 0:
            by = Producer(by.name, answer.producer_id, answer.producer_epoch)
        elif version >= 5:
            by = producer(talk, by.name)
    by = producer(talk, f"empty-{version}")
    talk.ask("nothing to commit", end(by), version)
    by = producer(talk, f"empty-{version}")
    talk.ask("nothing to abort", end(by, committed=False), version)


def _bad_partitions(talk: Talk, topic: Topic) -> None:
    by = producer(talk, "adder")
    for name, who, partitions in (
        ("an unknown topic", by, (("transactions-none", 0), ("transactions", 0))),
        ("an unknown partition", by, (("transactions", 9), ("transactions", 0))),
        ("an internal topic", by, (("__consumer_offsets", 0),)),
        ("no partitions", by, ()),
        ("an unknown name", Producer("nobody", 5, 0), (("transactions", 0),)),
        ("no name", Producer("", by.id, by.epoch), (("transactions", 0),)),
        ("another producer", Producer("adder", by.id + 77, by.epoch), (("transactions", 0),)),
        ("a later epoch", Producer("adder", by.id, by.epoch + 1), (("transactions", 0),)),
        ("an earlier epoch", Producer("adder", by.id, by.epoch - 1), (("transactions", 0),)),
        ("a good one", by, (("transactions", 0),)),
        ("the same again", by, (("transactions", 0),)),
    ):
        talk.ask_all_versions(name, lambda version, who=who, wanted=partitions: add(version, who, *wanted))
    for version in (4, 5):
        talk.ask("is it in", add(version, by, ("transactions", 0), verify=True), version)
        talk.ask("is another in", add(version, by, ("transactions", 1), verify=True), version)
        talk.ask(
            "is it in another's", add(version, Producer("nobody", 1, 0), ("transactions", 0), verify=True), version
        )
        talk.ask("no transactions", AddPartitionsToTxnRequest(), version, patience=2)
        both = [*add(5, by, ("transactions", 0)).transactions, *add(5, Producer("nobody", 1, 0), ("a", 0)).transactions]
        talk.ask("two transactions", AddPartitionsToTxnRequest(transactions=both), version)
    for name, group in (("a group", "adders"), ("no group", "")):
        talk.ask_all_versions(name, add_offsets(by, group))
    for name, who in (
        ("an unknown name", Producer("nobody", 5, 0)),
        ("no name", Producer("", by.id, by.epoch)),
        ("another producer", Producer("adder", by.id + 77, by.epoch)),
        ("a later epoch", Producer("adder", by.id, by.epoch + 1)),
        ("an earlier epoch", Producer("adder", by.id, by.epoch - 1)),
    ):
        talk.ask_all_versions(name, add_offsets(who, "adders"))
    talk.ask("what was added", DescribeTransactionsRequest(transactional_ids=["adder"]), 0)
    talk.quietly(end(by, committed=False), 4)


def _internal(talk: Talk, topic: Topic) -> None:
    by = producer(talk, "internal")
    request = add(3, by, ("__transaction_state", 0), (topic.name, 0), (topic.name, 9), ("transactions-none", 0))
    request.v3_and_below_topics += add(
        3, by, ("__transaction_state", 0), ("__transaction_state", 7)
    ).v3_and_below_topics
    request.v3_and_below_topics.append(AddPartitionsToTxnTopic(name="transactions-other"))
    for version in (0, 3):
        talk.ask("internal topics, twice", request, version)
        bare = add(3, by)
        bare.v3_and_below_topics = [AddPartitionsToTxnTopic(name="__transaction_state")] * 2
        talk.ask("internal topics without partitions", bare, version)


def _bad_ends(talk: Talk, topic: Topic) -> None:
    by = producer(talk, "ender")
    talk.quietly(add(3, by, ("transactions", 0)), 3)
    for name, who in (
        ("an unknown name", Producer("nobody", 5, 0)),
        ("no name", Producer("", by.id, by.epoch)),
        ("another producer", Producer("ender", by.id + 77, by.epoch)),
        ("a later epoch", Producer("ender", by.id, by.epoch + 1)),
        ("an earlier epoch", Producer("ender", by.id, by.epoch - 1)),
    ):
        talk.ask_all_versions(name, end(who))
    talk.ask("nothing of it ended it", DescribeTransactionsRequest(transactional_ids=["ender"]), 0)
    talk.quietly(end(by), 4)


def _offsets(talk: Talk, topic: Topic) -> None:
    by = producer(talk, "offsets")
    member = enter(talk, "transformers")
    talk.ask_all_versions(
        "a group that was not added", lambda version: commit(version, by, "strangers", topic, (0, 1)), "0-4"
    )
    talk.ask("no group, no producer", commit(3, Producer("offsets", -1, -1), "", topic, (0, 1)), 3)
    talk.quietly(add_offsets(by, "transformers"), 3)
    known = {"generation_id": 1, "member_id": member}
    for name, who, fields in (
        ("a member", by, known),
        ("without a member", by, {}),
        ("an unknown member", by, {"generation_id": 1, "member_id": "nobody"}),
        ("an old generation", by, {"generation_id": 0, "member_id": member}),
        ("a later generation", by, {"generation_id": 7, "member_id": member}),
        ("an instance that it is not", by, known | {"group_instance_id": "i"}),
        ("another producer", Producer("offsets", by.id + 77, by.epoch), known),
        ("an earlier epoch", Producer("offsets", by.id, by.epoch - 1), known),
        ("a later epoch", Producer("offsets", by.id, by.epoch + 1), known),
        ("an unknown name", Producer("nobody", by.id, by.epoch), known),
        ("much metadata", by, known | {"metadata": "x" * 4_097}),
    ):
        talk.ask_all_versions(
            name,
            lambda version, who=who, fields=fields: commit(version, who, "transformers", topic, (0, 5), **fields),
            "0-4",
        )
    talk.ask("an unknown partition", commit(3, by, "transformers", topic, (0, 6), (9, 6), **known), 3)
    talk.ask("no group", commit(3, by, "", topic, (0, 6)), 3)
    for version in (7, 9):
        talk.ask("while it is undecided", fetch(version, "transformers", topic, 0), version)
        talk.ask(
            "while it is undecided, stable", fetch(version, "transformers", topic, 0, require_stable=True), version
        )
    talk.quietly(end(by), 3)
    settle(talk, by.name)
    until(
        0,
        lambda: (
            talk.quietly(fetch(7, "transformers", topic, 0, require_stable=True), 7).topics[0].partitions[0].error_code
        ),
    )
    talk.ask("when it is committed", fetch(7, "transformers", topic, 0, 1), 7)
    by = producer(talk, "offsets")
    talk.ask("a group that is added by this", commit(5, by, "transformers", topic, (1, 9), **known), 5)
    talk.ask(
        "an unknown member, in the second version",
        commit(5, by, "transformers", topic, (1, 9), generation_id=1, member_id="x"),
        5,
    )
    aborted: Any = talk.ask("with offsets alone", end(by, committed=False), 5)
    settle(talk, by.name)
    talk.ask("when it is aborted", fetch(7, "transformers", topic, 0, 1), 7)
    assert aborted.error_code == 0, aborted


def _produce(talk: Talk, topic: Topic) -> None:
    for version in (3, 9, 11, 12, 13):
        by = producer(talk, f"writer-{version}")
        records = transactional(by, 0, b"a", b"b")
        talk.ask("not added", produce(topic, (2, records), transaction=by.name), version)
        if version < 12:
            talk.quietly(add(3, by, ("transactions", 2)), 3)
            talk.ask("added", produce(topic, (2, records), transaction=by.name), version)
        talk.ask("its duplicate", produce(topic, (2, records), transaction=by.name), version)
        talk.ask("no name", produce(topic, (2, transactional(by, 2, b"c"))), version)
        talk.ask("another name", produce(topic, (2, transactional(by, 2, b"c")), transaction="writer-other"), version)
        older = Producer(by.name, by.id, by.epoch - 1)
        talk.ask("an earlier epoch", produce(topic, (2, transactional(older, 0, b"c")), transaction=by.name), version)
        newer = Producer(by.name, by.id, by.epoch + 1)
        talk.ask("a later epoch", produce(topic, (2, transactional(newer, 0, b"c")), transaction=by.name), version)
        talk.ask(
            "plain from the same producer", produce(topic, (2, batch(b"c", producer=(by.id, by.epoch, 2)))), version
        )
        talk.ask(f"in the end, {version}", end(by), 5 if version >= 12 else 4)
        settle(talk, by.name)


def _fencing(talk: Talk, topic: Topic) -> None:
    by = producer(talk, "fenced")
    talk.quietly(add(3, by, ("transactions", 0)), 3)
    newer = producer(talk, "fenced")
    talk.ask("the new epoch", DescribeTransactionsRequest(transactional_ids=["fenced"]), 0)
    talk.ask_all_versions("a fenced producer", lambda version: add(version, by, ("transactions", 0)))
    talk.ask_all_versions("a fenced producer", add_offsets(by, "g"))
    talk.ask_all_versions("a fenced producer", end(by))
    for version in range(3, 7):
        talk.ask("a fenced producer", init("fenced", producer_id=by.id, producer_epoch=by.epoch), version)
    talk.ask("a fenced producer", produce(topic, (0, transactional(by, 0, b"x")), transaction="fenced"), 11)
    assert newer.epoch > by.epoch


def _markers(talk: Talk) -> None:
    def markers(
        producer_id: int, epoch: int, *partitions: tuple[str, int], committed: bool = False
    ) -> WriteTxnMarkersRequest:
        topics = [WritableTxnMarkerTopic(name=name, partition_indexes=[index]) for name, index in partitions]
        marker = WritableTxnMarker(
            producer_id=producer_id,
            producer_epoch=epoch,
            transaction_result=committed,
            topics=topics,
            coordinator_epoch=0,
        )
        return WriteTxnMarkersRequest(markers=[marker])

    topic = talk.topic("marked", 2)
    by = producer(talk, "marked")
    talk.quietly(add(3, by, ("marked", 0)), 3)
    talk.quietly(produce(topic, (0, transactional(by, 0, b"a"))), 9)
    for version in (1, 2):
        talk.ask("an unknown producer", markers(9_999, 0, ("marked", 1)), version)
        talk.ask("an unknown topic", markers(9_998, 0, ("marked-none", 0)), version)
        talk.ask("an unknown partition", markers(9_998, 0, ("marked", 9)), version)
        talk.ask("an epoch of -1", markers(9_997, -1, ("marked", 1)), version)
        talk.ask("none", WriteTxnMarkersRequest(), version)
        talk.ask("no partitions", markers(9_998, 0), version)
        talk.ask("a producer id of -1", markers(-1, 0, ("marked", 1)), version)
        talk.ask("an epoch of -1 for an unknown topic", markers(9_997, -1, ("marked-none", 1)), version)
        talk.ask("a producer id of -1 for an unknown topic", markers(-1, 0, ("marked-none", 1)), version)
        talk.ask("an unknown partition of offsets", markers(9_996, 0, ("__consumer_offsets", 9)), version)
        mixed = markers(9_995, 0, ("marked", 1), ("marked-none", 0))
        mixed.markers += markers(9_994, -1, ("marked", 1), ("marked", 7)).markers
        mixed.markers += markers(9_993, 0).markers
        talk.ask("a good one, a bad one and none", mixed, version)
        mixed.markers[1] = markers(9_994, -1, ("marked", 7)).markers[0]
        talk.ask("a good one, a bad one for an unknown partition and none", mixed, version, patience=5)
    talk.ask("of the producer", markers(by.id, by.epoch, ("marked", 0)), 1)


def _looked_at(talk: Talk, topic: Topic) -> None:
    by = producer(talk, "watched")
    talk.quietly(add(3, by, ("transactions", 1)), 3)
    talk.quietly(produce(topic, (1, transactional(by, 0, b"a")), transaction="watched"), 9)
    talk.ask("an unknown one", DescribeTransactionsRequest(transactional_ids=["nobody"]), 0)
    talk.ask("no name", DescribeTransactionsRequest(transactional_ids=[""]), 0)
    talk.ask("none", DescribeTransactionsRequest(), 0)
    talk.ask(
        "one twice, and another", DescribeTransactionsRequest(transactional_ids=["watched", "watched", "nobody"]), 0
    )
    for version in range(3):
        for name, fields in (
            ("all", {}),
            ("unknown states, one twice", {"state_filters": ["x", "Ongoing", "x", "y"]}),
            ("under way", {"state_filters": ["Ongoing"]}),
            ("empty", {"state_filters": ["Empty", "CompleteCommit"]}),
            ("in an unknown state", {"state_filters": ["Nonsense", "Ongoing"]}),
            ("in the state of none", {"state_filters": ["PrepareAbort"]}),
            ("of the producer", {"producer_id_filters": [by.id]}),
            ("of an unknown producer", {"producer_id_filters": [987_654]}),
        ):
            talk.ask(name, ListTransactionsRequest(**fields), version)
    for duration in (0, 3_600_000, -1, -5):
        talk.ask(f"open for {duration} ms", ListTransactionsRequest(duration_filter=duration), 1)
    for pattern in ("watch.*", "nothing", "", "(", "^watched$", "WATCHED"):
        talk.ask(f"named like {pattern!r}", ListTransactionsRequest(transactional_id_pattern=pattern), 2)
    asked = [TopicRequest(name="transactions", partition_indexes=[1])]
    talk.ask("within a transaction", DescribeProducersRequest(topics=asked), 0)
    talk.quietly(end(by, committed=False), 4)
