"""`kafka-producer-perf-test`: sends records as fast as it can, or at a rate, and prints rates and latencies.

Flags and columns are Kafka's. A record counts once it is acknowledged; its latency is the time since it was handed to
the producer, in milliseconds.
"""

import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.client_setting import known_settings, properties_in
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.argument.perf_argument import PerfParser, double, integer, long
from ottla.cli.kafka.session.tool_main import tool_main, with_any_java_class

if TYPE_CHECKING:
    from ottla.cli.kafka.output.send_statistic import SendStatistic
    from ottla.client import Producer, RecordMetadata

_DESCRIPTION: Final = (
    "This tool is used to verify the producer performance. A transactional id or a transaction duration makes it send "
    "in transactions."
)
_PAYLOAD_NOTE: Final = "Exactly one of --record-size, --payload-file and --payload-monotonic is needed."
_RENAMED_NOTE: Final = (
    "Option --{old} has been deprecated and will be removed in a future version. Use --{new} instead."
)
_LETTERS: Final = bytes(65 + number % 26 for number in range(256))
_TRANSACTION_MS: Final = 3000
_SWITCH_INTERVAL_S: Final = 0.0005


def _parser() -> PerfParser:
    parser = PerfParser("kafka-producer-perf-test", _DESCRIPTION)
    add = parser.add_argument
    add("--bootstrap-server", metavar="BOOTSTRAP-SERVER", help="The brokers to connect to.")
    add("--topic", required=True, metavar="TOPIC", help="Send to this topic.")
    add("--num-records", required=True, type=long, metavar="NUM-RECORDS", help="How many records to send.")
    payload = parser.add_mutually_exclusive_group(required=True)
    payload.add_argument(
        "--record-size", type=integer, metavar="RECORD-SIZE", help=f"The size of a value. {_PAYLOAD_NOTE}"
    )
    payload.add_argument("--payload-file", metavar="PAYLOAD-FILE", help=f"A file with values. {_PAYLOAD_NOTE}")
    payload.add_argument("--payload-monotonic", action="store_true", help=f"Values count up. {_PAYLOAD_NOTE}")
    add("--payload-delimiter", default="\\n", metavar="PAYLOAD-DELIMITER", help="What separates values in the file.")
    add("--throughput", required=True, type=double, metavar="THROUGHPUT", help="Records a second; -1 is no limit.")
    for name, note in (("--producer-props", "(DEPRECATED) "), ("--command-property", "")):
        add(name, nargs="+", metavar="PROP-NAME=PROP-VALUE", help=f"{note}Settings of the producer.")
    for name, note in (("--producer.config", "(DEPRECATED) "), ("--command-config", "")):
        add(name, metavar="CONFIG-FILE", help=f"{note}A properties file with settings of the producer.")
    add("--print-metrics", action="store_true", help="Print the producer's metrics at the end.")
    add("--transactional-id", metavar="TRANSACTIONAL-ID", help="Send in transactions of this id.")
    add("--transaction-duration-ms", type=long, metavar="TRANSACTION-DURATION", help="Commit after so long.")
    add("--warmup-records", type=long, default=0, metavar="WARMUP-RECORDS", help="Records before the steady state.")
    add("--reporting-interval", type=long, default=5000, metavar="INTERVAL-MS", help="Print a line after so long.")
    return parser


def _tell(error: OttlaError) -> None:
    with_any_java_class(error, 'Exception in thread "main" ')


@tool_main(_tell)
def main(arguments: list[str]) -> None:
    """Runs the tool."""
    parser = _parser()
    args = parser.parsed(arguments)
    _check(parser, args)
    _measure(args, _payloads(args), _settings(args))


def _check(parser: PerfParser, args: Any) -> None:
    if args.num_records <= 0:
        parser.error("--num-records should be greater than zero.")
    if args.warmup_records >= args.num_records:
        parser.error(
            "The value for --warmup-records must be strictly fewer than the number of records in the test, "
            "--num-records."
        )
    if args.record_size is not None and args.record_size <= 0:
        parser.error("--record-size should be greater than zero.")
    old_config = getattr(args, "producer.config")
    given = (args.bootstrap_server, args.command_property, args.producer_props, old_config, args.command_config)
    if all(one is None for one in given):
        parser.error(
            "At least one of --bootstrap-server, --command-property, --producer-props, --producer.config or "
            "--command-config must be specified."
        )
    if args.command_property is not None and args.producer_props is not None:
        parser.error("--command-property and --producer-props cannot be specified together.")
    if args.command_config is not None and old_config is not None:
        parser.error("--command-config and --producer.config cannot be specified together.")
    if args.transaction_duration_ms is not None and args.transaction_duration_ms <= 0:
        parser.error("--transaction-duration-ms should be greater than zero.")
    if args.reporting_interval <= 0:
        parser.error("--reporting-interval should be greater than zero.")


def _payloads(args: Any) -> Iterator[bytes]:
    """Values without end."""
    if args.payload_file is not None:
        return file_payloads(args.payload_file, args.payload_delimiter)
    if args.record_size is not None:
        return random_payloads(int(args.record_size))
    return (b"%d" % number for number in range(args.num_records))


def random_payloads(size: int) -> Iterator[bytes]:
    """Capital letters, the same in every run."""
    source = random.Random(0)
    while True:
        yield source.randbytes(size).translate(_LETTERS)


