"""Consume, transform, produce: every record below what was committed with it has exactly one result."""

from collections import defaultdict
from collections.abc import Iterator

from tests.torture.anomaly import Anomaly, AnomalyKind
from tests.torture.history import Outcome
from tests.torture.view import View


def doubled_transforms(view: View) -> Iterator[Anomaly]:
    """Two results of one record are there in the end."""
    for source, values in _results(view).items():
        if len(values) > 1:
            yield Anomaly(AnomalyKind.DOUBLED_TRANSFORM, f"{source} became {sorted(values)}")


def lost_transforms(view: View) -> Iterator[Anomaly]:
    """The group has committed past a record in a transaction, and no result of it is there."""
    results = _results(view)
    highest: dict[tuple[str, str], int] = defaultdict(int)
    for commit in view.history.commits:
        if commit.transaction is not None and commit.outcome is Outcome.OK and view.is_committed(commit.transaction):
            key = commit.group, commit.partition
            highest[key] = max(highest[key], commit.offset)
    for (group, partition), end in highest.items():
        for offset in view.history.final.get(partition, {}):
            if offset < end and (group, partition, offset) not in results:
                text = f"{partition} at {offset} has no result, though {group} committed {end}"
                yield Anomaly(AnomalyKind.LOST_TRANSFORM, text)


def _results(view: View) -> dict[tuple[str, str, int], list[str]]:
    """By source: the results that are there in the end."""
    found: dict[tuple[str, str, int], list[str]] = defaultdict(list)
    for send in view.history.sends:
        if send.source is not None and send.value in view.final_values:
            found[send.source].append(send.value)
    return found
