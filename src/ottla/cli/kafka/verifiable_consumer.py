"""`kafka-verifiable-consumer`: reads a topic as a member of a group and tells in JSON what happens to it.

Arguments and events are Kafka's: this is what its system tests drive. Offsets are committed after each poll, and the
outcome told, unless that is left to the consumer. A signal ends the reading and leaves the group.
"""

import argparse
import sys
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.client_setting import known_settings, properties_in
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.argument.perf_argument import PerfParser, integer
from ottla.cli.kafka.session.tool_main import tool_main

if TYPE_CHECKING:
    from ottla.client import Consumer, OffsetAndMetadata, TopicPartition
    from ottla.client.consumer.fetch.records import Records

_DESCRIPTION: Final = (
    "This tool consumes messages from a specific topic and emits consumer events (e.g. group rebalances, received "
    "messages, and offsets committed) as JSON objects to STDOUT."
)
_RANGE: Final = "org.apache.kafka.clients.consumer.RangeAssignor"
_LOGGER: Final = "org.apache.kafka.tools.VerifiableConsumer"
_LONG_S: Final = 3600.0


def _parser() -> PerfParser:
    parser = PerfParser("verifiable-consumer", _DESCRIPTION)
    add = parser.add_argument
    connection = parser.add_mutually_exclusive_group(required=True)
    connection.add_argument(
        "--bootstrap-server", metavar="HOST1:PORT1[,HOST2:PORT2[...]]", help="The brokers to connect to."
    )
    add("--topic", required=True, metavar="TOPIC", help="Read this topic.")
    add("--group-protocol", default="classic", metavar="GROUP-PROTOCOL", help="classic or consumer.")
    add("--group-remote-assignor", metavar="GROUP-REMOTE-ASSIGNOR", help="The assignor of the consumer protocol.")
    add("--group-id", required=True, metavar="GROUP-ID", help="The consumer group.")
    add("--group-instance-id", metavar="GROUP-INSTANCE-ID", help="Makes the member a static one.")
    add("--max-messages", type=integer, default=-1, metavar="MAX-MESSAGES", help="How many to read; -1: until killed.")
    add("--session-timeout", type=integer, metavar="TIMEOUT-MS", help="The setting session.timeout.ms.")
    add("--verbose", action="store_true", help="Tell of each record.")
    add("--enable-autocommit", action="store_true", help="Leave commits to the consumer.")
    add("--reset-policy", default="earliest", metavar="RESET-POLICY", help="earliest, latest or none.")
    add("--assignment-strategy", default=_RANGE, metavar="ASSIGNMENT-STRATEGY", help="The classic assignor.")
    add("--consumer.config", metavar="CONFIG-FILE", help="(DEPRECATED) The same as --command-config.")
    add("--command-config", metavar="CONFIG-FILE", help="A properties file with settings of the consumer.")
    return parser


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    parser = _parser()
    args = parser.parsed(arguments)
    path = parser.settings_file(args, "consumer.config")
    try:
        settings = _settings(args, path)
    except ToolError as error:
        parser.error(str(error))
    return _run(args, settings)


def _settings(args: argparse.Namespace, path: str | None) -> dict[str, object]:
    from ottla.client.config.consumer import CONSUMER_KEYS

    settings = properties_in(path)
    settings |= {
        "bootstrap.servers": args.bootstrap_server,
        "group.protocol": args.group_protocol,
        "group.id": args.group_id,
        "enable.auto.commit": "true" if args.enable_autocommit else "false",
        "auto.offset.reset": args.reset_policy,
    }
    if args.group_protocol.lower() == "consumer":
        if args.group_remote_assignor is not None:
            settings["group.remote.assignor"] = args.group_remote_assignor
    else:
        settings["partition.assignment.strategy"] = args.assignment_strategy
    if args.session_timeout is not None:
        settings["session.timeout.ms"] = str(args.session_timeout)
    if args.group_instance_id is not None:
        settings["group.instance.id"] = args.group_instance_id
    for name in ("key.deserializer", "value.deserializer"):
        settings.pop(name, None)
    return known_settings(settings, CONSUMER_KEYS)


