"""The identity of a node: its roles, its id, and the time-outs between it and the controllers."""

from typing import Final

from ottla.base.config import REQUIRED, ConfigKeys
from ottla.base.config.check import OneOf, Range
from ottla.base.config.declaration import BOOLEAN, INT, LIST, LONG, LONG_MAX, STRING, Items
from ottla.broker.config.keys.node_key import cluster_wide, fixed, internal

NODE_KEYS: Final = ConfigKeys((
    fixed("process.roles", LIST, REQUIRED, OneOf("broker", "controller"),
          "What this process does: `broker`, `controller`, or both, separated by a comma."),
    fixed("node.id", INT, REQUIRED, Range(0),
          "The number of this node, which no other node of the cluster has, whatever its role."),
    fixed("broker.id", INT, -1, None,
          "The former name of `node.id`; where both are given they must be equal."),
    fixed("broker.rack", STRING, None, None,
          "Where the broker stands; replicas of a partition are spread over racks, and consumers may fetch nearby."),
    fixed("initial.broker.registration.timeout.ms", INT, 60_000, None,
          "A broker that the controller has not registered for this long after its start gives up."),
    fixed("broker.heartbeat.interval.ms", INT, 2_000, None,
          "Time between two signs of life from a broker to the controller."),
    fixed("broker.session.timeout.ms", INT, 9_000, None,
          "A broker that the controller has not heard from for this long is fenced: its partitions get other leaders."),
    fixed("controlled.shutdown.enable", BOOLEAN, True, None,
          "Whether a broker that is asked to stop first hands its partitions to others."),
    internal("server.max.startup.time.ms", LONG, LONG_MAX, Range(0),
             "Longest time that starting may take."),
    cluster_wide("config.providers", LIST, (), Items(),
                 "Names of sources that `${name:path:key}` in other values refers to: a file, the environment, …; "
                 "`config.providers.<name>.class` says which."),
    internal("unstable.api.versions.enable", BOOLEAN, False, None,
             "Serve versions of APIs that are still being worked on."),
    internal("unstable.feature.versions.enable", BOOLEAN, False, None,
             "Offer feature levels that are still being worked on."),
))  # fmt: skip
