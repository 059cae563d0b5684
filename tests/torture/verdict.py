"""What a run showed, for people."""

from collections import Counter, defaultdict
from collections.abc import Mapping

from tests.torture.anomaly import Anomaly
from tests.torture.history import Assigned, Decision, History, Outcome

_SHOWN = 5


def verdict(history: History, anomalies: list[Anomaly], events: Mapping[str, int]) -> str:
    """A page: what was done, what was seen, what is wrong."""
    lines = [*_counts(history), *(f"{count:8,} {name}" for name, count in sorted(events.items()))]
    if not anomalies:
        return "\n".join([*lines, "No anomaly."])
    by_kind: dict[str, list[Anomaly]] = defaultdict(list)
    for anomaly in anomalies:
        by_kind[anomaly.kind].append(anomaly)
    for kind, found in by_kind.items():
        lines.append(f"{kind}: {len(found)}")
        lines += [f"    {anomaly.text}" for anomaly in found[:_SHOWN]]
    return "\n".join([*lines, f"{len(anomalies)} ANOMALIES of {len(by_kind)} kinds."])


def _counts(history: History) -> list[str]:
    sends = Counter(send.outcome for send in history.sends)
    ends = Counter((found.decision, found.outcome) for found in history.transactions)
    commits = Counter(found.outcome for found in history.commits)
    assignments = sum(isinstance(read, Assigned) for read in history.reads)
    return [
        f"{len(history.sends):8,} sends, {sends[Outcome.OK]:,} acknowledged",
        f"{len(history.transactions):8,} transactions, {ends[Decision.COMMIT, Outcome.OK]:,} committed,"
        f" {ends[Decision.ABORT, Outcome.OK]:,} aborted",
        f"{len(history.reads) - assignments:8,} records polled in {assignments:,} assignments",
        f"{len(history.commits):8,} offsets committed, {commits[Outcome.OK]:,} acknowledged",
        f"{sum(map(len, history.final.values())):8,} records in the end",
    ]
