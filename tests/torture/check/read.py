"""What consumers got: in order, without gaps, and from where their group had committed."""

import bisect
from collections import defaultdict
from collections.abc import Iterator

from tests.torture.anomaly import Anomaly, AnomalyKind
from tests.torture.history import Assigned, Outcome, Poll
from tests.torture.view import View


def non_monotonic_polls(view: View) -> Iterator[Anomaly]:
    """Within one assignment a later poll gave an earlier record, or the same."""
    for before, after in _neighbours(view):
        if after.offset <= before.offset:
            text = f"{after.process} got {before.offset} of {after.partition}, then {after.offset}"
            yield Anomaly(AnomalyKind.NON_MONOTONIC_POLL, text)


def skipped_records(view: View) -> Iterator[Anomaly]:
    """Within one assignment a poll jumped over records that are there; or a group committed what nobody of it got."""
    offsets = {partition: sorted(log) for partition, log in view.history.final.items()}
    for before, after in _neighbours(view):
        missed = _between(offsets.get(after.partition, []), before.offset + 1, after.offset)
        if missed:
            text = f"{after.process} went from {before.offset} to {after.offset} of {after.partition} past {missed[:5]}"
            yield Anomaly(AnomalyKind.SKIPPED, text)
    seen: dict[tuple[str, str], set[int]] = defaultdict(set)
    for read in view.history.reads:
        if isinstance(read, Poll):
            seen[view.group_of_process.get(read.process, ""), read.partition].add(read.offset)
    for (group, partition), committed in _committed(view).items():
        missed = [
            offset
            for offset in _between(offsets.get(partition, []), 0, committed)
            if offset not in seen[group, partition]
        ]
        if missed:
            text = (
                f"{group} committed {committed} of {partition}, and none of it got {missed[:5]} ({len(missed)} records)"
            )
            yield Anomaly(AnomalyKind.SKIPPED, text)


def lost_commits(view: View) -> Iterator[Anomaly]:
    """A member was given a partition after a commit of it was acknowledged, and began before that."""
    promised = _acknowledged_commits(view)
    for process, reads in view.reads_of_process.items():
        fresh: dict[str, Assigned] = {}
        for read in reads:
            if isinstance(read, Assigned):
                fresh[read.partition] = read
            elif (assigned := fresh.pop(read.partition, None)) is not None:
                known = promised.get((assigned.group, read.partition), ([], []))
                count = bisect.bisect_left(known[0], assigned.at_ns)
                if count and read.offset < known[1][count - 1]:
                    text = (
                        f"{process} was given {read.partition} of {assigned.group} and began at {read.offset}, "
                        f"though {known[1][count - 1]} had been committed"
                    )
                    yield Anomaly(AnomalyKind.LOST_COMMIT, text)


def stuck_groups(view: View) -> Iterator[Anomaly]:
    """A group that did not reach the end although everything was left in peace."""
    for (group, partition), offset in view.history.behind.items():
        yield Anomaly(AnomalyKind.STUCK_GROUP, f"{group} stays at {offset} of {partition}")


def _neighbours(view: View) -> Iterator[tuple[Poll, Poll]]:
    """Each two polls of a process and partition that follow each other within one assignment."""
    for reads in view.reads_of_process.values():
        last: dict[str, Poll] = {}
        for read in reads:
            if isinstance(read, Assigned):
                last.pop(read.partition, None)
                continue
            if read.partition in last:
                yield last[read.partition], read
            last[read.partition] = read


def _committed(view: View) -> dict[tuple[str, str], int]:
    """The highest offset that each group is known to have committed, by group and partition."""
    highest: dict[tuple[str, str], int] = defaultdict(int)
    for commit in view.history.commits:
        counts = commit.outcome is Outcome.OK
        if counts and (commit.transaction is None or view.is_committed(commit.transaction)):
            key = commit.group, commit.partition
            highest[key] = max(highest[key], commit.offset)
    return highest


def _acknowledged_commits(view: View) -> dict[tuple[str, str], tuple[list[int], list[int]]]:
    """By group and partition: when commits were acknowledged, and the highest offset of all until then."""
    found: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for commit in view.history.commits:
        ended_ns = commit.ended_ns
        if commit.transaction is not None:
            # Offsets become the group's when the transaction is committed.
            transaction = view.transaction_of.get(commit.transaction)
            ended_ns = transaction.ended_ns if transaction and view.is_committed(transaction.id) else None
        if commit.outcome is Outcome.OK and ended_ns is not None:
            found[commit.group, commit.partition].append((ended_ns, commit.offset))
    merged: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
    for key, commits in found.items():
        times, highest = merged.setdefault(key, ([], []))
        for ended_ns, offset in sorted(commits):
            times.append(ended_ns)
            highest.append(max(offset, highest[-1] if highest else 0))
    return merged


def _between(offsets: list[int], first: int, end: int) -> list[int]:
    return offsets[bisect.bisect_left(offsets, first) : bisect.bisect_left(offsets, end)]
