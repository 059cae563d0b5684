from dataclasses import replace

import pytest

from ottla.protocol.errors import (
    ApiError,
    FencedLeaderEpochError,
    IneligibleReplicaError,
    InvalidRequestError,
    InvalidUpdateVersionError,
    NewLeaderElectedError,
    OperationNotAttemptedError,
    UnknownServerError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from ottla.replication.isr import Answered, Isr
from ottla.replication.ports import IsrMember, LeaderAndIsr


def proposal(*members: int, partition_epoch: int = 5) -> LeaderAndIsr:
    return LeaderAndIsr(1, 3, tuple(IsrMember(member, -1) for member in members), 0, partition_epoch)


@pytest.mark.parametrize(("proposed", "maximal"), [((1, 2, 3), {1, 2, 3}), ((1,), {1, 2}), ((1, 3), {1, 2, 3})])
def test_while_a_proposal_is_under_way_the_larger_isr_counts(proposed: tuple[int, ...], maximal: set[int]) -> None:
    isr = Isr(frozenset({1, 2}), 5)
    isr.propose(proposal(*proposed))
    assert (isr.members, isr.maximal, isr.is_pending) == ({1, 2}, maximal, True)


def test_an_accepted_proposal_holds() -> None:
    isr = Isr(frozenset({1, 2}), 5)
    proposed = proposal(1)
    isr.propose(proposed)
    assert isr.answered(proposed, replace(proposed, partition_epoch=6)) is Answered.ACCEPTED
    assert (isr.members, isr.maximal, isr.partition_epoch, isr.is_pending) == ({1}, {1}, 6, False)


@pytest.mark.parametrize("error", [IneligibleReplicaError(), OperationNotAttemptedError()])
def test_a_refused_proposal_changes_nothing(error: ApiError) -> None:
    isr = Isr(frozenset({1, 2}), 5)
    proposed = proposal(1, 2, 3)
    isr.propose(proposed)
    assert isr.answered(proposed, error) is Answered.REFUSED
    assert (isr.members, isr.maximal, isr.is_pending) == ({1, 2}, {1, 2}, False)


@pytest.mark.parametrize(
    "error",
    [
        UnknownTopicOrPartitionError(),
        UnknownTopicIdError(),
        FencedLeaderEpochError(),
        InvalidUpdateVersionError(),
        InvalidRequestError(),
        NewLeaderElectedError(),
    ],
)
def test_a_leader_that_is_behind_stays_cautious_until_the_metadata_tells(error: ApiError) -> None:
    isr = Isr(frozenset({1, 2}), 5)
    proposed = proposal(1, 2, 3)
    isr.propose(proposed)
    assert isr.answered(proposed, error) is Answered.UNDECIDED
    assert (isr.maximal, isr.is_pending) == ({1, 2, 3}, True)
    isr.commit(frozenset({1}), 7)
    assert (isr.members, isr.maximal, isr.is_pending) == ({1}, {1}, False)


def test_any_other_error_is_tried_again() -> None:
    isr = Isr(frozenset({1, 2}), 5)
    proposed = proposal(1)
    isr.propose(proposed)
    assert isr.answered(proposed, UnknownServerError()) is Answered.RETRY
    assert isr.is_pending


def test_an_answer_that_the_metadata_has_overtaken_is_stale() -> None:
    isr = Isr(frozenset({1, 2}), 5)
    proposed = proposal(1)
    isr.propose(proposed)
    isr.commit(frozenset({1, 2, 3}), 6)
    assert isr.answered(proposed, replace(proposed, partition_epoch=6)) is Answered.STALE
    assert isr.answered(proposed, IneligibleReplicaError()) is Answered.STALE
    assert isr.members == {1, 2, 3}


def test_an_answer_in_another_leader_epoch_is_not_believed() -> None:
    isr = Isr(frozenset({1, 2}), 5)
    proposed = proposal(1)
    isr.propose(proposed)
    assert isr.answered(proposed, replace(proposed, leader_epoch=4, partition_epoch=6)) is Answered.UNDECIDED
    assert isr.maximal == {1, 2}
