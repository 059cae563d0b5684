"""`kafka-consumer-groups --delete` and `--delete-offsets`, with Kafka's words for what failed."""

from collections.abc import Sequence
from typing import Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.output.java_error import java_text
from ottla.cli.kafka.subcommand.consumer_groups_reset import named_partitions
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.record import TopicPartition
from ottla.protocol.errors import (
    ApiError,
    GroupAuthorizationFailedError,
    GroupIdNotFoundError,
    GroupSubscribedToTopicError,
    InvalidGroupIdError,
    NonEmptyGroupError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)

_GROUP_ERRORS: Final = (InvalidGroupIdError, GroupIdNotFoundError, GroupAuthorizationFailedError, NonEmptyGroupError)
_PARTITION_ERRORS: Final = (GroupSubscribedToTopicError, TopicAuthorizationFailedError, UnknownTopicOrPartitionError)


async def delete_groups(admin: AsyncAdmin, group_ids: Sequence[str]) -> None:
    """Deletes groups and says which."""
    failed: dict[str, OttlaError] = {}
    await admin.delete_groups(group_ids, errors=failed)
    deleted = ", ".join(f"'{group}'" for group in dict.fromkeys(group_ids) if group not in failed)
    if not failed:
        print(f"Deletion of requested consumer groups ({deleted}) was successful.")
        return
    print("\nError: Deletion of some consumer groups failed:")
    for group, error in failed.items():
        print(f"* Group '{group}' could not be deleted due to: {java_text(error)}")
    if deleted:
        print(f"\nThese consumer groups were deleted successfully: {deleted}")


async def delete_offsets(admin: AsyncAdmin, group_id: str, topics: Sequence[str]) -> None:
    """Deletes a group's offsets of topics and prints what came of each partition."""
    unknown: dict[str, OttlaError] = {}
    partitions = await named_partitions(admin, topics, errors=unknown)
    outcomes: dict[TopicPartition, OttlaError | None] = {TopicPartition(topic, -1): unknown[topic] for topic in unknown}
    failed: dict[TopicPartition, OttlaError] = {}
    reason: OttlaError | None = None
    try:
        await admin.delete_consumer_group_offsets(group_id, partitions, errors=failed)
    except ApiError as error:
        reason = error
        failed = dict.fromkeys(partitions, error)
    outcomes.update({partition: failed.get(partition) for partition in partitions})
    _print_result(group_id, reason or next(iter(failed.values()), None))
    _print_partitions(outcomes)


def _print_result(group_id: str, error: OttlaError | None) -> None:
    if error is None:
        print(f"Request succeeded for deleting offsets from group {group_id}.")
    elif isinstance(error, _GROUP_ERRORS):
        print(f"\nError: {error}")
    elif isinstance(error, _PARTITION_ERRORS):
        print("\nError: Encountered some partition-level error, see the follow-up details.")
    else:
        name = error.code.name if isinstance(error, ApiError) else "UNKNOWN_SERVER_ERROR"
        print(f"\nError: Encountered some unknown error: {name}")


def _print_partitions(outcomes: dict[TopicPartition, OttlaError | None]) -> None:
    width = max([15, *(len(partition.topic) for partition in outcomes)])
    print(f"\n{'TOPIC':<{width}} {'PARTITION':<10} {'STATUS':<15}", end="")
    for partition in sorted(outcomes, key=lambda partition: f"{partition.topic}{partition.partition}"):
        error = outcomes[partition]
        number = "-" if partition.partition < 0 else str(partition.partition)
        status = "Successful" if error is None else f"Error: {java_text(error)}"
        print(f"\n{partition.topic:<{width}} {number:<10} {status:<15}", end="")
    print()
