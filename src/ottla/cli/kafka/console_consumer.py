"""`kafka-console-consumer`: writes the records of topics to the standard output. Flags and output are Kafka's.

What fails while it reads is told of on the error output and ends the tool with 0; only a formatter that can't write a
record costs 1. Offsets of records that were fetched but not written are not committed.
"""

import random
import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.client_setting import (
    SERVERS,
    current_name,
    known_settings,
    merge,
    properties_in,
    properties_of,
)
from ottla.cli.kafka.argument.option import (
    COMMAND_CONFIG,
    ChosenOptions,
    Option,
    OptionTable,
    OptionValueError,
    ToolError,
)
from ottla.cli.kafka.session.tool_main import tool_main, with_any_java_class

if TYPE_CHECKING:
    from ottla.cli.kafka.record.console_formatter import Formatter
    from ottla.cli.kafka.record.console_reader import ConsoleReading

_NOTE: Final = "Option --{old} is deprecated and will be removed in a future version. Use --{new} instead."
_FORMATTER: Final = "org.apache.kafka.tools.consumer.DefaultMessageFormatter"
_FORMATTER_HELP: Final = (
    "A property of the formatter: print.timestamp, print.key, print.offset, print.epoch, print.partition, "
    "print.headers, print.value (true or false), key.separator, line.separator, headers.separator, null.literal, "
    "key.deserializer, value.deserializer, headers.deserializer."
)

OPTIONS: Final = OptionTable(
    "This tool helps to read data from Kafka topics and outputs it to standard output.",
    (
        SERVERS,
        COMMAND_CONFIG._replace(help="A properties file with settings of the consumer."),
        Option("topic", "The topic to read.", "topic"),
        Option("include", "Read all topics whose whole name matches.", "regular expression"),
        Option("partition", "The partition to read; without --offset from its end on.", "partition", "Integer"),
        Option("offset", "Where to begin: an offset, earliest or latest.", "consume offset", default="latest"),
        Option("consumer-property", "(DEPRECATED) The same as --command-property.", "consumer_prop"),
        Option("command-property", "A setting of the consumer, key=value.", "consumer_prop"),
        Option("consumer.config", "(DEPRECATED) The same as --command-config.", "config file"),
        Option("formatter", "What writes records: one of Kafka's formatters, or module:Class.", "class",
               default=_FORMATTER),
        Option("property", "(DEPRECATED) The same as --formatter-property.", "prop"),
        Option("formatter-property", _FORMATTER_HELP, "prop"),
        Option("formatter-config", "A properties file for the formatter.", "config file"),
        Option("from-beginning", "Begin at the first record if the group has no offset yet."),
        Option("max-messages", "End after so many records.", "num_messages", "Integer"),
        Option("timeout-ms", "End if no record comes for so long.", "timeout_ms", "Long"),
        Option("skip-message-on-error", "Leave out a record that can't be written, instead of ending."),
        Option("key-deserializer", "The formatter's key.deserializer.", "deserializer for keys"),
        Option("value-deserializer", "The formatter's value.deserializer.", "deserializer for values"),
        Option("enable-systest-events", "Tell of the end on the standard output."),
        Option("isolation-level", "read_committed leaves out what transactions have not committed.", "",
               default="read_uncommitted"),
        Option("group", "The consumer group.", "consumer group id"),
    ),
)  # fmt: skip


@tool_main(with_any_java_class)
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    with OPTIONS.shown_for_errors(but=OptionValueError):
        options = OPTIONS.parse(arguments)
        _check(options)
        reading = _reading(options)
    from ottla.cli.kafka.record.console_reader import read_records

    code = read_records(reading)
    if options.has("enable-systest-events"):
        print("shutdown_complete")
    return code


def _check(options: ChosenOptions) -> None:
    options.one_of("topic", "include")
    if options.has("partition"):
        if not options.has("topic"):
            options.fail("The topic is required when partition is specified.")
        if options.has("from-beginning") and options.has("offset"):
            options.fail("Options from-beginning and offset cannot be specified together.")
    elif options.has("offset"):
        options.fail("The partition is required when offset is specified.")
    options.require("bootstrap-server")
    for old, new in (("consumer-property", "command-property"), ("consumer.config", "command-config")):
        if options.has(old) and options.has(new):
            options.fail(f"Options --{old} and --{new} cannot be specified together.")