def _run(args: argparse.Namespace, settings: Mapping[str, object]) -> int:
    from ottla.cli.kafka.argument.server_address import check_servers
    from ottla.cli.kafka.output.java_error import java_text, log_error
    from ottla.cli.kafka.output.verifiable_event import print_event
    from ottla.cli.kafka.session.stop_signal import stop_signal
    from ottla.client import Consumer
    from ottla.client.errors import WakeupError

    try:
        check_servers(str(settings["bootstrap.servers"]), "Failed to construct kafka consumer")
        consumer = Consumer(settings)
    except OttlaError as error:
        print(error, file=sys.stderr)
        return 1

    with stop_signal(consumer.wakeup) as stop:
        print_event("startup_complete")
        try:
            Reading(args, consumer).run()
        except WakeupError:
            print_event("shutdown_requested")
        except OttlaError as error:
            log_error("Error during processing, terminating consumer process: ", _LOGGER)
            print(java_text(error), file=sys.stderr)
        finally:
            consumer.close()
            print_event("shutdown_complete")
    if not stop.number:
        print_event("shutdown_requested")  # Kafka's tool says so at every end
    return stop.exit_code


class Reading:
    """Reads, commits and tells."""

    def __init__(self, args: argparse.Namespace, consumer: "Consumer") -> None:
        self._args: Final = args
        self._consumer: Final = consumer
        self._limit: Final[int | None] = args.max_messages if args.max_messages >= 0 else None
        self._count = 0

    def run(self) -> None:
        """Reads until there are enough records; raises `WakeupError` when it is stopped."""
        from ottla.cli.kafka.session.client_start import patiently

        self._consumer.subscribe(
            [self._args.topic], on_assigned=_teller("partitions_assigned"), on_revoked=_teller("partitions_revoked")
        )
        while self._limit is None or self._count < self._limit:
            records = patiently(lambda: self._consumer.poll(_LONG_S), _LONG_S)
            if not records:
                continue
            offsets = self._received(records)
            if not self._args.enable_autocommit:
                self._commit(offsets)

    def _received(self, records: "Records") -> "dict[TopicPartition, OffsetAndMetadata]":
        from ottla.cli.kafka.output.verifiable_event import print_event
        from ottla.client import OffsetAndMetadata

        offsets, summaries = {}, []
        for partition, found in records.by_partition().items():
            taken = found if self._limit is None else found[: self._limit - self._count]
            if not taken:
                continue
            offsets[partition] = OffsetAndMetadata(taken[-1].offset + 1)
            place = {"topic": partition.topic, "partition": partition.partition}
            summaries.append(
                {**place, "count": len(taken), "minOffset": taken[0].offset, "maxOffset": taken[-1].offset}
            )
            if self._args.verbose:
                for record in taken:
                    shown = {"key": _text(record.key), "value": _text(record.value)}
                    print_event("record_data", **shown, **place, offset=record.offset)
            self._count += len(taken)
            if self._count == self._limit:
                break
        print_event("records_consumed", count=len(records), partitions=summaries)
        return offsets

    def _commit(self, offsets: "dict[TopicPartition, OffsetAndMetadata]") -> None:
        from ottla.client.errors import WakeupError
        from ottla.protocol.errors import FencedInstanceIdError

        try:
            self._consumer.commit(offsets)
        except WakeupError:
            self._commit(offsets)
            raise
        except FencedInstanceIdError:
            raise
        except OttlaError as error:
            _tell_commit(offsets, error)
        else:
            _tell_commit(offsets, None)


def _teller(name: str) -> "Callable[[object, Collection[TopicPartition]], None]":
    """Tells of partitions that come or go."""

    def tell(consumer: object, partitions: "Collection[TopicPartition]") -> None:
        from ottla.cli.kafka.output.verifiable_event import print_event

        places = [{"topic": one.topic, "partition": one.partition} for one in sorted(partitions)]
        print_event(name, partitions=places)

    return tell


def _tell_commit(offsets: "Mapping[TopicPartition, OffsetAndMetadata]", error: OttlaError | None) -> None:
    from ottla.cli.kafka.output.verifiable_event import print_event

    committed = [
        {"topic": partition.topic, "partition": partition.partition, "offset": position.offset}
        for partition, position in offsets.items()
    ]
    reason = {} if error is None else {"error": str(error)}
    print_event("offsets_committed", offsets=committed, **reason, success=error is None)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
