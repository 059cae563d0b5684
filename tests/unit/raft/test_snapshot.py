"""Snapshots: written, served, fetched, and what the log does then."""

import pytest

from ottla.protocol.control_record import KRaftVersionRecord, SnapshotFooterRecord, SnapshotHeaderRecord, VotersRecord
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import fetch
from ottla.protocol.messages import fetch_snapshot as message
from ottla.protocol.records.batch import batches
from ottla.protocol.records.reader import decode_batch
from ottla.raft.effect import LoadSnapshot
from ottla.raft.identity import BOOTSTRAP_SNAPSHOT_ID, METADATA_TOPIC, OffsetAndEpoch
from ottla.raft.log.control_batch import read_control_batch
from ottla.raft.snapshot.writer import bootstrap_snapshot
from tests.unit.raft.replica import (
    START_MS,
    Replica,
    batch,
    directory,
    fetch_request,
    fetch_response,
    fetched,
    snapshot_request,
    voter_set,
)


def snapshot(replica: Replica, *values: bytes) -> OffsetAndEpoch:
    """Has a leader take a snapshot of everything committed."""
    assert replica.core.high_watermark is not None
    snapshot_id = OffsetAndEpoch(offset=replica.core.high_watermark, epoch=replica.epoch)
    writer = replica.core.begin_snapshot(snapshot_id, 77, replica.now_ms)
    assert writer is not None
    writer.append(values)
    replica.core.store_snapshot(writer)
    return snapshot_id


@pytest.fixture
def leader() -> Replica:
    replica = Replica(voters=(1,)).start()
    replica.append(b"a", b"b")
    replica.append(b"c")
    return replica


class TestWriting:
    def test_header_state_and_footer(self, leader: Replica) -> None:
        snapshot_id = snapshot(leader, b"state 1", b"state 2")
        data = leader.snapshots.read(snapshot_id, 0, 1 << 20)
        head, state, foot = batches(data)
        header, version, voters = [found for _, found in read_control_batch(head)]
        assert header == SnapshotHeaderRecord(version=0, last_contained_log_timestamp=77)
        assert version == KRaftVersionRecord(version=0, kraft_version=1)
        assert voters == voter_set(1).record()
        assert [record[3] for record in decode_batch(state)] == [b"state 1", b"state 2"]
        assert [found for _, found in read_control_batch(foot)] == [SnapshotFooterRecord(version=0)]
        assert [part.base_offset for part in (head, state, foot)] == [0, 3, 5]
        assert head.partition_leader_epoch == snapshot_id.epoch

    def test_static_voters_are_not_in_it(self) -> None:
        replica = Replica(voters=(1,), static=True).start()
        snapshot_id = snapshot(replica)
        head = next(iter(batches(replica.snapshots.read(snapshot_id, 0, 1 << 20))))
        assert [type(found) for _, found in read_control_batch(head)] == [SnapshotHeaderRecord]

    def test_what_is_not_committed_cannot_be_in_it(self) -> None:
        replica = Replica().start().become_leader()
        with pytest.raises(ValueError, match="past what is committed"):
            replica.core.begin_snapshot(OffsetAndEpoch(offset=3, epoch=replica.epoch), 0, replica.now_ms)

    def test_a_position_that_the_log_does_not_have_is_refused(self, leader: Replica) -> None:
        with pytest.raises(ValueError, match="no position"):
            leader.core.begin_snapshot(OffsetAndEpoch(offset=4, epoch=99), 0, leader.now_ms)

    def test_there_is_no_second_one_of_the_same_or_an_earlier_position(self, leader: Replica) -> None:
        snapshot_id = snapshot(leader)
        assert leader.core.begin_snapshot(snapshot_id, 0, leader.now_ms) is None

    def test_the_log_before_it_can_go(self, leader: Replica) -> None:
        snapshot_id = snapshot(leader)
        leader.append(b"d")
        leader.core.delete_before_snapshot(snapshot_id)
        assert leader.log.start_offset == snapshot_id.offset
        assert leader.snapshots.earliest_id == snapshot_id, "the bootstrap snapshot went as well"
        leader.restart()
        assert LoadSnapshot(snapshot_id) in leader.told
        assert leader.core.voters == voter_set(1)

    def test_bootstrap(self) -> None:
        data = bootstrap_snapshot(1, voter_set(1, 2), [b"feature"], START_MS)
        head, records, foot = batches(data)
        assert [type(found) for _, found in read_control_batch(head)] == [
            SnapshotHeaderRecord,
            KRaftVersionRecord,
            VotersRecord,
        ]
        assert [record[3] for record in decode_batch(records)] == [b"feature"]
        assert foot.is_control


