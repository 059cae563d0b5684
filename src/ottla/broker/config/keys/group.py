"""Consumer groups on the broker's side: the coordinator, committed offsets, classic and consumer groups' limits."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import OneOf, Range
from ottla.base.config.declaration import INT, INT_MAX, LIST, LONG, MIB, SHORT, STRING, AnyCase, Items
from ottla.broker.config.keys.node_key import cluster_wide, fixed, internal

_COORDINATOR_KEYS: Final = (
    fixed("group.coordinator.rebalance.protocols", LIST, ("classic", "consumer", "streams"),
          OneOf("consumer", "classic", "share", "streams"),
          "The group protocols that are served; `classic` always is."),
    fixed("group.coordinator.threads", INT, 4, Range(1),
          "Threads that run group coordinators."),
    fixed("group.coordinator.background.threads", INT, 2, Range(1),
          "Threads that compute assignments in the background."),
    fixed("group.coordinator.append.linger.ms", INT, -1, Range(-1),
          "How long a coordinator gathers records before it writes them; -1: as long as there is more to do."),
    cluster_wide("group.coordinator.cached.buffer.max.bytes", INT, MIB + 12, Range(524_288),
                 "Largest write buffer that a coordinator keeps for the next time."),
    fixed("group.min.session.timeout.ms", INT, 6_000, None,
          "Shortest session time-out that a member of a classic group may ask for."),
    fixed("group.max.session.timeout.ms", INT, 1_800_000, None,
          "Longest session time-out that a member of a classic group may ask for."),
    fixed("group.initial.rebalance.delay.ms", INT, 3_000, None,
          "How long a new classic group waits for more members before it first assigns partitions."),
    fixed("group.max.size", INT, INT_MAX, Range(1),
          "Most members of a classic group."),
)  # fmt: skip

_OFFSET_KEYS: Final = (
    fixed("offsets.commit.timeout.ms", INT, 5_000, Range(1),
          "How long committing offsets may wait for replicas."),
    fixed("offsets.load.buffer.size", INT, 5 * MIB, Range(1),
          "Bytes read at once when a coordinator loads its partition."),
    fixed("offsets.topic.replication.factor", SHORT, 3, Range(1),
          "Replicas of `__consumer_offsets`; the topic is made once that many brokers are there."),
    fixed("offsets.topic.num.partitions", INT, 50, Range(1),
          "Partitions of `__consumer_offsets`; not to be changed once it is made."),
    fixed("offsets.topic.segment.bytes", INT, 100 * MIB, Range(1),
          "Segment size of `__consumer_offsets`, small so that compaction and loading are quick."),
    fixed("offsets.topic.compression.codec", INT, 0, None,
          "Compression of what is written to `__consumer_offsets`, by its number in record batches."),
    fixed("offset.metadata.max.bytes", INT, 4_096, None,
          "Longest text that may be committed along with an offset."),
    fixed("offsets.retention.minutes", INT, 10_080, Range(1),
          "How long offsets are kept once their group has no members."),
    fixed("offsets.retention.check.interval.ms", LONG, 600_000, Range(1),
          "Time between two looks for offsets that are out of date."),
)  # fmt: skip

_CONSUMER_KEYS: Final = (
    fixed("group.consumer.session.timeout.ms", INT, 45_000, Range(1),
          "A member of a consumer group that was silent for this long is removed."),
    fixed("group.consumer.min.session.timeout.ms", INT, 45_000, Range(1),
          "Shortest session time-out that a consumer group may set."),
    fixed("group.consumer.max.session.timeout.ms", INT, 60_000, Range(1),
          "Longest session time-out that a consumer group may set."),
    fixed("group.consumer.heartbeat.interval.ms", INT, 5_000, Range(1),
          "Time between two heartbeats that members of consumer groups are told."),
    fixed("group.consumer.min.heartbeat.interval.ms", INT, 5_000, Range(1),
          "Shortest heartbeat interval that a consumer group may set."),
    fixed("group.consumer.max.heartbeat.interval.ms", INT, 15_000, Range(1),
          "Longest heartbeat interval that a consumer group may set."),
    fixed("group.consumer.max.size", INT, INT_MAX, Range(1),
          "Most members of a consumer group."),
    fixed("group.consumer.assignors", LIST, ("uniform", "range"), Items(1),
          "Assignors of consumer groups; the first is used where a group names none."),
    fixed("group.consumer.migration.policy", STRING, "bidirectional",
          AnyCase(("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL")),
          "Which way groups may change between the classic and the consumer protocol while they have members."),
    cluster_wide("group.consumer.assignment.interval.ms", INT, 1_000, Range(0),
                 "Shortest time between two assignments of a consumer group."),
    fixed("group.consumer.min.assignment.interval.ms", INT, 0, Range(0),
          "Shortest assignment interval that a consumer group may set."),
    fixed("group.consumer.max.assignment.interval.ms", INT, 15_000, Range(0),
          "Longest assignment interval that a consumer group may set."),
    internal("group.consumer.regex.refresh.interval.ms", INT, 600_000, Range(10_000),
             "How often topics are matched again with the patterns that consumer groups subscribe to."),
)  # fmt: skip

GROUP_KEYS: Final = ConfigKeys((*_COORDINATOR_KEYS, *_OFFSET_KEYS, *_CONSUMER_KEYS))
