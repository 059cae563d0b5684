import pytest

from ottla.base.ids import Uuid
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.control import ControlRecordType, EndTransactionMarker, write_end_marker
from ottla.replication.request.fetch import READ_COMMITTED, ClientMetadata, FetchParams, FetchResult
from ottla.replication.request.produce import AppendEntry
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import Fault
from ottla.storage.leader_epoch.checkpoint import EpochEntry
from ottla.storage.log.append_info import FROM_COORDINATOR, AppendOptions
from tests.unit.replication.broker_under_test import Answers, BrokerUnderTest, Metadata, batch, offsets, topic_id, want
from tests.unit.replication.manual_loop import EPOCH_MS, ManualLoop

UNVERIFIED = AppendOptions(verify_transactions=False)
CLIENT = ClientMetadata("", "c", "localhost", "PLAINTEXT")


@pytest.fixture
def loop() -> ManualLoop:
    return ManualLoop()


@pytest.fixture
def broker(loop: ManualLoop) -> BrokerUnderTest:
    return BrokerUnderTest(loop)


@pytest.fixture
def metadata(loop: ManualLoop, broker: BrokerUnderTest) -> Metadata:
    metadata = Metadata(broker)
    for broker_id in (1, 2, 3):
        metadata.register(broker_id)
    metadata.create("orders", [1], [1], [1])
    metadata.create("copied", [1, 2])
    loop.run()
    return metadata


def size_of(count: int = 1, size: int = 1) -> int:
    return len(batch(count, size))


def test_records_come_with_the_bounds_of_the_log(broker: BrokerUnderTest, metadata: Metadata) -> None:
    broker.produce(count=3)
    broker.produce(count=2)
    [result] = broker.fetch(want(offset=1))
    assert (result.error_code, result.high_watermark, result.last_stable_offset, result.log_start_offset) == (
        0,
        5,
        5,
        0,
    )
    assert offsets(result) == [0, 1, 2, 3, 4], "the batch that holds the offset comes whole"
    assert result.aborted_transactions is None


