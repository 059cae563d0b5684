"""`kafka-consumer-perf-test`: reads records as fast as it can and prints rates. Flags and columns are Kafka's.

The time until partitions were assigned counts as rebalance time, all other time as fetch time.
"""

import random
import re
import sys
import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from ottla.cli.kafka.argument.client_setting import SERVERS, known_settings, properties_in, properties_of
from ottla.cli.kafka.argument.option import COMMAND_CONFIG, ChosenOptions, Option, OptionTable, ToolError
from ottla.cli.kafka.session.tool_main import tool_main

if TYPE_CHECKING:
    from ottla.client import Consumer, TopicPartition

_RATES: Final = (
    "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, "
    "rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
)
_MEGABYTE: Final = 1024 * 1024
_POLL_S: Final = 0.1

OPTIONS: Final = OptionTable(
    "This tool is used to verify the consumer performance.",
    (
        SERVERS,
        COMMAND_CONFIG._replace(help="A properties file with settings of the consumer."),
        Option("topic", "The topic to read.", "topic"),
        Option("include", "Read all topics whose whole name matches.", "regular expression"),
        Option("group", "The consumer group.", "gid", default="perf-consumer-<random number>"),
        Option("fetch-size", "The setting max.partition.fetch.bytes.", "size", "Integer", default="1048576"),
        Option("command-property", "A setting of the consumer, key=value.", "prop1=val1"),
        Option("from-latest", "Begin behind the last record if the group has no offset yet."),
        Option("socket-buffer-size", "The setting receive.buffer.bytes.", "size", "Integer", default="2097152"),
        Option("consumer.config", "(DEPRECATED) The same as --command-config.", "config file"),
        Option("print-metrics", "Print the consumer's metrics at the end."),
        Option("show-detailed-stats", "Print a line after each interval."),
        Option("timeout", "End if no record comes for so long.", "milliseconds", "Long", is_optional=True,
               default="10000"),
        Option("messages", "(DEPRECATED) The same as --num-records.", "count", "Long"),
        Option("num-records", "REQUIRED: how many records to read.", "count", "Long"),
        Option("reporting-interval", "The interval of detailed lines.", "interval_ms", "Long", default="5000"),
        Option("date-format", "How times are written, as Java's SimpleDateFormat has it.", "date format",
               default="yyyy-MM-dd HH:mm:ss:SSS"),
        Option("hide-header", "Leave out the names of the columns."),
    ),
)  # fmt: skip


@tool_main()
def main(arguments: list[str]) -> None:
    """Runs the tool."""
    with OPTIONS.shown_for_errors():
        options = OPTIONS.parse(arguments)
        _check(options)
    settings = _settings(options)
    from ottla.cli.kafka.argument.server_address import check_servers
    from ottla.client import Consumer

    if not options.has("hide-header"):
        first = "time, threadId" if options.has("show-detailed-stats") else "start.time, end.time"
        print(f"{first}, {_RATES}")
    check_servers(str(settings["bootstrap.servers"]), "Failed to construct kafka consumer")
    with Consumer(settings) as consumer:
        Measurement(options, consumer).run()


def _check(options: ChosenOptions) -> None:
    options.require("bootstrap-server")
    options.one_of("topic", "include")
    options.one_of("messages", "num-records")
    options.forbid("consumer.config", "command-config")
    if options.has("messages"):
        print("Warning: --messages is deprecated. Use --num-records instead.")
    if options.has("consumer.config"):
        print("Warning: --consumer.config is deprecated. Use --command-config instead.")


def _settings(options: ChosenOptions) -> dict[str, object]:
    from ottla.client.config.consumer import CONSUMER_KEYS

    settings = properties_in(options.text("consumer.config") or options.text("command-config"))
    settings.update(properties_of(options.texts("command-property")))
    group = options.required_text("group") if options.has("group") else f"perf-consumer-{random.randrange(100_000)}"
    settings |= {
        "bootstrap.servers": options.required_text("bootstrap-server"),
        "group.id": group,
        "receive.buffer.bytes": options.required_text("socket-buffer-size"),
        "max.partition.fetch.bytes": options.required_text("fetch-size"),
        "auto.offset.reset": "latest" if options.has("from-latest") else "earliest",
        "check.crcs": "false",
    }
    settings.setdefault("client.id", "perf-consumer-client")
    for name in ("key.deserializer", "value.deserializer"):
        settings.pop(name, None)
    return known_settings(settings, CONSUMER_KEYS)


