"""Makes the membership that a consumer's settings ask for."""

from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.config.settings import ClientSettings
from ottla.client.consumer.assignor.assignor_table import BUILT_IN, JAVA_NAMES, AssignorMismatchError
from ottla.client.consumer.assignor.partition_assignor import PartitionAssignor
from ottla.client.consumer.group.classic.membership import ClassicMembership
from ottla.client.consumer.group.consumer.membership import ConsumerMembership
from ottla.client.consumer.group.member_config import MemberConfig
from ottla.client.consumer.membership import GroupMembership, RebalanceHost


def membership_of(cluster: ClusterClient, settings: ClientSettings, host: RebalanceHost) -> GroupMembership:
    """A membership of the group `group.id`, not yet started, by `group.protocol`."""
    config = config_of(settings)
    if settings.string("group.protocol").lower() == "consumer":
        return ConsumerMembership(cluster, config, host)
    return ClassicMembership(cluster, config, host, assignors_of(settings))


def config_of(settings: ClientSettings) -> MemberConfig:
    """The settings of the membership."""
    return MemberConfig(
        group_id=settings.string("group.id"),
        group_instance_id=settings.optional_string("group.instance.id"),
        rack_id=settings.optional_string("client.rack") or None,
        session_timeout_ms=settings.integer("session.timeout.ms"),
        heartbeat_interval_ms=settings.integer("heartbeat.interval.ms"),
        max_poll_interval_ms=settings.integer("max.poll.interval.ms"),
        server_assignor=settings.optional_string("group.remote.assignor"),
    )


def assignors_of(settings: ClientSettings) -> tuple[PartitionAssignor, ...]:
    """The assignors of `partition.assignment.strategy`; `AssignorMismatchError` for what is none."""
    known = {**BUILT_IN, **{java: BUILT_IN[name] for java, name in JAVA_NAMES.items()}}
    assignors = settings.plugins("partition.assignment.strategy", known)
    for assignor in assignors:
        if not isinstance(assignor, PartitionAssignor):
            raise AssignorMismatchError(f"{assignor!r} in partition.assignment.strategy is no PartitionAssignor")
    return tuple(assignor for assignor in assignors if isinstance(assignor, PartitionAssignor))
