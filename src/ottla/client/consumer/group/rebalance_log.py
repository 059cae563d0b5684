"""The log of a membership: one line for each rebalance, with its reason, and one for each interruption."""

import logging
from collections.abc import Collection

from ottla.client.consumer.group.effect import LogRebalance
from ottla.client.record import TopicPartition

_log = logging.getLogger(__name__)
_SHOWN_MAX = 12


def log_rebalance(group_id: str, rebalance: LogRebalance) -> None:
    """`[group=g member=m generation=3] rebalanced in 12 ms because …: +2 (t-0, t-1) -0, now 2; range`."""
    change = rebalance.change
    _log.info(
        "[group=%s member=%s generation=%d] rebalanced in %d ms because %s: +%s -%s, now %d%s",
        group_id,
        rebalance.member_id,
        rebalance.generation_id,
        rebalance.took_ms,
        rebalance.reason,
        _counted(change.added),
        _counted(change.revoked),
        len(change.assigned),
        f"; {rebalance.by}" if rebalance.by else "",
    )


def log_trouble(group_id: str, member_id: str, text: str) -> None:
    """`[group=g member=m] out of the group: …`."""
    _log.warning("[group=%s member=%s] interrupted: %s", group_id, member_id, text)


def _counted(partitions: Collection[TopicPartition]) -> str:
    """The number of partitions, and their names unless they are too many to read."""
    if not 0 < len(partitions) <= _SHOWN_MAX:
        return str(len(partitions))
    return f"{len(partitions)} ({', '.join(map(str, sorted(partitions)))})"
