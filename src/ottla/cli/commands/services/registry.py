"""Runs a schema registry on a Kafka cluster, for every client that speaks Confluent's API."""

import argparse
from typing import Final

from ottla.cli.connection import bootstrap
from ottla.cli.service_option import add_service_arguments, service_settings

_BROKERS: Final = frozenset({"kafkastore.bootstrap.servers", "kafkastore.connection.url"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    add_service_arguments(parser, "127.0.0.1:8081")


def run(options: argparse.Namespace) -> int:
    """Serves until a signal comes; the exit code."""
    given = service_settings(options)
    if options.bootstrap is not None or not _BROKERS & given.keys():
        given["kafkastore.bootstrap.servers"] = bootstrap(options)
    return serve(given)


def serve(given: dict[str, str]) -> int:
    """Runs an instance with these settings."""
    from ottla.cli.service_process import run_service
    from ottla.web.registry.config import REGISTRY_KEYS, RegistryConfig
    from ottla.web.registry.service import RegistryService

    config = RegistryConfig.of(given)
    service, level = RegistryService(config), config.settings.string("log.level")
    return run_service("The schema registry", service, level, config.unknown, REGISTRY_KEYS.nearest)
