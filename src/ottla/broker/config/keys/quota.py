"""Quotas: how rates are measured, and the rates of replication that are set dynamically alone."""

from typing import Final

from ottla.base.config import ConfigKey, ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import CLASS, INT, LONG, LONG_MAX
from ottla.broker.config.keys.node_key import cluster_wide, fixed


def _windows(prefix: str, what: str) -> tuple[ConfigKey, ConfigKey]:
    return (
        fixed(f"{prefix}quota.window.num", INT, 11, Range(1), f"Samples that the rate of {what} is measured over."),
        fixed(f"{prefix}quota.window.size.seconds", INT, 1, Range(1), f"Length of a sample of {what}."),
    )


CLIENT_QUOTA_KEYS: Final = ConfigKeys((
    *_windows("", "clients"),
    *_windows("controller.", "changes that the controller makes"),
    fixed("client.quota.callback.class", CLASS, None, None,
          "A class that decides on the quotas of clients instead of what is stored."),
))  # fmt: skip

_THROTTLE_KEYS: Final = ConfigKeys((
    *_windows("replication.", "replication"),
    *_windows("alter.log.dirs.replication.", "moves between directories"),
))  # fmt: skip

QUOTA_KEYS: Final = CLIENT_QUOTA_KEYS | _THROTTLE_KEYS

DYNAMIC_QUOTA_KEYS: Final = ConfigKeys((
    cluster_wide("leader.replication.throttled.rate", LONG, LONG_MAX, Range(0),
                 "Bytes a second that leaders may send to followers for throttled replicas."),
    cluster_wide("follower.replication.throttled.rate", LONG, LONG_MAX, Range(0),
                 "Bytes a second that followers may fetch for throttled replicas."),
    cluster_wide("replica.alter.log.dirs.io.max.bytes.per.second", LONG, LONG_MAX, Range(0),
                 "Bytes a second that moves between directories may copy."),
))  # fmt: skip
"""Kafka knows these as dynamic configs only: in a file they are unknown."""
