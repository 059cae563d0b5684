"""Which voters count when: appended, truncated, covered by a snapshot."""

from ottla.raft.identity import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch
from ottla.raft.log.control_batch import BatchPlace, write_control_batch
from ottla.raft.log.memory_log import MemoryLog, MemorySnapshots
from ottla.raft.snapshot.writer import bootstrap_snapshot
from ottla.raft.voters.history import LogHistory, VoterHistory
from tests.unit.raft.replica import START_MS, batch, voter_set


def voters_batch(offset: int, *node_ids: int) -> bytes:
    return write_control_batch(BatchPlace(offset, 1, START_MS), [voter_set(*node_ids).record()])


class Followed:
    def __init__(self) -> None:
        self.log = MemoryLog()
        self.snapshots = MemorySnapshots(self.log)
        self.history = VoterHistory(voter_set(1), self.log, self.snapshots)
        self.history.update()

    def append(self, data: bytes) -> None:
        self.log.append(data)
        self.history.update()

    def truncate(self, offset: int) -> None:
        self.log.truncate_to(offset)
        self.history.truncate_from(offset)


def test_static_voters_hold_until_the_log_names_others() -> None:
    followed = Followed()
    assert (followed.history.last_set, followed.history.last_set_offset) == (voter_set(1), None)
    followed.append(batch(0, 1, b"a"))
    followed.append(voters_batch(1, 1, 2))
    assert (followed.history.last_set, followed.history.last_set_offset) == (voter_set(1, 2), 1)
    followed.truncate(1)
    assert followed.history.last_set == voter_set(1)


def test_a_truncated_record_gives_way_to_the_one_before() -> None:
    followed = Followed()
    followed.append(voters_batch(0, 1, 2))
    followed.append(voters_batch(1, 1, 2, 3))
    followed.truncate(1)
    assert followed.history.last_set == voter_set(1, 2)
    followed.append(voters_batch(1, 2))
    assert followed.history.last_set == voter_set(2)
    assert followed.history.set_at(0) == voter_set(1, 2)


def test_a_snapshot_leaves_the_voters_before_it_for_records_that_may_still_go() -> None:
    followed = Followed()
    followed.append(voters_batch(0, 1, 2))
    followed.append(voters_batch(1, 1, 2, 3))
    followed.history.truncate_before(1)
    followed.truncate(1)
    assert followed.history.last_set == voter_set(1, 2)


def test_the_bootstrap_snapshot_counts_as_before_the_log() -> None:
    followed = Followed()
    followed.snapshots.store(BOOTSTRAP_SNAPSHOT_ID, bootstrap_snapshot(1, voter_set(1, 2, 3), (), START_MS))
    history = VoterHistory(voter_set(1), followed.log, followed.snapshots)
    history.update()
    assert (history.last_set, history.last_set_offset, history.kraft_version) == (voter_set(1, 2, 3), -1, 1)


def test_a_log_that_begins_anew_takes_its_voters_from_the_snapshot() -> None:
    followed = Followed()
    followed.append(voters_batch(0, 1, 2))
    followed.append(voters_batch(1, 1, 2, 3))
    snapshot_id = OffsetAndEpoch(offset=1, epoch=1)
    followed.snapshots.store(snapshot_id, bootstrap_snapshot(1, voter_set(2), (), START_MS))
    followed.snapshots.restart_log_at(snapshot_id)
    followed.history.restart()
    assert (followed.history.last_set, followed.history.last_set_offset) == (voter_set(2), 0)


def test_values_by_offset() -> None:
    history: LogHistory[str] = LogHistory()
    assert history.last() is None
    history.add(3, "a")
    history.add(7, "b")
    assert [history.at(offset) for offset in (2, 3, 6, 7, 99)] == [None, "a", "a", "b", "b"]
    history.truncate_before(9)
    assert history.at(6) is None
    assert history.last() == (7, "b")