def _reading(options: ChosenOptions) -> "ConsoleReading":
    settings = _settings(options)
    offset = _offset(options)
    timeout_ms = options.integer("timeout-ms")
    include = options.text("include")
    try:
        pattern = None if include is None else re.compile(include)
    except re.error as error:
        raise ToolError(f"{include} is no regular expression: {error}") from error
    from ottla.cli.kafka.record.console_reader import ConsoleReading

    return ConsoleReading(
        settings=settings,
        formatter=_formatter(options),
        topic=options.text("topic"),
        pattern=pattern,
        partition=options.integer("partition"),
        offset=offset,
        max_messages=options.integer("max-messages"),
        timeout_ms=None if timeout_ms is None or timeout_ms < 0 else timeout_ms,
        skips_errors=options.has("skip-message-on-error"),
    )


def _settings(options: ChosenOptions) -> dict[str, object]:
    from ottla.client.config.consumer import CONSUMER_KEYS

    property_name = current_name(options, "command-property", "consumer-property", _NOTE)
    config_name = current_name(options, "command-config", "consumer.config", _NOTE)
    in_file = properties_in(options.text(config_name))
    extra = properties_of(options.texts(property_name))
    groups = _groups(options, in_file, extra)
    settings = {**in_file, **extra}
    _choose_reset(options, settings)
    settings["bootstrap.servers"] = options.required_text("bootstrap-server")
    settings.setdefault("client.id", "console-consumer")
    merge(settings, "isolation.level", options, "isolation-level")
    if groups:
        settings["group.id"] = groups[0]
    else:
        settings["group.id"] = f"console-consumer-{random.randrange(100_000)}"
        # The group is new each time, so its offsets are of no use.
        settings.setdefault("enable.auto.commit", "false")
    for name in ("key.deserializer", "value.deserializer"):
        settings.pop(name, None)  # the formatter reads bytes
    return known_settings(settings, CONSUMER_KEYS)


def _groups(options: ChosenOptions, in_file: Mapping[str, str], extra: Mapping[str, str]) -> list[str]:
    """The group id, found in several places at most once."""
    given = (*options.texts("group"), in_file.get("group.id"), extra.get("group.id"))
    groups = list(dict.fromkeys(group for group in given if group is not None))
    if len(groups) > 1:
        listed = ", ".join(f"'{group}'" for group in groups)
        options.fail(
            "The group ids provided in different places (directly using '--group', via '--consumer-property', "
            f"or via '--consumer.config') do not match. Detected group ids: {listed}"
        )
    if groups and options.has("partition"):
        options.fail("Options group and partition cannot be specified together.")
    return groups


def _choose_reset(options: ChosenOptions, settings: dict[str, str]) -> None:
    wish = settings.get("auto.offset.reset")
    if wish is None:
        settings["auto.offset.reset"] = "earliest" if options.has("from-beginning") else "latest"
    elif options.has("from-beginning") and wish != "earliest":
        print(
            f"Can't simultaneously specify --from-beginning and 'auto.offset.reset={wish}', please remove one option",
            file=sys.stderr,
        )
        raise SystemExit(1)


def _offset(options: ChosenOptions) -> int:
    """Where to begin; -1 is the end and -2 the beginning."""
    if not options.has("offset"):
        return -2 if options.has("from-beginning") else -1
    text = options.required_text("offset")
    special = {"earliest": -2, "latest": -1}.get(text.lower())
    if special is not None:
        return special
    if not re.fullmatch(r"\+?[0-9]{1,19}", text) or int(text) >= 2**63:
        options.fail(
            f"The provided offset value '{text}' is incorrect. Valid values are 'earliest', 'latest', "
            "or a non-negative long."
        )
    return int(text)


def _formatter(options: ChosenOptions) -> "Formatter":
    if options.has("formatter-property") and options.has("property"):
        options.fail("Options --property and --formatter-property cannot be specified together.")
    name = current_name(options, "formatter-property", "property", _NOTE)
    settings = properties_in(options.text("formatter-config"))
    for part in ("key", "value"):
        deserializer = options.text(f"{part}-deserializer")
        if deserializer:
            settings[f"{part}.deserializer"] = deserializer
    settings.update(properties_of(options.texts(name)))
    from ottla.cli.kafka.record.console_formatter import make_formatter

    try:
        return make_formatter(options.required_text("formatter"), settings)
    except OttlaError as error:
        options.fail(str(error))


if __name__ == "__main__":
    sys.exit(main())
