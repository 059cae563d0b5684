"""What groups without members allow with their offsets: the short rules say what the full ones say."""

from itertools import product

import pytest

from ottla.coordinator.group.classic.group import ClassicGroup
from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.classic.offset_check import ClassicOffsetRules, IdleOffsetRules
from ottla.coordinator.group.classic.session import Sessions
from ottla.coordinator.group.offsets.offset_rules import CommitClaim, OffsetRules
from ottla.coordinator.runtime.coordinator_result import NOTHING
from ottla.coordinator.runtime.timers import Timers
from ottla.protocol.errors import ApiError, ErrorCode

GROUPS = [
    ClassicGroup(protocol_type=protocol_type, generation=3, state_timestamp_ms=timestamp)
    for protocol_type, timestamp in product((None, "consumer", "connect"), (-1, 500))
]
CLAIMS = [
    CommitClaim(*claim, api_version=9)
    for claim in product(("", "m"), (None, "i"), (-1, 0, 3), (False, True))  # type: ignore[arg-type]
]


def verdict(rules: OffsetRules, claim: CommitClaim) -> ErrorCode:
    try:
        assert rules.validate_commit(claim, 1_000) is None
    except ApiError as refusal:
        return refusal.code
    return ErrorCode.NONE


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_idle_groups(group: ClassicGroup) -> None:
    sessions = Sessions(Timers(), lambda *_: NOTHING)
    full, short = ClassicOffsetRules(LiveGroup("g", group), sessions), IdleOffsetRules(group)
    assert [verdict(full, claim) for claim in CLAIMS] == [verdict(short, claim) for claim in CLAIMS]
    assert full.is_subscribed("orders") == short.is_subscribed("orders")
    assert full.expires_from_ms(400) == short.expires_from_ms(400)
    for rules in (full, short):
        rules.validate_delete()
        rules.validate_fetch("m", 3)
