"""Offsets end when nobody has had a use for them for long enough (KIP-211)."""

import pytest

from ottla.base.ids import ZERO_UUID
from ottla.coordinator.group.offsets.expiry import expire
from ottla.coordinator.group.offsets.offsets_state import EMPTY_OFFSETS, OffsetAndMetadata
from ottla.coordinator.group.offsets.record import offset_record
from tests.unit.coordinator.offsets.fake import RULES, FakeRules, replayed

RETENTION_MS = 500


STATE = replayed(
    [
        offset_record("g", "t", 0, OffsetAndMetadata(5, -1, "", 1_000, -1, ZERO_UUID, -1)),
        offset_record("g", "u", 0, OffsetAndMetadata(5, -1, "", 2_000, -1, ZERO_UUID, -1)),
    ]
)


def expired(rules: FakeRules, now_ms: int) -> tuple[list[str], bool]:
    records, is_bare = expire(STATE, "g", rules, now_ms, retention_ms=RETENTION_MS)
    return sorted(record.key.topic for record in records), is_bare


def test_counted_from_the_commit() -> None:
    assert expired(RULES, 1_499) == ([], False)
    assert expired(RULES, 1_500) == (["t"], False)
    assert expired(RULES, 2_500) == (["t", "u"], True)


def test_counted_from_when_the_group_became_empty() -> None:
    assert expired(FakeRules(empty_since_ms=3_000), 3_499) == ([], False)
    assert expired(FakeRules(empty_since_ms=3_000), 3_500) == (["t", "u"], True)


def test_topics_in_use_and_groups_in_use_keep_theirs() -> None:
    assert expired(FakeRules(subscribed=frozenset({"t"})), 9_000) == (["u"], False)
    assert expired(FakeRules(expires=False), 9_000) == ([], False)


@pytest.mark.parametrize(("now_ms", "count"), [(1_099, 0), (1_100, 1)])
def test_a_commit_may_have_said_when(now_ms: int, count: int) -> None:
    stored = OffsetAndMetadata(5, -1, "", 1_000, 1_100, ZERO_UUID, -1)
    state = replayed([offset_record("g", "t", 0, stored)])
    assert len(expire(state, "g", FakeRules(empty_since_ms=0), now_ms, retention_ms=10).records) == count


def test_what_a_transaction_may_change_waits_for_its_end() -> None:
    state = replayed(
        [offset_record("g", "t", 0, OffsetAndMetadata(6, -1, "", 0, -1, ZERO_UUID, -1))], STATE, producer_id=1
    )
    records, is_bare = expire(state, "g", RULES, 9_000, retention_ms=RETENTION_MS)
    assert [record.key.topic for record in records] == ["u"]
    assert not is_bare


def test_a_group_without_offsets_is_bare_unless_a_transaction_is_open() -> None:
    assert expire(EMPTY_OFFSETS, "g", RULES, 0, retention_ms=1) == ([], True)
    state = replayed([offset_record("g", "t", 0, OffsetAndMetadata(6, -1, "", 0, -1, ZERO_UUID, -1))], producer_id=1)
    assert expire(state, "g", RULES, 0, retention_ms=1) == ([], False)
