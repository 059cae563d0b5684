"""Runs a REST proxy: a Kafka cluster over HTTP, for every client that speaks Confluent's API."""

import argparse
from typing import Final

from ottla.cli.connection import bootstrap
from ottla.cli.service_option import add_service_arguments, service_settings

_BROKERS: Final = frozenset({"bootstrap.servers", "zookeeper.connect"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    add_service_arguments(parser, "127.0.0.1:8082")
    parser.add_argument(
        "-r", "--schema-registry", metavar="URL", help="the schema registry (default: http://localhost:8081)"
    )


def run(options: argparse.Namespace) -> int:
    """Serves until a signal comes; the exit code."""
    given = service_settings(options)
    if options.schema_registry is not None:
        given["schema.registry.url"] = options.schema_registry
    if options.bootstrap is not None or not _BROKERS & given.keys():
        given["bootstrap.servers"] = bootstrap(options)
    return serve(given)


def serve(given: dict[str, str]) -> int:
    """Runs an instance with these settings."""
    from ottla.cli.service_process import run_service
    from ottla.web.rest.config import REST_KEYS, RestConfig
    from ottla.web.rest.service import RestService

    config = RestConfig.of(given)
    level = config.settings.string("log.level")
    return run_service("The REST proxy", RestService(config), level, config.unknown, REST_KEYS.nearest)
