"""Streams groups on the broker's side: their limits."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import INT, INT_MAX
from ottla.broker.config.keys.node_key import cluster_wide, fixed

STREAMS_GROUP_KEYS: Final = ConfigKeys((
    fixed("group.streams.session.timeout.ms", INT, 45_000, Range(1),
          "A member of a streams group that was silent for this long is removed."),
    fixed("group.streams.min.session.timeout.ms", INT, 45_000, Range(1),
          "Shortest session time-out that a streams group may set."),
    fixed("group.streams.max.session.timeout.ms", INT, 60_000, Range(1),
          "Longest session time-out that a streams group may set."),
    fixed("group.streams.heartbeat.interval.ms", INT, 5_000, Range(1),
          "Time between two heartbeats that members of streams groups are told."),
    fixed("group.streams.min.heartbeat.interval.ms", INT, 5_000, Range(1),
          "Shortest heartbeat interval that a streams group may set."),
    fixed("group.streams.max.heartbeat.interval.ms", INT, 15_000, Range(1),
          "Longest heartbeat interval that a streams group may set."),
    fixed("group.streams.max.size", INT, INT_MAX, Range(1),
          "Most members of a streams group."),
    fixed("group.streams.num.standby.replicas", INT, 0, Range(0),
          "Standby copies of each task's state."),
    fixed("group.streams.max.standby.replicas", INT, 2, Range(0),
          "Most standby copies that a streams group may set."),
    fixed("group.streams.initial.rebalance.delay.ms", INT, 3_000, Range(0),
          "How long a new streams group waits for more members before it first assigns tasks."),
    cluster_wide("group.streams.assignment.interval.ms", INT, 1_000, Range(0),
                 "Shortest time between two assignments of a streams group."),
    fixed("group.streams.min.assignment.interval.ms", INT, 0, Range(0),
          "Shortest assignment interval that a streams group may set."),
    fixed("group.streams.max.assignment.interval.ms", INT, 15_000, Range(0),
          "Longest assignment interval that a streams group may set."),
))  # fmt: skip
