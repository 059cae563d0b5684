"""Subscriptions that exclude each other, and positions that move."""

import re

import pytest

from ottla.client.consumer.offset.offset_reset import EARLIEST
from ottla.client.consumer.subscription_pattern import SubscriptionPattern
from ottla.client.consumer.subscription_state import (
    UNCHECKED,
    PartitionState,
    Position,
    SubscriptionKind,
    SubscriptionState,
)
from ottla.client.errors import InvalidStateError
from ottla.client.record import OffsetAndMetadata, TopicPartition

A, B = TopicPartition("a", 0), TopicPartition("b", 0)


def test_partitions_that_stay_keep_their_positions() -> None:
    subscription = SubscriptionState()
    subscription.assign_manually([A, B])
    subscription.state_of(A).seek(Position(7, 2))
    gone = subscription.state_of(B)
    version = gone.version
    subscription.assign_manually([A])
    assert subscription.positions() == {A: OffsetAndMetadata(7, "", 2)}
    assert gone.version > version
    with pytest.raises(InvalidStateError, match=r"b-0 is not assigned .* assigned are a-0"):
        subscription.state_of(B)


@pytest.mark.parametrize(
    ("kind", "subscribe"),
    [
        (SubscriptionKind.TOPICS, lambda state: state.subscribe_topics(["a"], None)),
        (SubscriptionKind.PATTERN, lambda state: state.subscribe_pattern(re.compile("a"), None)),
        (SubscriptionKind.SERVER_PATTERN, lambda state: state.subscribe_pattern(SubscriptionPattern("a"), None)),
        (SubscriptionKind.MANUAL, lambda state: state.assign_manually([A])),
    ],
)
def test_kinds_exclude_each_other(kind: SubscriptionKind, subscribe: object) -> None:
    subscription = SubscriptionState()
    subscribe(subscription)  # type: ignore[operator]
    assert subscription.kind is kind
    other = subscription.assign_manually if kind is not SubscriptionKind.MANUAL else subscription.subscribe_pattern
    with pytest.raises(InvalidStateError, match=r"unsubscribe\(\) first"):
        other(*(([A],) if kind is not SubscriptionKind.MANUAL else (re.compile("a"), None)))
    subscription.unsubscribe()
    subscription.assign_manually([B])
    assert subscription.assignment() == {B}


def test_a_pattern_matches_whole_names() -> None:
    subscription = SubscriptionState()
    subscription.subscribe_pattern(re.compile("a.?"), None)
    assert subscription.match(["a", "ab", "abc", "b"])
    assert subscription.topics == {"a", "ab"}
    assert not subscription.match(["ab", "a"])


def test_a_seek_outdates_what_was_fetched() -> None:
    """The module's example."""
    state = PartitionState(A)
    state.seek(Position(7))
    version, state.fetch_position = state.version, Position(20)
    state.validated_epoch = 4
    state.seek(Position(3))
    assert (state.position, state.fetch_position) == (Position(3), Position(3))
    assert state.version == version + 1
    assert state.validated_epoch == UNCHECKED


def test_a_reset_leaves_no_position_and_a_refetch_keeps_it() -> None:
    state = PartitionState(A)
    state.seek(Position(7))
    state.fetch_position = Position(20)
    state.refetch()
    assert (state.position, state.fetch_position, state.is_fetchable) == (Position(7), Position(7), True)
    state.request_reset(EARLIEST)
    assert (state.position, state.reset, state.is_fetchable) == (None, EARLIEST, False)


def test_what_is_paused_or_about_to_go_is_not_delivered() -> None:
    state = PartitionState(A)
    state.seek(Position(7))
    state.is_paused = True
    assert not state.is_fetchable
    state.is_paused, state.is_pending_revocation = False, True
    assert not state.is_deliverable
