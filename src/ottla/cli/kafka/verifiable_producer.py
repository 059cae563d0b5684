"""`kafka-verifiable-producer`: sends growing numbers and tells of each, in JSON, whether it was acknowledged.

Arguments and events are Kafka's: this is what its system tests drive. The tool never tries again by itself, so that a
test sees each refusal. A signal ends the sending; what is on its way is waited for.
"""

import argparse
import itertools
import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.client_setting import known_settings, properties_in
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.argument.perf_argument import PerfParser, integer, long
from ottla.cli.kafka.session.tool_main import tool_main

if TYPE_CHECKING:
    from ottla.cli.kafka.session.throttle import Throttle
    from ottla.client import Producer, RecordMetadata

_DESCRIPTION: Final = (
    'This tool produces increasing integers to the specified topic and prints JSON metadata to stdout on each "send" '
    "request, making externally visible which messages have been acked and which have not."
)


def _parser() -> PerfParser:
    parser = PerfParser("verifiable-producer", _DESCRIPTION)
    add = parser.add_argument
    add("--topic", required=True, metavar="TOPIC", help="Send to this topic.")
    connection = parser.add_mutually_exclusive_group(required=True)
    connection.add_argument(
        "--bootstrap-server", metavar="HOST1:PORT1[,HOST2:PORT2[...]]", help="REQUIRED: the brokers to connect to."
    )
    add("--max-messages", type=integer, default=-1, metavar="MAX-MESSAGES", help="How many to send; -1: until killed.")
    add("--throughput", type=integer, default=-1, metavar="THROUGHPUT", help="At most so many a second; -1: no limit.")
    add("--acks", type=integer, default=-1, choices=(0, 1, -1), metavar="ACKS", help="The setting acks.")
    add("--producer.config", metavar="CONFIG-FILE", help="(DEPRECATED) The same as --command-config.")
    add("--message-create-time", type=long, default=-1, metavar="CREATE-TIME", help="The first timestamp, in ms.")
    add("--value-prefix", type=integer, metavar="VALUE-PREFIX", help="Stands before each value, with a dot.")
    add("--repeating-keys", type=integer, metavar="REPEATING-KEYS", help="Keys count from 0 up to this, and again.")
    add("--command-config", metavar="CONFIG-FILE", help="A properties file with settings of the producer.")
    return parser


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    parser = _parser()
    args = parser.parsed(arguments)
    path = parser.settings_file(args, "producer.config")
    try:
        settings = _settings(args, path)
    except ToolError as error:
        parser.error(str(error))
    return _run(args, settings)


def _settings(args: argparse.Namespace, path: str | None) -> dict[str, object]:
    from ottla.client.config.producer import PRODUCER_KEYS

    settings = {"bootstrap.servers": args.bootstrap_server, "acks": str(args.acks), "retries": "0"}
    settings.update(properties_in(path))
    for name in ("key.serializer", "value.serializer"):
        settings.pop(name, None)
    return known_settings(settings, PRODUCER_KEYS)


def _run(args: argparse.Namespace, settings: dict[str, object]) -> int:
    from ottla.cli.kafka.argument.server_address import check_servers
    from ottla.cli.kafka.output.verifiable_event import print_event
    from ottla.cli.kafka.session.client_start import patiently
    from ottla.cli.kafka.session.stop_signal import stop_signal
    from ottla.cli.kafka.session.throttle import Throttle
    from ottla.client import Producer

    try:
        check_servers(str(settings["bootstrap.servers"]), "Failed to construct kafka producer")
        producer = patiently(lambda: Producer(settings), 60.0)
    except OttlaError as error:
        print(error, file=sys.stderr)
        return 1
    throttle = Throttle(args.throughput)
    sending = Sending(args, producer)
    start = time.monotonic()
    with stop_signal(lambda: sending.stop(throttle)) as stop:
        print_event("startup_complete")
        sending.run(throttle)
        producer.close()
        print_event("shutdown_complete")
        elapsed_s = max(0.001, time.monotonic() - start)
        print_event(
            "tool_data",
            sent=sending.sent,
            acked=sending.acked,
            target_throughput=args.throughput,
            avg_throughput=sending.acked / elapsed_s,
        )
    return stop.exit_code


class Sending:
    """Sends, counts and tells."""

    def __init__(self, args: Any, producer: "Producer") -> None:
        self._args: Final = args
        self._producer: Final = producer
        self._is_stopped = False
        self._lock: Final = threading.Lock()
        self.sent = 0
        self.acked = 0

    def stop(self, throttle: "Throttle") -> None:
        """Sends no more."""
        self._is_stopped = True
        throttle.wake()

    def run(self, throttle: "Throttle") -> None:
        """Until there are enough, or `stop`."""
        limit, prefix = self._args.max_messages, self._args.value_prefix
        numbers = itertools.count() if limit < 0 else iter(range(limit))
        keys, times = self._keys(), self._times()
        for number in numbers:
            if self._is_stopped:
                return
            value = str(number) if prefix is None else f"{prefix}.{number}"
            self._send(next(keys), value, next(times))
            throttle.pause(number)

    def _keys(self) -> Iterator[str | None]:
        count = self._args.repeating_keys
        if count is None:
            return itertools.repeat(None)
        return (str(key) for key in itertools.cycle(range(max(1, count))))

    def _times(self) -> Iterator[int | None]:
        """Timestamps from the first one on, as far apart as the time since the start was at each record."""
        moment, start = self._args.message_create_time, time.time()
        while True:
            yield None if self._args.message_create_time == -1 else moment
            moment += int((time.time() - start) * 1000)

    def _send(self, key: str | None, value: str, timestamp_ms: int | None) -> None:
        def delivered(metadata: "RecordMetadata | None", error: BaseException | None) -> None:
            self._tell(key, value, metadata, error)

        self.sent += 1
        topic = self._args.topic
        try:
            self._producer.send(topic, value, key, timestamp_ms=timestamp_ms, on_delivery=delivered)
        except OttlaError as error:
            self._tell(key, value, None, error)

    def _tell(
        self, key: str | None, value: str, metadata: "RecordMetadata | None", error: BaseException | None
    ) -> None:
        from ottla.cli.kafka.output.verifiable_event import print_event

        with self._lock:
            if metadata is not None and error is None:
                self.acked += 1
                place = {"topic": metadata.topic, "partition": metadata.partition, "offset": metadata.offset}
                print_event("producer_send_success", key=key, value=value, **place)
                return
            from ottla.cli.kafka.output.java_error import java_message, java_name

            kind = java_name(error) if isinstance(error, OttlaError) else type(error).__name__
            reason = {"exception": f"class {kind}", "message": java_message(error)}
            print_event("producer_send_error", key=key, value=value, topic=self._args.topic, **reason)


if __name__ == "__main__":
    sys.exit(main())
