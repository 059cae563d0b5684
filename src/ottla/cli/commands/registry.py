"""Runs a schema registry on a Kafka cluster, for every client that speaks Confluent's API."""

import argparse
from typing import Final

from ottla.cli.connection import bootstrap
from ottla.cli.output.advice import CommandError

_BROKERS: Final = frozenset({"kafkastore.bootstrap.servers", "kafkastore.connection.url"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "-b",
        "--bootstrap",
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="brokers to begin with (default: localhost:9092)",
    )
    parser.add_argument(
        "-l",
        "--listen",
        metavar="[HOST]:PORT",
        help="where clients find it (default: 127.0.0.1:8081); all interfaces: :8081",
    )
    parser.add_argument("--config", metavar="FILE", help="settings under Confluent's names")
    parser.add_argument("-X", dest="settings", metavar="KEY=VALUE", action="append", default=[], help="one setting")


def run(options: argparse.Namespace) -> int:
    """Serves until a signal comes; the exit code."""
    from ottla.base.config_file import parse_properties
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
        given["listeners"] = options.listen
    if (
        options.bootstrap is not None
        or not {"kafkastore.bootstrap.servers", "kafkastore.connection.url"} & given.keys()
    ):
        given["kafkastore.bootstrap.servers"] = bootstrap(options)
    return serve(given)


def serve(given: dict[str, str]) -> int:
    """Runs an instance with these settings."""
    from ottla.cli.service_process import run_service
    from ottla.web.registry.config import RegistryConfig
    from ottla.web.registry.service import RegistryService

    config = RegistryConfig.of(given)
    service = RegistryService(config)
    return run_service("The schema registry", service, config.settings.string("log.level"), config.unknown)
