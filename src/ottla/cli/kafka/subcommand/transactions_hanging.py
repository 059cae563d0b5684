"""`kafka-transactions find-hanging`: open transactions in partitions that no coordinator will end."""

import time
from argparse import Namespace
from collections.abc import Sequence
from typing import Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.output.java_error import failed_call
from ottla.cli.kafka.output.table import table_text
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.transaction import ProducerState, TransactionDescription
from ottla.client.record import TopicPartition
from ottla.protocol.errors import TransactionalIdNotFoundError

_HEADERS: Final = (
    "Topic",
    "Partition",
    "ProducerId",
    "ProducerEpoch",
    "CoordinatorEpoch",
    "StartOffset",
    "LastTimestamp",
    "Duration(min)",
)
_MINUTE_MS: Final = 60_000
_BATCH: Final = 500

Open = tuple[TopicPartition, ProducerState]


async def find_hanging(admin: AsyncAdmin, options: Namespace) -> None:
    """Prints them."""
    if options.topic is None and options.broker_id is None:
        raise ToolError(
            "The `find-hanging` command requires either --topic or --broker-id to limit the scope of the search"
        )
    if options.partition is not None and options.topic is None:
        raise ToolError("The --partition argument requires --topic to be provided")
    partitions = await _partitions(admin, options)
    found = await _open_transactions(admin, options, partitions)
    _print(await _without_coordinator(admin, found))


async def _partitions(admin: AsyncAdmin, options: Namespace) -> list[TopicPartition]:
    if options.partition is not None:
        return [TopicPartition(options.topic, options.partition)]
    topics = [options.topic] if options.topic is not None else list(await admin.list_topics(include_internal=True))
    try:
        described = await admin.describe_topics(topics)
    except OttlaError as error:
        raise failed_call(f"Failed to describe {len(topics)} topics", error) from error
    return [
        TopicPartition(topic.name, info.partition)
        for topic in described.values()
        for info in topic.partitions
        if options.broker_id is None or options.broker_id in info.replicas
    ]


async def _open_transactions(admin: AsyncAdmin, options: Namespace, partitions: Sequence[TopicPartition]) -> list[Open]:
    """Transactions that are open for longer than they may be."""
    found: list[Open] = []
    for start in range(0, len(partitions), _BATCH):
        batch = partitions[start : start + _BATCH]
        try:
            producers = await admin.describe_producers(batch, broker_id=options.broker_id)
        except OttlaError as error:
            whom = "Optional.empty" if options.broker_id is None else f"Optional[{options.broker_id}]"
            what = f"Failed to describe producers for {len(batch)} partitions on broker {whom}"
            raise failed_call(what, error) from error
        oldest = round(time.time() * 1000) - options.max_transaction_timeout * _MINUTE_MS
        found += [
            (partition, state)
            for partition, states in producers.items()
            for state in states
            if state.current_transaction_start_offset is not None and state.last_timestamp < oldest
        ]
    return found


async def _without_coordinator(admin: AsyncAdmin, found: Sequence[Open]) -> list[Open]:
    """Those whose coordinator is unknown, or does not know that the partition is part of the transaction."""
    if not found:
        return []
    listed = await admin.list_transactions(producer_ids={state.producer_id for _, state in found})
    names = {one.producer_id: one.transactional_id for one in listed}
    failed: dict[str, OttlaError] = {}
    described = await admin.describe_transactions(names.values(), errors=failed)
    for error in failed.values():
        if not isinstance(error, TransactionalIdNotFoundError):
            raise failed_call(f"Failed to describe {len(names)} transactions", error) from error

    def is_hanging(partition: TopicPartition, state: ProducerState) -> bool:
        known: TransactionDescription | None = described.get(names.get(state.producer_id, ""))
        return known is None or partition not in known.partitions

    return [(partition, state) for partition, state in found if is_hanging(partition, state)]


def _print(hanging: Sequence[Open]) -> None:
    now_ms = round(time.time() * 1000)
    rows = [
        (
            partition.topic,
            partition.partition,
            state.producer_id,
            state.producer_epoch,
            -1 if state.coordinator_epoch is None else state.coordinator_epoch,
            state.current_transaction_start_offset,
            state.last_timestamp,
            (now_ms - state.last_timestamp) // _MINUTE_MS,
        )
        for partition, state in hanging
    ]
    print(table_text(_HEADERS, rows))
