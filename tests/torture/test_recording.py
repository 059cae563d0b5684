"""What a process wrote down is read back as it happened, also if it was killed in the middle."""

from pathlib import Path

from tests.torture.history import FOREVER_NS, Assigned, Decision, Outcome, Poll
from tests.torture.recording import Recorder, failures, load


def test_operations_and_what_came_of_them(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "p.1")
    sent = recorder.begin("send", partition="a-0", value="x", transaction="t", source=["g", "b-0", 7])
    decided = recorder.begin("decide", transaction="t", decision="commit")
    recorder.end(sent, Outcome.OK, offset=5)
    recorder.end(decided, Outcome.OK)
    history = load(tmp_path)
    [send] = history.sends
    assert (send.outcome, send.offset, send.transaction, send.source) == (Outcome.OK, 5, "t", ("g", "b-0", 7))
    [transaction] = history.transactions
    assert transaction.decision is Decision.COMMIT
    assert transaction.started_ns < transaction.ended_ns < FOREVER_NS


def test_a_killed_process(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "p.1")
    recorder.begin("send", partition="a-0", value="x")
    recorder.begin("commit", group="g", offsets={"a-0": 4, "a-1": 5})
    with (tmp_path / "p.1.jsonl").open("a") as lines:
        lines.write('{"t":9,"op":1,"end":"o')
    history = load(tmp_path)
    assert [send.outcome for send in history.sends] == [Outcome.UNKNOWN]
    assert [(found.offset, found.outcome, found.ended_ns) for found in history.commits] == [
        (4, Outcome.UNKNOWN, FOREVER_NS),
        (5, Outcome.UNKNOWN, FOREVER_NS),
    ]


def test_a_commit_that_failed_counts_as_unknown_unless_the_abort_behind_it_succeeded(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "p.1")
    for name, aborted in (("t1", Outcome.OK), ("t2", Outcome.UNKNOWN)):
        for decision, outcome in (("commit", Outcome.UNKNOWN), ("abort", aborted)):
            recorder.end(recorder.begin("decide", transaction=name, decision=decision), outcome)
    found = {transaction.id: transaction for transaction in load(tmp_path).transactions}
    assert (found["t1"].decision, found["t1"].outcome) == (Decision.ABORT, Outcome.OK)
    assert (found["t2"].decision, found["t2"].outcome) == (Decision.COMMIT, Outcome.UNKNOWN)


def test_reads_stay_in_order_and_complaints_are_counted(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "c.2")
    recorder.note("assigned", group="g", partitions=["a-0"])
    recorder.note("poll", records=[[3, "a-0", 0, "x"], [4, "a-0", 1, "y"]])
    recorder.note("poll", records=[[5, "a-0", 2, "z"]], committed=False)
    for _ in range(2):
        recorder.note("error", text="no")
    assigned, *polls = load(tmp_path).reads
    assert isinstance(assigned, Assigned)
    assert polls == [
        Poll("c.2", "a-0", 0, "x", 3),
        Poll("c.2", "a-0", 1, "y", 4),
        Poll("c.2", "a-0", 2, "z", 5, is_committed=False),
    ]
    assert failures(tmp_path) == {"c: no": 2}