@pytest.mark.parametrize("offset", [-1, 4])
def test_outside_of_the_log_is_out_of_range_and_says_nothing_else(
    offset: int, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broker.produce(count=3)
    [result] = broker.fetch(want(offset=offset), max_wait_ms=1000)
    assert result == FetchResult(ErrorCode.OFFSET_OUT_OF_RANGE)


def test_before_the_log_start_is_out_of_range(broker: BrokerUnderTest, metadata: Metadata) -> None:
    broker.produce(count=3)
    broker.partition().delete_records_before(2)
    assert broker.fetch(want(offset=1))[0] == FetchResult(ErrorCode.OFFSET_OUT_OF_RANGE)
    assert broker.fetch(want(offset=2))[0].log_start_offset == 2


def test_consumers_read_up_to_the_high_watermark_and_followers_to_the_end(
    broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broker.produce("copied")
    [result] = broker.fetch(want("copied"))
    assert (offsets(result), result.high_watermark) == ([], 0)
    [result] = broker.fetch(want("copied"), replica_id=2, replica_epoch=1)
    assert offsets(result) == [0]
    broker.fetch(want("copied", offset=1), replica_id=2, replica_epoch=1)
    assert offsets(broker.fetch(want("copied"))[0]) == [0]


def test_unknown_partitions_and_wrong_epochs_are_refused_each_for_itself(
    broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broker.produce()
    wanted = [
        want("nowhere"),
        want("orders", 9),
        want(current_leader_epoch=1),
        want(topic_id=Uuid(b"another topic id")),
        want(topic_id=topic_id("orders"), current_leader_epoch=0),
        want("orders", 1, current_leader_epoch=-2),
    ]
    assert [result.error_code for result in broker.fetch(*wanted, max_wait_ms=1000)] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        0,
        0,
    ]


def test_an_old_epoch_is_fenced(loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata) -> None:
    metadata.change("orders", leader=1)
    loop.run()
    assert broker.fetch(want(current_leader_epoch=0))[0].error_code == ErrorCode.FENCED_LEADER_EPOCH


def test_a_follower_serves_only_clients_that_may_read_there(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    metadata.change("copied", leader=2)
    loop.run()
    assert broker.fetch(want("copied"))[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    answers: Answers = Answers()
    params = FetchParams(max_wait_ms=0, min_bytes=1, max_bytes=1000, client=CLIENT)
    broker.replicas.fetch(params, [want("copied")], answers.take)
    assert answers[0].error_code == 0


def test_a_replica_that_is_none_is_told_to_wait_for_the_metadata(broker: BrokerUnderTest, metadata: Metadata) -> None:
    unknown = broker.fetch(want("copied", current_leader_epoch=0), replica_id=3, replica_epoch=1)
    assert unknown[0].error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    old = broker.fetch(want("copied"), replica_id=3, replica_epoch=1)
    assert old[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_former_incarnation_of_a_follower_counts_for_nothing(broker: BrokerUnderTest, metadata: Metadata) -> None:
    metadata.register(2, epoch=9)
    broker.produce("copied")
    [result] = broker.fetch(want("copied", offset=1), replica_id=2, replica_epoch=1)
    assert result.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert broker.partition("copied").high_watermark == 0


# Limits


def test_the_first_batch_comes_however_small_the_limits(broker: BrokerUnderTest, metadata: Metadata) -> None:
    broker.produce(count=5)
    broker.produce("orders", 1, count=5)
    first, second = broker.fetch(want(max_bytes=1), want("orders", 1), max_bytes=10)
    assert (offsets(first), offsets(second)) == ([0, 1, 2, 3, 4], [])


def test_only_the_first_partition_with_records_may_exceed_the_limits(
    broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broker.produce("orders", 1)
    broker.produce("orders", 2, count=9)
    empty, small, large = broker.fetch(want(), want("orders", 1), want("orders", 2, max_bytes=80))
    assert [offsets(result) for result in (empty, small, large)] == [[], [0], []]
    assert large.high_watermark == 9


def test_a_partition_gets_what_is_left_of_the_requests_limit(broker: BrokerUnderTest, metadata: Metadata) -> None:
    for index in range(3):
        broker.produce("orders", index, count=2)
    limit = 2 * size_of(2)
    results = broker.fetch(want(), want("orders", 1), want("orders", 2), max_bytes=limit)
    assert [len(offsets(result)) for result in results] == [2, 2, 0]


def test_negative_limits_are_an_error_where_there_is_something_to_read(
    broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broker.produce()
    results = broker.fetch(want(max_bytes=-1), want("orders", 1, max_bytes=-1))
    assert [result.error_code for result in results] == [ErrorCode.UNKNOWN_SERVER_ERROR, 0]


# Waiting


def test_a_fetch_waits_for_the_next_record(broker: BrokerUnderTest, metadata: Metadata) -> None:
    answers = broker.fetch(want(), want("orders", 1), max_wait_ms=500)
    assert not answers.is_done
    broker.produce("orders", 1)
    assert [offsets(result) for result in answers] == [[], [0]]
    assert not broker.replicas.waiting.fetches.watched, "idle partitions keep nothing of it"


def test_a_fetch_that_waited_in_vain_is_answered_empty(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    answers = broker.fetch(want(), max_wait_ms=500)
    loop.advance(499)
    assert not answers.is_done
    loop.advance(5)
    assert [(result.error_code, result.records, result.high_watermark) for result in answers] == [(0, None, 0)]
    assert not broker.replicas.waiting.fetches.watched
    assert not loop.timers


def test_a_fetch_waits_for_as_many_bytes_as_it_wants(broker: BrokerUnderTest, metadata: Metadata) -> None:
    broker.produce()
    answers = broker.fetch(want(), want("orders", 1), max_wait_ms=500, min_bytes=size_of() * 3)
    broker.produce()
    assert not answers.is_done
    broker.produce("orders", 1)
    assert [offsets(result) for result in answers] == [[0, 1], [0]]


def test_a_consumer_waits_for_replication_not_for_the_write(broker: BrokerUnderTest, metadata: Metadata) -> None:
    answers = broker.fetch(want("copied"), max_wait_ms=500)
    broker.produce("copied")
    assert not answers.is_done
    broker.fetch(want("copied", offset=1), replica_id=2, replica_epoch=1)
    assert offsets(answers[0]) == [0]


def test_a_follower_is_answered_with_the_write(broker: BrokerUnderTest, metadata: Metadata) -> None:
    answers = broker.fetch(want("copied", current_leader_epoch=0), max_wait_ms=500, replica_id=2, replica_epoch=1)
    broker.produce("copied")
    assert offsets(answers[0]) == [0]


def test_an_error_does_not_wait(broker: BrokerUnderTest, metadata: Metadata) -> None:
    assert broker.fetch(want(), want("nowhere"), max_wait_ms=500).is_done


def test_no_partitions_are_answered_at_once(broker: BrokerUnderTest, metadata: Metadata) -> None:
    answers = broker.fetch(max_wait_ms=500)
    assert answers.is_done
    assert answers == []


@pytest.mark.parametrize("change", ["leader", "deleted"])
def test_a_lost_partition_ends_the_wait(
    change: str, loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    answers = broker.fetch(want("copied"), want(), max_wait_ms=500)
    if change == "leader":
        metadata.change("copied", leader=2)
    else:
        metadata.delete("copied")
    loop.run()
    expected = ErrorCode.NOT_LEADER_OR_FOLLOWER if change == "leader" else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert [result.error_code for result in answers] == [expected, 0]


def test_a_new_epoch_ends_the_wait_of_those_who_named_the_old(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    named = broker.fetch(want(current_leader_epoch=0), max_wait_ms=500)
    unnamed = broker.fetch(want(), max_wait_ms=500)
    metadata.change("orders", leader=1)
    loop.run()
    assert named[0].error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert not unnamed.is_done


# Transactions


def transact(broker: BrokerUnderTest, producer_id: int, ending: ControlRecordType | None, count: int = 1) -> None:
    records = batch(count, producer_id=producer_id, producer_epoch=0, base_sequence=0, is_transactional=True)
    entries = [AppendEntry("orders", 0, records, UNVERIFIED)]
    broker.replicas.append(entries, acks=1, timeout_ms=1, done=lambda results: None)
    if ending is not None:
        marker = write_end_marker(
            EndTransactionMarker(ending, 0), producer_id=producer_id, producer_epoch=0, timestamp=EPOCH_MS
        )
        entries = [AppendEntry("orders", 0, marker, FROM_COORDINATOR)]
        broker.replicas.append(entries, acks=1, timeout_ms=1, done=lambda results: None)


def test_read_committed_stops_at_the_first_open_transaction(broker: BrokerUnderTest, metadata: Metadata) -> None:
    transact(broker, 7, ControlRecordType.ABORT)
    transact(broker, 8, None)
    broker.produce()
    [result] = broker.fetch(want(), isolation_level=READ_COMMITTED)
    assert (result.high_watermark, result.last_stable_offset) == (4, 2)
    assert offsets(result) == [0]
    assert result.aborted_transactions is not None
    assert [(aborted.producer_id, aborted.first_offset) for aborted in result.aborted_transactions] == [(7, 0)]


def test_read_committed_waits_for_the_marker(broker: BrokerUnderTest, metadata: Metadata) -> None:
    transact(broker, 8, None)
    answers = broker.fetch(want(), max_wait_ms=500, isolation_level=READ_COMMITTED)
    broker.produce()
    assert not answers.is_done
    transact(broker, 9, None)
    assert not answers.is_done
    marker = write_end_marker(
        EndTransactionMarker(ControlRecordType.COMMIT, 0), producer_id=8, producer_epoch=0, timestamp=EPOCH_MS
    )
    entries = [AppendEntry("orders", 0, marker, FROM_COORDINATOR)]
    broker.replicas.append(entries, acks=1, timeout_ms=1, done=lambda results: None)
    assert offsets(answers[0]) == [0, 1]


def test_read_committed_without_records_has_an_empty_list(broker: BrokerUnderTest, metadata: Metadata) -> None:
    [result] = broker.fetch(want(), isolation_level=READ_COMMITTED)
    assert (result.aborted_transactions, result.records) == ((), None)


def test_far_from_the_end_only_the_aborted_transactions_of_the_records_are_listed(
    broker: BrokerUnderTest, metadata: Metadata
) -> None:
    for producer_id in range(10):
        transact(broker, producer_id, ControlRecordType.ABORT, count=8000)
    first = size_of(8000)
    [result] = broker.fetch(want(), max_bytes=first + 100, isolation_level=READ_COMMITTED)
    assert result.last_stable_offset == 80_010
    assert result.aborted_transactions is not None
    # The offset index says where the records end, to within one of its entries.
    assert [aborted.producer_id for aborted in result.aborted_transactions] == [0, 1]


# Divergence


def test_a_reader_of_another_history_is_told_where_they_part(
    loop: ManualLoop, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broker.produce(count=5)
    metadata.change("orders", leader=1)
    metadata.change("orders", leader=1)
    loop.run()
    broker.produce(count=5)
    assert broker.partition().log.epochs.latest_epoch == 2

    def diverging(offset: int, epoch: int) -> FetchResult:
        [result] = broker.fetch(want(offset=offset, last_fetched_epoch=epoch), max_wait_ms=500)
        assert isinstance(result, FetchResult)
        return result

    assert diverging(7, 0).diverging_epoch == EpochEntry(0, 5)
    assert diverging(7, 0).high_watermark == 10
    assert diverging(7, 2).diverging_epoch is None
    assert diverging(3, 0).diverging_epoch is None
    assert diverging(7, 3) == FetchResult(ErrorCode.OFFSET_OUT_OF_RANGE)


# Disks


def test_a_disk_that_cannot_be_read_is_a_storage_error_and_the_directory_is_lost(
    broker: BrokerUnderTest, metadata: Metadata
) -> None:
    broker.produce()
    broker.disk.fail(Fault("read", path_ending=".log"))
    assert broker.fetch(want(), max_wait_ms=500)[0] == FetchResult(ErrorCode.KAFKA_STORAGE_ERROR)
    assert broker.events.lost == ["/data"]
    assert broker.fetch(want("orders", 1))[0] == FetchResult(ErrorCode.KAFKA_STORAGE_ERROR)


def test_noise_in_a_file_is_told_once_and_takes_nothing_else_offline(
    broker: BrokerUnderTest, metadata: Metadata, caplog: pytest.LogCaptureFixture
) -> None:
    broker.produce(count=3)
    broker.produce("orders", 1)
    segment = broker.partition().log.segments.active
    broker.disk.open(segment.path(), Access.WRITE).write(0, [b"noise" * 20])
    for _ in range(2):
        assert broker.fetch(want(), max_wait_ms=500)[0] == FetchResult(ErrorCode.CORRUPT_MESSAGE)
    assert caplog.text.count(f"{segment.path()}: no batch at position 0") == 1
    assert (broker.events.lost, offsets(broker.fetch(want("orders", 1))[0])) == ([], [0])


@pytest.mark.parametrize("min_bytes", [1, 100])
def test_follower_gets_what_its_own_progress_has_set_free(
    min_bytes: int, broker: BrokerUnderTest, metadata: Metadata
) -> None:
    """A coordinator that waits for its record to be replicated writes the next one at once."""
    entry = AppendEntry("copied", 0, batch())
    written: Answers[object] = Answers()

    def write_next(_: object) -> None:
        broker.replicas.append([AppendEntry("copied", 0, batch(size=100))], acks=-1, timeout_ms=1000, done=written.take)

    broker.replicas.append([entry], acks=-1, timeout_ms=1000, done=write_next)
    [result] = broker.fetch(want("copied", offset=1), replica_id=2, max_wait_ms=500, min_bytes=min_bytes)
    assert offsets(result) == [1]


def test_follower_waits_for_as_much_as_it_wants(broker: BrokerUnderTest, metadata: Metadata) -> None:
    broker.produce("copied")
    answers = broker.fetch(want("copied", offset=0), replica_id=2, max_wait_ms=500, min_bytes=1_000)
    assert not answers.is_done
    broker.produce("copied", size=1_000)
    assert offsets(answers[0]) == [0, 1]
