"""`kafka-transactions`: looks at transactions and producers, and ends those that hang. Flags and output are Kafka's."""

import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.cli.argument import KAFKA_COMMIT, KAFKA_VERSION, ToolParser, add_commands
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.output.java_error import failed_call
from ottla.cli.kafka.session.tool_main import tool_main

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin
    from ottla.client.admin.value.transaction import AbortTransactionSpec

_COMMANDS: Final = (
    ("list", "list transactional ids"),
    ("describe", "describe the state of a transactional id"),
    ("describe-producers", "describe the producers that a partition remembers"),
    ("abort", "abort a hanging transaction in a partition"),
    ("find-hanging", "find transactions that nobody will end"),
    ("forceTerminateTransaction", "abort whatever a transactional id has open"),
)
_PRODUCERS: Final = (
    "ProducerId",
    "ProducerEpoch",
    "LatestCoordinatorEpoch",
    "LastSequence",
    "LastTimestamp",
    "CurrentTransactionStartOffset",
)
_DESCRIPTION: Final = (
    "CoordinatorId",
    "TransactionalId",
    "ProducerId",
    "ProducerEpoch",
    "TransactionState",
    "TransactionTimeoutMs",
    "CurrentTransactionStartTimeMs",
    "TransactionDurationMs",
    "TopicPartitions",
)


@tool_main()
def main(arguments: list[str]) -> None:
    """Runs the tool."""
    options = _parser().parse_args(arguments)
    from ottla.cli.kafka.argument.client_setting import properties_in
    from ottla.cli.kafka.session.admin_session import run_with

    try:
        given: dict[str, object] = dict(properties_in(options.command_config))
    except ToolError as error:
        raise failed_call("Failed to load admin client properties", error) from error
    given["bootstrap.servers"] = options.bootstrap_server
    run_with(given, lambda admin: _run(admin, options))


def _parser() -> ToolParser:
    parser = ToolParser(prog="kafka-transactions.sh", description="Look after transactions.", help_code=1)
    parser.add_argument(
        "-v",
        "--version",
        action="version",
        version=f"{KAFKA_VERSION} (Commit:{KAFKA_COMMIT})",
        help="print the version of Kafka",
    )
    parser.add_argument("--command-config", metavar="FILE", help="a properties file with settings of the admin client")
    parser.add_argument("--bootstrap-server", metavar="host:port", required=True, help="the brokers to connect to")
    commands = add_commands(parser, _COMMANDS)
    commands["list"].add_argument("--duration-filter", type=int, help="only those open for longer, in ms")
    commands["list"].add_argument("--transactional-id-pattern", help="only ids that match the regular expression")
    commands["describe"].add_argument("--transactional-id", required=True, help="the transactional id")
    commands["forceTerminateTransaction"].add_argument("--transactionalId", required=True, help="the transactional id")
    for name in ("describe-producers", "abort"):
        commands[name].add_argument("--topic", required=True, help="the topic")
        commands[name].add_argument("--partition", type=int, required=True, help="the partition")
    commands["describe-producers"].add_argument("--broker-id", type=int, help="a replica to ask, not the leader")
    commands["abort"].add_argument("--start-offset", type=int, help="where the transaction starts")
    for name, kind in (("producer-id", "id"), ("producer-epoch", "epoch"), ("coordinator-epoch", "epoch")):
        text = f"for brokers older than 3.0: the {kind} of the {name.split('-')[0]}"
        commands["abort"].add_argument(f"--{name}", type=int, help=text)
    hanging = commands["find-hanging"]
    hanging.add_argument("--broker-id", type=int, help="search the replicas of this broker")
    hanging.add_argument("--max-transaction-timeout", type=int, default=15, help="minutes after which one hangs")
    hanging.add_argument("--topic", help="search this topic")
    hanging.add_argument("--partition", type=int, help="search this partition of the topic")
    return parser


async def _run(admin: "AsyncAdmin", options: Namespace) -> None:
    if options.command == "list":
        await _list(admin, options)
    elif options.command == "describe":
        await _describe(admin, options.transactional_id)
    elif options.command == "describe-producers":
        await _describe_producers(admin, options)
    elif options.command == "abort":
        await _abort(admin, options)
    elif options.command == "find-hanging":
        from ottla.cli.kafka.subcommand.transactions_hanging import find_hanging

        await find_hanging(admin, options)
    else:
        try:
            await admin.force_terminate_transaction(options.transactionalId)
        except OttlaError as error:
            raise failed_call(
                f"Failed to force terminate transactionalId `{options.transactionalId}`", error
            ) from error