class TestServing:
    def partition(self, replica: Replica, request: message.FetchSnapshotRequest) -> message.ResponsePartitionSnapshot:
        response = replica.ask(request)
        assert isinstance(response, message.FetchSnapshotResponse)
        assert response.error_code == ErrorCode.NONE
        return response.topics[0].partitions[0]

    def test_in_pieces(self, leader: Replica) -> None:
        snapshot_id = snapshot(leader, b"state")
        whole = leader.snapshots.read(snapshot_id, 0, 1 << 20)
        got = b""
        while len(got) < len(whole):
            request = snapshot_request(2, leader.epoch, (snapshot_id.offset, snapshot_id.epoch), len(got), 50)
            partition = self.partition(leader, request)
            assert (partition.size, partition.position) == (len(whole), len(got))
            got += bytes(partition.unaligned_records or b"")  # type: ignore[arg-type]
        assert got == whole

    @pytest.mark.parametrize(
        ("snapshot_id", "position", "error"),
        [
            ((99, 1), 0, ErrorCode.SNAPSHOT_NOT_FOUND),
            ((0, 0), 0, ErrorCode.SNAPSHOT_NOT_FOUND),
            ((6, 1), -1, ErrorCode.POSITION_OUT_OF_RANGE),
            ((6, 1), 1 << 20, ErrorCode.POSITION_OUT_OF_RANGE),
        ],
    )
    def test_what_is_not_there(
        self, leader: Replica, snapshot_id: tuple[int, int], position: int, error: ErrorCode
    ) -> None:
        assert snapshot(leader) == OffsetAndEpoch(offset=6, epoch=1)
        request = snapshot_request(2, leader.epoch, snapshot_id, position)
        assert self.partition(leader, request).error_code == error

    def test_only_the_leader_of_the_epoch_serves(self, leader: Replica) -> None:
        snapshot(leader)
        request = snapshot_request(2, leader.epoch + 1, (6, 1))
        assert self.partition(leader, request).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
        follower = Replica().start().become_follower(2, 5)
        partition = self.partition(follower, snapshot_request(3, 5, (6, 1)))
        assert (partition.error_code, partition.current_leader.leader_id) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, 2)

    def test_other_topics_are_unknown(self, leader: Replica) -> None:
        request = snapshot_request(2, leader.epoch, (6, 1))
        request.topics[0].name = "orders"
        assert self.partition(leader, request).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    def test_an_empty_follower_is_sent_to_the_snapshot(self, leader: Replica) -> None:
        snapshot(leader)
        data = fetched(leader.ask(fetch_request(2, leader.epoch, 0, 0)))
        assert data.snapshot_id == fetch.SnapshotId(end_offset=6, epoch=1)

    def test_a_bootstrap_snapshot_is_not_for_others(self, leader: Replica) -> None:
        assert leader.snapshots.latest_id == BOOTSTRAP_SNAPSHOT_ID
        assert fetched(leader.ask(fetch_request(2, leader.epoch, 0, 0))).records

    def test_a_follower_behind_the_start_of_the_log_is_sent_to_the_snapshot(self, leader: Replica) -> None:
        leader.core.delete_before_snapshot(snapshot(leader))
        leader.append(b"d")
        for offset, epoch in ((3, 1), (6, 0), (5, 1)):
            data = fetched(leader.ask(fetch_request(2, leader.epoch, offset, epoch)))
            assert data.snapshot_id.end_offset == 6
        assert fetched(leader.ask(fetch_request(2, leader.epoch, 6, 1))).records