class Measurement:
    """One run."""

    def __init__(self, options: ChosenOptions, consumer: "Consumer") -> None:
        from ottla.cli.kafka.output.java_date import DateFormat

        self._options: Final = options
        self._consumer: Final = consumer
        self._dates: Final = DateFormat(options.required_text("date-format"))
        self._interval_ms: Final = options.integer("reporting-interval") or 0
        if self._interval_ms <= 0:
            raise ToolError("Reporting interval must be greater than 0.")
        self._bytes = self._records = 0
        self._join_start_ms = _now_ms()
        self._join_ms = self._round_join_ms = 0
        self._assigned: Final[set[TopicPartition]] = set()

    def run(self) -> None:
        """Reads, and prints what was measured."""
        start_ms = _now_ms()
        self._subscribe()
        self._read()
        end_ms = _now_ms()
        if not self._options.has("show-detailed-stats"):
            print(self._total(start_ms, end_ms))
        if self._options.has("print-metrics"):
            from ottla.cli.kafka.output.table import metric_lines

            for line in metric_lines(self._consumer.metrics()):
                print(line)

    def _subscribe(self) -> None:
        include = self._options.text("include")
        pattern = None if include is None else re.compile(include)
        topic = self._options.text("topic")
        self._consumer.subscribe(
            None if topic is None else [topic],
            pattern=pattern,
            on_assigned=self._on_assigned,
            on_revoked=self._on_revoked,
        )

    def _read(self) -> None:
        wanted = self._options.integer("num-records") or self._options.integer("messages") or 0
        timeout_ms = self._options.integer("timeout") or 0
        now = last_ms = report_ms = _now_ms()
        reported = (0, 0)
        while self._records < wanted and now - last_ms <= timeout_ms:
            records = self._consumer.poll(_POLL_S)
            now = _now_ms()
            if not records:
                continue
            last_ms = now
            self._records += len(records)
            self._bytes += sum([len(record.value) for record in records if record.value is not None])
            self._bytes += sum([len(record.key) for record in records if record.key is not None])
            if now - report_ms >= self._interval_ms:
                if self._options.has("show-detailed-stats"):
                    print(self._window(reported, report_ms, now), flush=True)
                self._round_join_ms = 0
                report_ms, reported = now, (self._bytes, self._records)
        if self._records < wanted:
            print(
                "WARNING: Exiting before consuming the expected number of records: "
                f"timeout ({timeout_ms} ms) exceeded. You can use the --timeout option to increase the timeout."
            )

    def _total(self, start_ms: int, end_ms: int) -> str:
        elapsed_ms, megabytes = end_ms - start_ms, self._bytes / _MEGABYTE
        fetch_ms = elapsed_ms - self._join_ms
        return (
            f"{self._dates.text(start_ms)}, {self._dates.text(end_ms)}, {megabytes:.4f}, "
            f"{_rate(megabytes, elapsed_ms)}, {self._records}, {_rate(self._records, elapsed_ms)}, "
            f"{self._join_ms}, {fetch_ms}, {_rate(megabytes, fetch_ms)}, {_rate(self._records, fetch_ms)}"
        )

    def _window(self, before: tuple[int, int], start_ms: int, end_ms: int) -> str:
        megabytes, records = (self._bytes - before[0]) / _MEGABYTE, self._records - before[1]
        fetch_ms = end_ms - start_ms - self._round_join_ms
        fetch_rates = f"{_rate(megabytes, fetch_ms)}, {_rate(records, fetch_ms)}" if fetch_ms > 0 else "0.0000, 0.0000"
        return (
            f"{self._dates.text(end_ms)}, 0, {self._bytes / _MEGABYTE:.4f}, {_rate(megabytes, end_ms - start_ms)}, "
            f"{self._records}, {_rate(records, end_ms - start_ms)}, {self._round_join_ms}, {fetch_ms}, {fetch_rates}"
        )

    def _on_assigned(self, consumer: object, partitions: "Collection[TopicPartition]") -> None:
        if not self._assigned:
            elapsed_ms = _now_ms() - self._join_start_ms
            self._join_ms += elapsed_ms
            self._round_join_ms += elapsed_ms
        self._assigned.update(partitions)

    def _on_revoked(self, consumer: object, partitions: "Collection[TopicPartition]") -> None:
        self._assigned.difference_update(partitions)
        if not self._assigned:
            self._join_start_ms = _now_ms()


def _rate(amount: float, elapsed_ms: int) -> str:
    """So much a second, with four digits; in no time at all, what Java says to it."""
    if elapsed_ms == 0:
        return "Infinity" if amount else "NaN"
    return f"{amount / (elapsed_ms / 1000):.4f}"


def _now_ms() -> int:
    return int(time.time() * 1000)


if __name__ == "__main__":
    sys.exit(main())
