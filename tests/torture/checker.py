"""All checks over one history."""

from collections.abc import Callable, Iterator

from tests.torture.anomaly import Anomaly
from tests.torture.check import read, transform, write
from tests.torture.history import History
from tests.torture.view import View

CHECKS: tuple[Callable[[View], Iterator[Anomaly]], ...] = (
    write.lost_writes,
    write.aborted_reads,
    write.precommitted_reads,
    write.duplicates,
    write.diverging_offsets,
    write.non_monotonic_sends,
    write.torn_transactions,
    write.hanging_transactions,
    write.diverging_replicas,
    read.non_monotonic_polls,
    read.skipped_records,
    read.lost_commits,
    read.stuck_groups,
    transform.doubled_transforms,
    transform.lost_transforms,
)


def check(history: History) -> list[Anomaly]:
    """Everything that is wrong with a history; nothing, if it kept all promises."""
    view = View(history)
    return [anomaly for look in CHECKS for anomaly in look(view)]