class TestDownloading:
    DATA = bootstrap_snapshot(1, voter_set(1, 2), [b"state"], START_MS)

    def begin(self, replica: Replica, snapshot_id: OffsetAndEpoch) -> None:
        data = fetch.PartitionData(partition_index=0, high_watermark=-1, records=b"")
        data.snapshot_id = fetch.SnapshotId(end_offset=snapshot_id.offset, epoch=snapshot_id.epoch)
        replica.respond(replica.take_one(fetch.FetchRequest)[0], fetch_response(2, 5, data))

    def piece(self, replica: Replica, end: int, error: ErrorCode = ErrorCode.NONE) -> None:
        sent, request = replica.take_one(message.FetchSnapshotRequest)
        asked = request.topics[0].partitions[0]
        partition = message.ResponsePartitionSnapshot(
            index=0,
            error_code=error,
            snapshot_id=asked.snapshot_id,
            current_leader=message.LeaderIdAndEpoch(leader_id=2, leader_epoch=5),
            size=len(self.DATA),
            position=asked.position,
            unaligned_records=self.DATA[asked.position : end],
        )
        topic = message.ResponseTopicSnapshot(name=METADATA_TOPIC, partitions=[partition])
        replica.respond(sent, message.FetchSnapshotResponse(topics=[topic]))

    def test_the_log_begins_behind_it(self) -> None:
        replica = Replica()
        replica.log.append(batch(0, 1, b"old"))
        replica.log.flush()
        replica.start().become_follower(2, 5)
        self.begin(replica, OffsetAndEpoch(offset=100, epoch=4))
        self.piece(replica, 40)
        assert replica.log.start_offset == 0
        self.piece(replica, len(self.DATA))
        assert (replica.log.start_offset, replica.log.end_offset, replica.core.high_watermark) == (100, 100, 100)
        assert replica.told[-1] == LoadSnapshot(OffsetAndEpoch(offset=100, epoch=4))
        assert replica.core.voters == voter_set(1, 2), "the voters are those of the snapshot"
        _, request = replica.take_one(fetch.FetchRequest)
        partition = request.topics[0].partitions[0]
        assert (partition.fetch_offset, partition.last_fetched_epoch) == (100, 4)

    def test_a_longer_log_of_an_earlier_epoch_goes_with_its_voters(self) -> None:
        replica = Replica()
        replica.start().become_follower(2, 5)
        removed = Replica(voters=(1,)).start()
        for sent in [replica.take_one(fetch.FetchRequest)[0]]:
            data = fetch.PartitionData(partition_index=0, high_watermark=-1, records=removed.log.read(0, 1 << 20))
            replica.respond(sent, fetch_response(2, 5, data))
        assert replica.core.voters == voter_set(1)
        self.begin(replica, OffsetAndEpoch(offset=2, epoch=4))
        self.piece(replica, len(self.DATA))
        assert (replica.log.start_offset, replica.log.end_offset) == (2, 2)
        assert replica.core.voters == voter_set(1, 2)

    def test_a_snapshot_that_is_gone_is_asked_for_no_more(self) -> None:
        replica = Replica().start().become_follower(2, 5)
        self.begin(replica, OffsetAndEpoch(offset=100, epoch=4))
        self.piece(replica, 0, ErrorCode.SNAPSHOT_NOT_FOUND)
        assert len(replica.take_sent(fetch.FetchRequest)) == 1

    def test_a_new_leader_means_a_new_start(self) -> None:
        replica = Replica().start().become_follower(2, 5)
        self.begin(replica, OffsetAndEpoch(offset=100, epoch=4))
        self.piece(replica, 40)
        replica.become_follower(3, 6)
        assert len(replica.take_sent(fetch.FetchRequest)) == 1
        assert replica.snapshots.latest_id == BOOTSTRAP_SNAPSHOT_ID

    def test_a_crash_between_the_snapshot_and_the_new_log_is_made_good(self) -> None:
        replica = Replica()
        replica.log.append(batch(0, 1, b"old"))
        replica.log.flush()
        replica.snapshots.store(OffsetAndEpoch(offset=100, epoch=4), self.DATA)
        replica.start()
        assert replica.log.start_offset == 100

    def test_pieces_are_asked_for_with_our_directory(self) -> None:
        replica = Replica().start().become_follower(2, 5)
        self.begin(replica, OffsetAndEpoch(offset=100, epoch=4))
        _, request = replica.take_one(message.FetchSnapshotRequest)
        assert (request.replica_id, request.topics[0].partitions[0].replica_directory_id) == (1, directory(1))
