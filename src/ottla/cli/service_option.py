"""The options of commands that serve HTTP, and the settings that they make: a file, `-X`, and options of their own."""

import argparse

from ottla.cli.output.advice import CommandError


def add_service_arguments(parser: argparse.ArgumentParser, address: str) -> None:
    """Declares them; `address` is where the service listens by default."""
    parser.add_argument(
        "-b",
        "--bootstrap",
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="brokers to begin with (default: $OTTLA_BOOTSTRAP, else localhost:9092)",
    )
    parser.add_argument(
        "-l",
        "--listen",
        metavar="[HOST:]PORT",
        help=f"the address for clients; :PORT: on all interfaces (default: {address})",
    )
    parser.add_argument("--config", metavar="FILE", help="a properties file, with Kafka's or Confluent's names")
    parser.add_argument(
        "-X",
        dest="settings",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a setting; it overrides the file's",
    )


def service_settings(options: argparse.Namespace) -> dict[str, str]:
    """What the file, `-X` and `--listen` say, the later over the earlier."""
    from ottla.base.config.file import parse_properties
    from ottla.cli.connection import key_value

    given: dict[str, str] = {}
    if options.config is not None:
        try:
            with open(options.config, encoding="utf-8") as file:
                given = parse_properties(file.read())
        except OSError as error:
            raise CommandError(f"--config {options.config}: {error.strerror}; give a file that exists") from None
    given |= dict(key_value(text, "-X") for text in options.settings)
    if options.listen is not None:
        given["listeners"] = f"127.0.0.1:{options.listen}" if options.listen.isdecimal() else options.listen
    return given