async def _list(admin: "AsyncAdmin", options: Namespace) -> None:
    from ottla.cli.kafka.output.table import table_text

    try:
        found = await admin.list_transactions(
            longer_than_ms=options.duration_filter, id_pattern=options.transactional_id_pattern
        )
    except OttlaError as error:
        raise failed_call("Failed to list transactions", error) from error
    rows = [(one.transactional_id, one.coordinator_id, one.producer_id, one.state) for one in found]
    print(table_text(("TransactionalId", "Coordinator", "ProducerId", "TransactionState"), rows))


async def _describe(admin: "AsyncAdmin", transactional_id: str) -> None:
    import time

    from ottla.cli.kafka.output.table import table_text
    from ottla.protocol.errors import TransactionalIdNotFoundError

    try:
        found = (await admin.describe_transactions([transactional_id]))[transactional_id]
    except OttlaError as error:
        what = f"Failed to describe transaction state of transactional-id `{transactional_id}`"
        if isinstance(error, TransactionalIdNotFoundError):
            raise ToolError(
                f"{what}: DescribeTransactions request for transactionalId `{transactional_id}` failed because the ID "
                "could not be found. Enable debug logging for additional detail."
            ) from error
        raise failed_call(what, error) from error
    start = found.start_time_ms
    row = (
        found.coordinator_id,
        transactional_id,
        found.producer_id,
        found.producer_epoch,
        found.state,
        found.timeout_ms,
        "None" if start is None else start,
        "None" if start is None else round(time.time() * 1000) - start,
        ",".join(map(str, sorted(found.partitions))),
    )
    print(table_text(_DESCRIPTION, [row]))


async def _describe_producers(admin: "AsyncAdmin", options: Namespace) -> None:
    from ottla.cli.kafka.output.table import table_text
    from ottla.client.record import TopicPartition

    partition = TopicPartition(options.topic, options.partition)
    try:
        found = (await admin.describe_producers([partition], broker_id=options.broker_id))[partition]
    except OttlaError as error:
        whom = "leader" if options.broker_id is None else f"broker {options.broker_id}"
        raise failed_call(f"Failed to describe producers for partition {partition} on {whom}", error) from error
    rows = [
        (
            one.producer_id,
            one.producer_epoch,
            -1 if one.coordinator_epoch is None else one.coordinator_epoch,
            one.last_sequence,
            one.last_timestamp,
            one.current_transaction_start_offset,
        )
        for one in found
    ]
    print(table_text(_PRODUCERS, rows))


async def _abort(admin: "AsyncAdmin", options: Namespace) -> None:
    spec = await _abort_spec(admin, options)
    try:
        await admin.abort_transaction(spec)
    except OttlaError as error:
        shown = (
            f"AbortTransactionSpec(topicPartition={spec.partition}, producerId={spec.producer_id}, "
            f"producerEpoch={spec.producer_epoch}, coordinatorEpoch={spec.coordinator_epoch})"
        )
        raise failed_call(f"Failed to abort transaction {shown}", error) from error


async def _abort_spec(admin: "AsyncAdmin", options: Namespace) -> "AbortTransactionSpec":
    from ottla.client.admin.value.transaction import AbortTransactionSpec
    from ottla.client.record import TopicPartition

    partition = TopicPartition(options.topic, options.partition)
    if options.start_offset is None and options.producer_id is None:
        raise ToolError(
            "The transaction to abort must be identified either with --start-offset (for brokers on 3.0 or above) or "
            "with --producer-id, --producer-epoch, and --coordinator-epoch (for older brokers)"
        )
    if options.start_offset is None:
        if options.producer_epoch is None:
            raise ToolError("Missing required argument --producer-epoch")
        if options.coordinator_epoch is None:
            raise ToolError("Missing required argument --coordinator-epoch")
        return AbortTransactionSpec(
            partition, options.producer_id, options.producer_epoch, max(0, options.coordinator_epoch)
        )
    try:
        producers = (await admin.describe_producers([partition]))[partition]
    except OttlaError as error:
        raise failed_call(f"Failed to validate producer state for partition {partition}", error) from error
    for one in producers:
        if one.current_transaction_start_offset == options.start_offset:
            return AbortTransactionSpec(partition, one.producer_id, one.producer_epoch, one.coordinator_epoch or 0)
    raise ToolError(
        f"Could not find any open transactions starting at offset {options.start_offset} on partition {partition}"
    )


if __name__ == "__main__":
    sys.exit(main())
