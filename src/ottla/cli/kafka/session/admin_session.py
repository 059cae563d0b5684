"""Runs a tool's work with an admin client: settings from `--command-config`, the servers from the command line.

Imports the client, so a tool imports this only when it has something to ask.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from ottla.base.config import ConfigError
from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.client_setting import properties_in
from ottla.cli.kafka.argument.option import ChosenOptions, ToolError
from ottla.cli.kafka.argument.server_address import UnusableServersError, check_servers
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.config.admin import ADMIN_KEYS

T = TypeVar("T")

AdminWork = Callable[[AsyncAdmin], Awaitable[T]]


def run_work(options: ChosenOptions, work: AdminWork[T], settings: Mapping[str, object] | None = None) -> T:
    """Connects as `--bootstrap-server`, `--bootstrap-controller` and `--command-config` say, and does the work."""
    return run_with(session_settings(options), work, settings)


def run_reported(options: ChosenOptions, work: AdminWork[None], label: str, *, is_client_labelled: bool = True) -> int:
    """The exit code of tools that tell behind a label what went wrong, and on the error output what a call lacks."""
    try:
        settings = session_settings(options)
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    try:
        run_with(settings, work)
    except (ConfigError, UnusableServersError) as error:
        if is_client_labelled:
            print(f"{label} : {error}")
        else:
            print(error, file=sys.stderr)
        return 1
    except OttlaError as error:
        print(f"{label} : {error}")
        return 1
    return 0


def session_settings(options: ChosenOptions) -> dict[str, object]:
    """What those three say, as settings; `OptionValueError` if one of them can't be used."""
    given: dict[str, object] = dict(properties_in(options.text("command-config")))
    given["bootstrap.servers"] = options.text("bootstrap-server")
    if options.knows("bootstrap-controller"):
        given["bootstrap.controllers"] = options.text("bootstrap-controller")
    return given


def run_with(given: Mapping[str, object], work: AdminWork[T], settings: Mapping[str, object] | None = None) -> T:
    """Runs work with an admin client of these settings; ignores, as Kafka's tools do, those that it does not have."""
    known = {name: value for name, value in {**given, **(settings or {})}.items() if name in ADMIN_KEYS}
    servers = known.get("bootstrap.controllers") or known.get("bootstrap.servers") or ""
    check_servers(str(servers), "Failed to create new KafkaAdminClient")
    return asyncio.run(_connected({name: value for name, value in known.items() if value is not None}, work))


async def _connected(settings: Mapping[str, object], work: AdminWork[T]) -> T:
    admin = AsyncAdmin(settings)
    # Scripts rely on tools that wait for a broker which is just starting.
    await admin.start(timeout_ms=admin.api_timeout_ms)
    try:
        return await work(admin)
    finally:
        await admin.close()
