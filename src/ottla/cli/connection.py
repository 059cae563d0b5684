"""Where a command finds the cluster: `-b`, `--command-config`, `-X`, and `OTTLA_BOOTSTRAP`.

Declares the options without importing any client, and makes clients' settings of them. A file of settings may serve
several clients, so a setting that only another client has is left out; one that no client has is refused.
"""

import argparse
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from ottla.base.errors import OttlaError
from ottla.cli.output.advice import CommandError, advised

if TYPE_CHECKING:
    from ottla.base.config import ConfigKeys
    from ottla.client.admin.async_admin import AsyncAdmin

BOOTSTRAP_VARIABLE: Final = "OTTLA_BOOTSTRAP"
DEFAULT_BOOTSTRAP: Final = "localhost:9092"
_ADMIN_PATIENCE: Final = {"default.api.timeout.ms": "20000", "request.timeout.ms": "15000"}
"""People wait in front of these commands; Kafka's minute is for programs."""

WAIT_SECONDS: Final = 30
"""How long a broker may refuse connections at first."""

AdminWork = Callable[["AsyncAdmin", argparse.Namespace], Awaitable[int]]


def add_connection(parser: argparse.ArgumentParser) -> None:
    """Declares the options that every command with a cluster has, `--json` among them."""
    group = parser.add_argument_group("connection and output")
    group.add_argument(
        "-b",
        "--bootstrap",
        "--bootstrap-server",
        metavar="HOST:PORT",
        help=f"brokers to begin with, separated by commas (default: ${BOOTSTRAP_VARIABLE} or {DEFAULT_BOOTSTRAP})",
    )
    group.add_argument("--command-config", metavar="FILE", help="a file with settings of the client, such as TLS")
    group.add_argument(
        "-X", dest="settings", metavar="KEY=VALUE", action="append", default=[], help="a setting of the client"
    )
    group.add_argument(
        "--wait",
        type=float,
        metavar="S",
        default=WAIT_SECONDS,
        help=f"how long to wait for a broker that refuses connections (default: {WAIT_SECONDS} seconds)",
    )
    group.add_argument("--json", action="store_true", help="print JSON for programs")


def bootstrap(options: argparse.Namespace) -> str:
    """The addresses to begin with."""
    return options.bootstrap or os.environ.get(BOOTSTRAP_VARIABLE) or DEFAULT_BOOTSTRAP


def client_settings(options: argparse.Namespace, keys: "ConfigKeys") -> dict[str, object]:
    """The settings of a client that has these keys. Raises `CommandError` for one that no client has."""
    given = _given(options)
    for name in given:
        if name not in keys:
            _check_known(name)
    settings: dict[str, object] = {name: value for name, value in given.items() if name in keys}
    if options.bootstrap or "bootstrap.servers" not in settings:
        settings["bootstrap.servers"] = bootstrap(options)
    return settings


def run_admin(options: argparse.Namespace, work: AdminWork) -> int:
    """Connects an admin client, does the work, and returns its exit code."""
    import asyncio

    from ottla.client.config.admin import ADMIN_KEYS

    settings = {**_ADMIN_PATIENCE, **client_settings(options, ADMIN_KEYS)}
    with explained(options):
        return asyncio.run(_with_admin(settings, work, options))


@contextmanager
def explained(options: argparse.Namespace | None = None) -> Iterator[None]:
    """Errors inside of the block come out as one sentence with advice; `options` are those of a connection."""
    try:
        yield
    except CommandError:
        raise
    except OttlaError as error:
        advice = None if options is None else _controller_advice(error, options)
        raise CommandError(advised(error, advice)) from error


def _controller_advice(error: OttlaError, options: argparse.Namespace) -> str | None:
    """The addresses of the brokers, for a user who gave a controller's port."""
    import asyncio

    from ottla.cli import controller_port
    from ottla.client.config.admin import ADMIN_KEYS
    from ottla.client.errors import NoBrokersAvailableError

    if not isinstance(error, NoBrokersAvailableError):
        return None
    return asyncio.run(controller_port.advice(error, client_settings(options, ADMIN_KEYS)))


async def _with_admin(settings: Mapping[str, object], work: AdminWork, options: argparse.Namespace) -> int:
    from ottla.cli.broker_wait import BrokerWait
    from ottla.client.admin.async_admin import AsyncAdmin

    admin = AsyncAdmin(settings)
    try:
        await BrokerWait(options.wait).connected(lambda: admin.start(timeout_ms=0))
        return await work(admin, options)
    finally:
        await admin.close()


def _given(options: argparse.Namespace) -> dict[str, str]:
    given: dict[str, str] = {}
    if options.command_config is not None:
        from ottla.base.config.file import parse_properties

        try:
            with open(options.command_config, encoding="utf-8") as file:
                given = parse_properties(file.read())
        except OSError as error:
            reason = error.strerror or str(error)
            raise CommandError(
                f"--command-config {options.command_config}: {reason}; give a file that exists"
            ) from None
    return given | dict(key_value(text, "-X") for text in options.settings)


def key_value(text: str, option: str) -> tuple[str, str]:
    """The parts of `KEY=VALUE`.

    >>> key_value("retention.ms=1000", "--config")
    ('retention.ms', '1000')
    """
    key, found, value = text.partition("=")
    if not found or not key:
        raise CommandError(f"{option} {text}: it must have the form KEY=VALUE")
    return key.strip(), value


def _check_known(name: str) -> None:
    from ottla.client.config.admin import ADMIN_KEYS
    from ottla.client.config.consumer import CONSUMER_KEYS
    from ottla.client.config.other_client import advice
    from ottla.client.config.producer import PRODUCER_KEYS

    all_keys = (ADMIN_KEYS, CONSUMER_KEYS, PRODUCER_KEYS)
    if not any(name in keys for keys in all_keys):
        nearest = next(filter(None, (keys.nearest(name) for keys in all_keys)), None)
        hint = advice(name, lambda _: True, str) or (nearest and f"did you mean {nearest}?")
        raise CommandError(f"no client has a setting {name}" + (f"; {hint}" if hint else ""))


def add_actions(parser: argparse.ArgumentParser, actions: Mapping[str, str]) -> dict[str, argparse.ArgumentParser]:
    """Actions of a command, each with a line of help, and with the options of a connection; their parsers by name."""
    made: Any = parser.add_subparsers(dest="action", required=True, metavar="ACTION", title="actions")
    parsers: dict[str, argparse.ArgumentParser] = {
        name: made.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        for name, summary in actions.items()
    }
    for action in parsers.values():
        add_connection(action)
    return parsers
