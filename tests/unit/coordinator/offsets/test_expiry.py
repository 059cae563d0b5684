"""Offsets end when nobody has had a use for them for long enough (KIP-211)."""

import pytest

from ottla.base.ids import ZERO_UUID
from ottla.coordinator.group.offsets.expiry import OffsetStretch, expire, is_bare
from ottla.coordinator.group.offsets.offsets_state import EMPTY_OFFSETS, OffsetAndMetadata, OffsetsState
from ottla.coordinator.group.offsets.record import offset_record
from tests.unit.coordinator.offsets.fake import RULES, FakeRules, replayed

RETENTION_MS = 500


STATE = replayed(
    [
        offset_record("g", "t", 0, OffsetAndMetadata(5, -1, "", 1_000, -1, ZERO_UUID, -1)),
        offset_record("g", "u", 0, OffsetAndMetadata(5, -1, "", 2_000, -1, ZERO_UUID, -1)),
    ]
)


def expired(rules: FakeRules, now_ms: int, state: OffsetsState = STATE) -> list[str]:
    return [
        record.key.topic
        for topic in ("t", "u", "unknown")
        for record in expire(state, OffsetStretch("g", topic, (0, 1)), rules, now_ms, retention_ms=RETENTION_MS)
    ]


def test_counted_from_the_commit() -> None:
    assert expired(RULES, 1_499) == []
    assert expired(RULES, 1_500) == ["t"]
    assert expired(RULES, 2_500) == ["t", "u"]


def test_counted_from_when_the_group_became_empty() -> None:
    assert expired(FakeRules(empty_since_ms=3_000), 3_499) == []
    assert expired(FakeRules(empty_since_ms=3_000), 3_500) == ["t", "u"]


def test_topics_in_use_and_groups_in_use_keep_theirs() -> None:
    assert expired(FakeRules(subscribed=frozenset({"t"})), 9_000) == ["u"]
    assert expired(FakeRules(expires=False), 9_000) == []


@pytest.mark.parametrize(("now_ms", "topics"), [(1_099, []), (1_100, ["t"])])
def test_a_commit_may_have_said_when(now_ms: int, topics: list[str]) -> None:
    stored = OffsetAndMetadata(5, -1, "", 1_000, 1_100, ZERO_UUID, -1)
    assert expired(FakeRules(empty_since_ms=0), now_ms, replayed([offset_record("g", "t", 0, stored)])) == topics


def test_what_a_transaction_may_change_waits_for_its_end() -> None:
    state = replayed(
        [offset_record("g", "t", 0, OffsetAndMetadata(6, -1, "", 0, -1, ZERO_UUID, -1))], STATE, producer_id=1
    )
    assert expired(RULES, 9_000, state) == ["u"]
    assert not is_bare(state, "g", expired=2)


@pytest.mark.parametrize(("gone", "bare"), [(0, False), (1, False), (2, True)])
def test_a_group_is_bare_once_all_its_offsets_are_gone(gone: int, bare: bool) -> None:
    assert is_bare(STATE, "g", expired=gone) is bare


def test_a_group_without_offsets_is_bare_unless_a_transaction_is_open() -> None:
    assert is_bare(EMPTY_OFFSETS, "g", expired=0)
    state = replayed([offset_record("g", "t", 0, OffsetAndMetadata(6, -1, "", 0, -1, ZERO_UUID, -1))], producer_id=1)
    assert not is_bare(state, "g", expired=0)