def file_payloads(path: str, delimiter: str) -> Iterator[bytes]:
    """The pieces of a file, in random order, again and again."""
    file = Path(path)
    print(f"Reading payloads from: {Path.cwd() / file}")
    if not file.exists() or file.stat().st_size == 0:
        raise ToolError("File does not exist or empty file provided.")
    pieces = re.split("\n" if delimiter == "\\n" else delimiter, file.read_text(encoding="utf-8", errors="replace"))
    if pieces and not pieces[-1]:
        pieces.pop()  # nothing behind the last delimiter is no value
    print(f"Number of records read: {len(pieces)}")
    values = [piece.encode() for piece in pieces]
    source = random.Random(0)
    return iter(lambda: source.choice(values), None)


def _settings(args: Any) -> dict[str, object]:
    from ottla.client.config.producer import PRODUCER_KEYS

    properties, old_config = args.command_property, getattr(args, "producer.config")
    if args.producer_props is not None:
        print(_RENAMED_NOTE.format(old="producer-props", new="command-property"))
        properties = args.producer_props
    if old_config is not None:
        print(_RENAMED_NOTE.format(old="producer.config", new="command-config"))
    settings = properties_in(old_config or args.command_config)
    for pair in properties or ():
        if pair.count("=") != 1:
            raise ToolError(f"Invalid property: {pair}")
        name, _, value = pair.partition("=")
        settings[name] = value
    settings.setdefault("client.id", "perf-producer-client")
    if args.bootstrap_server is not None:
        settings["bootstrap.servers"] = args.bootstrap_server
    if args.transaction_duration_ms is not None or args.transactional_id is not None:
        import secrets

        settings.setdefault("transactional.id", f"performance-producer-{secrets.token_urlsafe(16)}")
        if args.transactional_id is not None:
            settings["transactional.id"] = args.transactional_id
    for name in ("key.serializer", "value.serializer"):
        settings.pop(name, None)
    return known_settings(settings, PRODUCER_KEYS)


def _measure(args: Any, payloads: Iterator[bytes], settings: dict[str, object]) -> None:
    from ottla.cli.kafka.argument.server_address import check_servers
    from ottla.cli.kafka.output.table import metric_lines
    from ottla.cli.kafka.session.client_start import patiently
    from ottla.client import Producer

    check_servers(str(settings.get("bootstrap.servers", "")), "Failed to construct kafka producer")
    producer = patiently(lambda: Producer(settings), 60.0)
    interval_s = sys.getswitchinterval()
    # The sending loop never waits: it would keep the producer's own thread from its turn for 5 ms each time.
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    try:
        sending = _Sending(args, producer, is_transactional="transactional.id" in settings)
        sending.run(payloads)
        producer.flush()
        for statistic in sending.statistics:
            print(statistic.total_text())
        if args.print_metrics:
            for line in metric_lines(producer.metrics()):
                print(line)
    finally:
        sys.setswitchinterval(interval_s)
        producer.close()


class _Sending:
    """The run: sends, commits if there are transactions, and counts."""

    def __init__(self, args: Any, producer: "Producer", *, is_transactional: bool) -> None:
        from ottla.cli.kafka.output.send_statistic import SendStatistic
        from ottla.cli.kafka.session.throttle import Throttle

        self._args: Final = args
        self._producer: Final = producer
        duration_ms = args.transaction_duration_ms or _TRANSACTION_MS
        self._transaction_ms: Final[int | None] = duration_ms if is_transactional else None
        if is_transactional:
            producer.init_transactions()
        if args.warmup_records > 0:
            print(
                f"Warmup first {args.warmup_records} records. "
                "Steady state results will print after the complete test summary."
            )
        self._new_statistic: Final = SendStatistic
        self.statistics: Final = [SendStatistic(args.num_records, args.reporting_interval, is_steady_state=False)]
        self._throttle: Final = Throttle(args.throughput)

    def run(self, payloads: Iterator[bytes]) -> None:
        """Sends all records."""
        from ottla.cli.kafka.output.send_statistic import now_ms

        producer, args, transaction_ms = self._producer, self._args, self._transaction_ms
        began_ms: int | None = None
        for number, payload in zip(range(args.num_records), payloads, strict=False):
            if transaction_ms is not None and began_ms is None:
                producer.begin_transaction()
                began_ms = now_ms()
            start = now_ms()
            if args.warmup_records > 0 and number == args.warmup_records:
                self._begin_steady_state()
            producer.send(args.topic, payload, on_delivery=_delivery(start, len(payload), self.statistics))
            if transaction_ms is not None and began_ms is not None and start - began_ms >= transaction_ms:
                producer.commit_transaction()
                began_ms = None
            self._throttle.pause(number)
        if began_ms is not None:
            producer.commit_transaction()

    def _begin_steady_state(self) -> None:
        args = self._args
        left = args.num_records - args.warmup_records
        self.statistics.append(self._new_statistic(left, args.reporting_interval, is_steady_state=True))
        self.statistics[0].is_silent = True


def _delivery(
    start_ms: int, size: int, statistics: "Sequence[SendStatistic]"
) -> "Callable[[RecordMetadata | None, BaseException | None], None]":
    """What is done when a record sent at `start_ms` is acknowledged, or refused."""
    from ottla.cli.kafka.output.send_statistic import now_ms

    counted = tuple(statistics)

    def delivered(metadata: "RecordMetadata | None", error: BaseException | None) -> None:
        if error is not None:
            from ottla.cli.kafka.output.java_error import java_text

            print(java_text(error) if isinstance(error, OttlaError) else error, file=sys.stderr)
            return
        now = now_ms()
        for statistic in counted:
            statistic.record(now - start_ms, size, now)

    return delivered


if __name__ == "__main__":
    sys.exit(main())
