"""Deliberately broken coordinators: for each invariant at least one that it must catch.

A canary changes one rule for as long as it is entered; the scenarios it is caught in are ordinary ones.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from ottla.base.buffer import Buffer
from ottla.base.frozen import frozen
from ottla.coordinator.group import group_coordinator, group_machine
from ottla.coordinator.group.classic import sync
from ottla.coordinator.group.classic.answer import synced_answer
from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.classic.offset_check import ClassicOffsetRules
from ottla.coordinator.group.consumer.assignment.membership import Membership
from ottla.coordinator.group.consumer.assignment.reconciliation import Goal
from ottla.coordinator.group.consumer.consumer_groups import ConsumerGroups
from ottla.coordinator.group.group_machine import GroupMachine
from ottla.coordinator.group.group_state import GroupsState
from ottla.coordinator.group.offsets.fetch import fetch
from ottla.coordinator.group.offsets.offsets_state import OffsetsState
from ottla.coordinator.group.offsets.replay import replay_offset_marker
from ottla.coordinator.ports import TransactionMarker
from ottla.coordinator.runtime.coordinator_result import NOTHING, CoordinatorResult
from ottla.coordinator.runtime.journal import Journal
from ottla.coordinator.runtime.waiting import Waiting
from ottla.coordinator.txn.end_transaction import EndClaim
from ottla.coordinator.txn.marker_job import MarkerJob
from ottla.coordinator.txn.transactions import Transactions
from ottla.coordinator.txn.txn_machine import TxnState
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.errors import ApiError
from ottla.protocol.messages.offset_fetch import OffsetFetchRequestGroup
from ottla.protocol.messages.sync_group import SyncGroupResponse
from ottla.testing.simulation.canary import Sabotage, replacing
from ottla.testing.simulation.coordinator.scenario import CoordinatorScenario, GroupPlan
from ottla.testing.simulation.network import NetworkProfile

_goal = Membership._goal
_decode = GroupMachine.decode
_end = Transactions._end
_append_open = Journal.append_open
_marker = MarkerJob.marker
_CHAOS_MS: Final = 5000


@frozen
class CoordinatorCanary:
    """A broken rule, and the invariant that must notice."""

    what: str
    invariant: str
    sabotage: Sabotage
    scenario: Callable[[int], CoordinatorScenario]
    """The kind of run that it shows in."""


def _readers(protocol: str, *faults: str) -> Callable[[int], CoordinatorScenario]:
    """A group that only reads."""

    def scenario(seed: int) -> CoordinatorScenario:
        group = GroupPlan("readers", protocol, members=3, static_members=0, topics=("clicks", "orders"))
        return _scenario(seed, group, faults)

    return scenario


def _transform(version: int, *faults: str, has_twins: bool = False) -> Callable[[int], CoordinatorScenario]:
    """A group that reads, transforms and writes."""

    def scenario(seed: int) -> CoordinatorScenario:
        protocol = ("eager", "consumer")[seed % 2]
        group = GroupPlan("transform", protocol, 3, 0, ("orders",), transactions=version, has_twins=has_twins)
        return _scenario(seed, group, faults)

    return scenario


def _tired(seed: int) -> CoordinatorScenario:
    """Clients stand still in the middle of transactions, often enough that one is caught between offsets and end."""
    return replace(_transform(2, "pause-client")(seed), fault_interval_ms=600, chaos_ms=4 * _CHAOS_MS)


def _scenario(seed: int, group: GroupPlan, faults: tuple[str, ...]) -> CoordinatorScenario:
    network = NetworkProfile(delay_ms_min=1, delay_ms_max=10)
    return CoordinatorScenario(
        seed, (group,), network=network, faults=faults, fault_interval_ms=400, chaos_ms=_CHAOS_MS
    )


def _everything_is_free(self: Membership, *arguments: Any) -> Goal:
    return _goal(self, *arguments)._replace(is_free=lambda topic_id, partition: True)


def _the_leaders_share(group: LiveGroup, member_id: str) -> SyncGroupResponse:
    return synced_answer(group, group.leader or member_id)


def _hear_nothing(self: ConsumerGroups, *arguments: Any) -> None:
    """Topics may grow as they like."""


def _take_every_commit(self: ClassicOffsetRules, *arguments: Any) -> None:
    """Whoever it comes from, and from whatever generation."""


def _answer_at_once(self: Waiting, end_offset: int, since_ms: int, answers: list[Any], settlements: list[Any]) -> None:
    self._ready.extend(answers)
    self._settlements.append((end_offset, settlements))


def _always_commit(self: MarkerJob) -> TransactionMarker:
    marker: TransactionMarker = _marker.__get__(self)
    return marker._replace(committed=True)


def _fetch_what_is_there(
    group: OffsetFetchRequestGroup, machine: GroupMachine, state: GroupsState, now_ms: int
) -> CoordinatorResult:
    rules = machine.rules(state, group.group_id)
    return CoordinatorResult((), fetch(state.offsets, rules, group, require_stable=False))


def _commit_in_any_case(state: OffsetsState, producer_id: int, *, committed: bool) -> OffsetsState:
    return replay_offset_marker(state, producer_id, committed=True)


def _rest(self: Transactions, state: TxnState, now_ms: int) -> CoordinatorResult:
    """What an earlier coordinator began is left to it."""
    return NOTHING


def _pass_over_tombstones(self: GroupMachine, key: Buffer, value: Buffer | None) -> CoordinatorRecord | None:
    return None if value is None else _decode(self, key, value)


def _keep_what_failed(self: Journal[Any]) -> ApiError | None:
    newest = self.state
    lost = _append_open(self)
    self.state = newest
    return lost


def _refuse_and_write(
    self: Transactions, claim: EndClaim, new_id: int, state: TxnState, now_ms: int
) -> CoordinatorResult:
    outcome = _end(self, claim, new_id, state, now_ms)
    metadata = state.get(claim.transactional_id)
    if not isinstance(outcome.response, ApiError) or metadata is None:
        return outcome
    record = self._record(claim.transactional_id, metadata._replace(last_update_ms=now_ms + 1))
    return CoordinatorResult([record], outcome.response)


CANARIES: Mapping[str, CoordinatorCanary] = {
    "gives-away-what-others-have": CoordinatorCanary(
        "partitions are given to members before others have given them up",
        "NoPartitionAssignedTwice",
        replacing(Membership, "_goal", _everything_is_free),
        _readers("consumer", "crash-client", "stop-client", "restart"),
    ),
    "tells-everybody-the-same": CoordinatorCanary(
        "members of a classic group are all told the leader's share",
        "NoPartitionAssignedTwice",
        replacing(sync, "synced_answer", _the_leaders_share),
        _readers("eager", "crash-client", "restart"),
    ),
    "overlooks-new-partitions": CoordinatorCanary(
        "groups don't hear that their topics have grown",
        "EveryPartitionAssigned",
        replacing(ConsumerGroups, "topics_changed", _hear_nothing),
        _readers("consumer", "grow-topic"),
    ),
    "takes-commits-of-zombies": CoordinatorCanary(
        "members commit in any generation",
        "CommittedOffsetsNeverGoBack",
        replacing(ClassicOffsetRules, "validate_commit", _take_every_commit),
        _readers("eager", "pause-client"),
    ),
    "answers-at-once": CoordinatorCanary(
        "answers don't wait for the replicas",
        "AcknowledgedIsCommitted",
        replacing(Waiting, "add", _answer_at_once),
        _readers("eager"),
    ),
    "commits-what-is-aborted": CoordinatorCanary(
        "every transaction ends with a commit marker",
        "TransactionsAreAtomic",
        replacing(MarkerJob, "marker", property(_always_commit)),
        _transform(1, "crash-client", "pause-client", "restart"),
    ),
    "reads-past-open-transactions": CoordinatorCanary(
        "offsets that a transaction may still change are handed out",
        "ExactlyOnce",
        replacing(group_coordinator, "_fetch_stable", _fetch_what_is_there),
        _tired,
    ),
    "counts-aborted-offsets": CoordinatorCanary(
        "offsets of aborted transactions count",
        "ExactlyOnce",
        replacing(group_machine, "replay_offset_marker", _commit_in_any_case),
        _transform(1, "crash-client", "pause-client", "restart"),
    ),
    "leaves-markers-unwritten": CoordinatorCanary(
        "a coordinator that takes over does not go on with the markers",
        "EveryTransactionEnds",
        replacing(Transactions, "_resume", _rest),
        _transform(2, "move-leader", "crash-broker", "restart"),
    ),
    "loads-without-tombstones": CoordinatorCanary(
        "what was deleted comes back with a load",
        "ReplayEquality",
        replacing(GroupMachine, "decode", _pass_over_tombstones),
        _readers("consumer", "stop-client", "crash-client", "restart"),
    ),
    "keeps-what-failed": CoordinatorCanary(
        "a failed append leaves its changes in the state",
        "ReplayEquality",
        replacing(Journal, "append_open", _keep_what_failed),
        _readers("consumer", "shrink-isr"),
    ),
    "refuses-and-writes": CoordinatorCanary(
        "a refused end of a transaction is written down",
        "RefusalsChangeNothing",
        replacing(Transactions, "_end", _refuse_and_write),
        _transform(1, "pause-client", has_twins=True),
    ),
}
