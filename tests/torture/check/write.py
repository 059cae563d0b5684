"""What was written: there, once, in order, at the offset that was said, and a transaction's records all or none."""

from collections import defaultdict
from collections.abc import Iterator

from tests.torture.anomaly import Anomaly, AnomalyKind
from tests.torture.history import Outcome, Poll
from tests.torture.view import View


def lost_writes(view: View) -> Iterator[Anomaly]:
    """Acknowledged, and its transaction committed, but not there in the end."""
    for send in view.history.sends:
        if view.is_promised(send) and send.value not in view.final_values:
            yield Anomaly(AnomalyKind.LOST_WRITE, f"{send.value} to {send.partition} at {send.offset} ({send})")


def aborted_reads(view: View) -> Iterator[Anomaly]:
    """Seen although nobody sent it; or as committed although the send failed, or its transaction was aborted or could
    never commit."""
    for value, places in view.places.items():
        send = view.send_of.get(value)
        if send is None or (value in view.committed_places and view.is_refused(send)):
            yield Anomaly(AnomalyKind.ABORTED_READ, f"{value} seen at {sorted(places)} ({send})")


def duplicates(view: View) -> Iterator[Anomaly]:
    """One value at two places; all producers are idempotent."""
    for value, places in view.places.items():
        if len(places) > 1:
            yield Anomaly(AnomalyKind.DUPLICATE, f"{value} at {sorted(places)}")


def diverging_offsets(view: View) -> Iterator[Anomaly]:
    """Two values at one place: by acknowledgement, by a poll or in the end."""
    values: dict[tuple[str, int], set[str]] = defaultdict(set)
    for send in view.history.sends:
        if send.outcome is Outcome.OK and send.offset is not None:
            values[send.partition, send.offset].add(send.value)
    for value, places in view.places.items():
        for place in places:
            values[place].add(value)
    for place, found in values.items():
        if len(found) > 1:
            yield Anomaly(AnomalyKind.DIVERGING_OFFSETS, f"{place} has {sorted(found)}")


def non_monotonic_sends(view: View) -> Iterator[Anomaly]:
    """A producer's later record of a partition at an earlier offset."""
    last: dict[tuple[str, str], tuple[int, str]] = {}
    for send in view.history.sends:
        if send.outcome is not Outcome.OK or send.offset is None:
            continue
        offset, value = last.get((send.process, send.partition), (-1, ""))
        if send.offset <= offset:
            text = f"{send.process} sent {value} at {offset} of {send.partition}, then {send.value} at {send.offset}"
            yield Anomaly(AnomalyKind.NON_MONOTONIC_SEND, text)
        last[send.process, send.partition] = send.offset, send.value


def torn_transactions(view: View) -> Iterator[Anomaly]:
    """Some of a transaction's acknowledged records are there in the end, and some are not."""
    for transaction_id, sends in view.sends_of_transaction.items():
        acknowledged = [send for send in sends if send.outcome is Outcome.OK]
        there = [send.value for send in acknowledged if send.value in view.final_values]
        missing = [send.value for send in acknowledged if send.value not in view.final_values]
        if there and missing:
            yield Anomaly(AnomalyKind.TORN_TRANSACTION, f"{transaction_id}: {there[:5]} are there, {missing[:5]} not")


def precommitted_reads(view: View) -> Iterator[Anomaly]:
    """Seen before its producer had asked for the commit."""
    for read in view.history.reads:
        if not isinstance(read, Poll) or not read.is_committed or (send := view.send_of.get(read.value)) is None:
            continue
        transaction = view.transaction(send)
        if transaction is not None and view.can_commit(transaction.id) and read.at_ns < transaction.started_ns:
            early_ms = (transaction.started_ns - read.at_ns) / 1e6
            text = f"{read.value} seen by {read.process} {early_ms:.3f} ms before the commit of {transaction.id}"
            yield Anomaly(AnomalyKind.PRECOMMITTED_READ, text)


def hanging_transactions(view: View) -> Iterator[Anomaly]:
    """Still open when every producer was gone and every transactional id had been taken over."""
    for partition, offset in view.history.undecided.items():
        yield Anomaly(AnomalyKind.HANGING_TRANSACTION, f"{partition} is stuck at offset {offset}")


def diverging_replicas(view: View) -> Iterator[Anomaly]:
    """Two nodes hold different records at one offset, or one of them none."""
    for text in view.history.replica_differences:
        yield Anomaly(AnomalyKind.DIVERGING_REPLICAS, text)
