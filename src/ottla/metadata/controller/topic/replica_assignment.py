"""Replicas of new partitions: named by hand, or placed; and the partition that comes of them."""

from collections.abc import Sequence

from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.image.partition import LeaderRecoveryState, PartitionRegistration
from ottla.metadata.placement import ReplicaPlacer, UsableBroker
from ottla.protocol.errors import InvalidReplicaAssignmentError, InvalidReplicationFactorError


def place_replicas(context: ControllerContext, count: int, replication_factor: int) -> list[list[int]]:
    """The brokers of that many new partitions; those that shut down or are cordoned off altogether get none."""
    placer = ReplicaPlacer(
        (
            UsableBroker(broker.id, broker.rack, broker.fenced)
            for broker in context.image.cluster.brokers.values()
            if broker.takes_new_replicas and not context.sessions[broker.id].is_shutting_down
        ),
        context.ports.chance,
    )
    placer.check(replication_factor)
    return [placer.place(replication_factor) for _ in range(count)]


def check_manual_assignment(
    context: ControllerContext, replicas: Sequence[int], replication_factor: int | None
) -> None:
    """Raises `InvalidReplicaAssignmentError` unless `replicas` are that many different, registered brokers."""
    if not replicas:
        raise InvalidReplicaAssignmentError("The manual partition assignment includes an empty replica list.")
    previous = None
    for broker_id in sorted(replicas):
        if broker_id not in context.image.cluster.brokers:
            raise InvalidReplicaAssignmentError(
                f"The manual partition assignment includes broker {broker_id}, but no such broker is registered."
            )
        if broker_id == previous:
            raise InvalidReplicaAssignmentError(
                f"The manual partition assignment includes the broker {broker_id} more than once."
            )
        previous = broker_id
    if replication_factor is not None and len(replicas) != replication_factor:
        raise InvalidReplicaAssignmentError(
            f"The manual partition assignment includes a partition with {len(replicas)} replica(s), but this is not "
            f"consistent with previous partitions, which have {replication_factor} replica(s)."
        )


def new_partition(context: ControllerContext, replicas: Sequence[int]) -> PartitionRegistration | None:
    """A partition on `replicas`, led by the first active one; None if none of them is active."""
    isr = tuple(filter(context.image.cluster.is_active, replicas))
    if not isr:
        return None
    return PartitionRegistration(
        replicas=tuple(replicas),
        directories=tuple(map(context.default_directory, replicas)),
        isr=isr,
        removing_replicas=(),
        adding_replicas=(),
        elr=(),
        last_known_elr=(),
        leader=isr[0],
        leader_recovery_state=LeaderRecoveryState.RECOVERED.value,
        leader_epoch=0,
        partition_epoch=0,
    )


def new_partitions(context: ControllerContext, placements: Sequence[Sequence[int]]) -> list[PartitionRegistration]:
    """The partitions of placed replicas; a placement may hit upon fenced brokers only."""
    made = []
    for replicas in placements:
        partition = new_partition(context, replicas)
        if partition is None:
            raise InvalidReplicationFactorError(
                f"Unable to replicate the partition {len(replicas)} time(s): All brokers are currently fenced or in "
                "controlled shutdown."
            )
        made.append(partition)
    return made
