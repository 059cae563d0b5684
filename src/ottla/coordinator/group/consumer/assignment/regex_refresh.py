"""Which topics the expressions of a group match: looked up anew now and then, and written down.

The topics are looked through apart from the heartbeat that asked for it (a timer that is due at once), with what the
member that sent it may see; the group learns of the result by a record, and rebalances if it changed. A group does
that at most every ten seconds.

An expression comes from a client and is matched on the loop's thread, so the work on it is bounded: one that exceeds
that with some of the present topics is refused, and one that does so later keeps what it matched before.
"""

import enum
import logging
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

from ottla.base.log_limit import repeatable
from ottla.base.regex.linear_regex import LinearRegex
from ottla.base.regex.syntax import RegexError
from ottla.coordinator.group.caller import Visible
from ottla.coordinator.group.classic.result_builder import ResultBuilder
from ottla.coordinator.group.consumer.assignment.membership import Membership
from ottla.coordinator.group.consumer.draft import Draft
from ottla.coordinator.group.consumer.group import ConsumerGroup, ResolvedRegex
from ottla.coordinator.group.consumer.member import ConsumerMember
from ottla.coordinator.group.consumer.record import regex_record, regex_tombstone
from ottla.coordinator.group.rebalance_reason import RebalanceReason
from ottla.coordinator.runtime.coordinator_result import NOTHING, CoordinatorResult
from ottla.coordinator.runtime.timers import Timers
from ottla.protocol.errors import InvalidRegularExpressionError

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState

PAUSE_MS: Final = 10_000
_PROBED_TOPICS: Final = 100
_WORK_MAX: Final = 1_000_000
"""Places of an expression that may be visited each time, in a quarter of a second. `orders-.*` takes dozens, a choice
of two thousand names a tenth of it, however many topics there are."""

_log = logging.getLogger(__name__)


class RegexChange(enum.Enum):
    """A heartbeat's change of its member's expression."""

    NONE = enum.auto()
    UPDATED = enum.auto()
    RESOLVED = enum.auto()
    """And what it matches is known: the group can rebalance at once."""


class RegexRefresh:
    """The expressions of all groups in one shard."""

    def __init__(self, membership: Membership, timers: Timers) -> None:
        self._membership: Final = membership
        self._timers: Final = timers
        self._change_count = 0
        self._seen: dict[str, int] = {}
        """Group → how many changes of topics its expressions have seen."""

    def topics_changed(self) -> None:
        """Expressions may match other topics now."""
        self._change_count += 1

    def forget(self, group_id: str) -> None:
        """The group is gone."""
        self._seen.pop(group_id, None)
        self._timers.cancel(("consumer regex", group_id))

    def clear(self) -> None:
        """All groups are gone."""
        self._seen.clear()

    def update(self, draft: Draft, before: ConsumerMember, member: ConsumerMember) -> RegexChange:
        """Takes in the member's expression, after its subscription was written."""
        old, new = before.topic_regex, member.topic_regex
        if old == new:
            return RegexChange.NONE
        counts = draft.group.regex_counts
        if old and old not in counts:
            draft.write(regex_tombstone(draft.group_id, old))
        if not new:
            return RegexChange.RESOLVED if old else RegexChange.UPDATED
        if counts[new] == 1:
            self._probe(new)
            return RegexChange.UPDATED
        return RegexChange.RESOLVED if new in draft.group.regexes else RegexChange.UPDATED

    def _probe(self, regex: str) -> None:
        """Refuses what is no expression, and what would take too long."""
        try:
            compiled = LinearRegex(regex, work_max=_WORK_MAX)
            for name in islice(self._membership.context.metadata.topic_names(), _PROBED_TOPICS):
                compiled.matches(name)
        except RegexError as error:
            raise InvalidRegularExpressionError(
                f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {error}."
            ) from error

    def schedule(self, draft: Draft, visible: Visible) -> None:
        """Has the expressions looked up if it is time."""
        group = draft.group
        if not group.regex_counts:
            return
        resolved = next(iter(group.regexes.values()), None)
        age_ms = None if resolved is None else draft.now_ms - resolved.timestamp_ms
        if age_ms is not None and age_ms <= PAUSE_MS:
            return
        interval_ms = self._membership.context.config.consumer.regex_refresh_interval_ms
        if (
            age_ms is None
            or age_ms > interval_ms
            or group.regex_counts.keys() != group.regexes.keys()
            or self._seen.get(draft.group_id) != self._change_count
        ):
            operation = partial(self._resolve, draft.group_id, visible)
            self._timers.set_if_absent(("consumer regex", draft.group_id), draft.now_ms, operation)

    def _resolve(self, group_id: str, visible: Visible, state: "GroupsState", now_ms: int) -> CoordinatorResult:
        group = state.groups.get(group_id)
        if not isinstance(group, ConsumerGroup) or not group.regex_counts:
            return NOTHING
        self._seen[group_id] = self._change_count
        context = self._membership.context
        names = sorted(context.metadata.topic_names())
        draft = Draft(group_id, group, ResultBuilder(now_ms))
        changed = []
        for regex in sorted(group.regex_counts):
            before = group.regexes.get(regex)
            try:
                compiled = LinearRegex(regex, work_max=_WORK_MAX)
                topics = frozenset(visible([name for name in names if compiled.matches(name)]))
            except RegexError as error:
                said = "[group=%s] %r matches what it matched before: %s"
                _log.warning(said, group_id, regex, error, extra=repeatable("any group"))
                topics = frozenset() if before is None else before.topics
            if topics != (frozenset() if before is None else before.topics):
                changed.append(regex)
            resolved = ResolvedRegex(topics, context.image_version(), now_ms)
            draft.write(regex_record(group_id, regex, resolved))
        reason = RebalanceReason.METADATA_CHANGED if changed else None
        self._membership.refresh(draft, reason, f"{', '.join(map(repr, changed))} matches other topics")
        return draft.outcome()
