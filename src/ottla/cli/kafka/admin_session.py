"""Runs a tool's work with an admin client: settings from `--command-config`, the servers from the command line.

Imports the client, so a tool imports this only when it has something to ask.
"""

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

from ottla.base.config import ConfigError
from ottla.base.errors import OttlaError
from ottla.cli.kafka.client_setting import properties_in
from ottla.cli.kafka.option import ChosenOptions, OptionValueError, ToolError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.cluster.address import Address, parse_address
from ottla.client.config.admin import ADMIN_KEYS

T = TypeVar("T")

Work = Callable[[AsyncAdmin], Awaitable[T]]

_SERVERS: Final = ("bootstrap.servers", "bootstrap.controllers")


class UnusableServersError(OptionValueError):
    """Nobody can be connected to at these addresses, ever. Kafka says no more than that; the second line says why."""

    java_class = "org.apache.kafka.common.KafkaException"

    def __init__(self, reason: str) -> None:
        super().__init__(
            "Failed to create new KafkaAdminClient\n"
            f"Caused by: org.apache.kafka.common.config.ConfigException: {reason}"
        )
        self.reason: Final = reason


def run_work(options: ChosenOptions, work: Work[T], settings: Mapping[str, object] | None = None) -> T:
    """Connects as `--bootstrap-server`, `--bootstrap-controller` and `--command-config` say, and does the work."""
    return run_with(session_settings(options), work, settings)


def run_reported(options: ChosenOptions, work: Work[None], label: str, *, is_client_labelled: bool = True) -> int:
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


def run_with(given: Mapping[str, object], work: Work[T], settings: Mapping[str, object] | None = None) -> T:
    """The same from settings. Kafka's tools ignore settings that no admin client has, so these do."""
    known = {name: value for name, value in {**given, **(settings or {})}.items() if name in ADMIN_KEYS}
    return asyncio.run(_connected({name: value for name, value in known.items() if value is not None}, work))


async def _connected(settings: Mapping[str, object], work: Work[T]) -> T:
    admin = await _client(settings)
    # Scripts rely on tools that wait for a broker which is just starting.
    await admin.start(timeout_ms=admin.api_timeout_ms)
    try:
        return await work(admin)
    finally:
        await admin.close()


async def _client(settings: Mapping[str, object]) -> AsyncAdmin:
    try:
        admin = AsyncAdmin(settings)
    except ConfigError as error:
        if error.key in _SERVERS:
            raise UnusableServersError(f"Invalid url in {error.key}: {error.value} ({error.reason})") from None
        raise
    texts = ",".join(str(settings.get(name) or "") for name in _SERVERS).split(",")
    await _check_names([parse_address(_SERVERS[0], text.strip()) for text in texts if text.strip()])
    return admin


async def _check_names(addresses: list[Address]) -> None:
    """Raises `UnusableServersError` if no name can be resolved: a broker that is just starting has one."""
    loop = asyncio.get_running_loop()
    reason = ""
    for address in addresses:
        try:
            await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        except OSError as error:
            reason = f"{address.host}: {error.strerror}"
        else:
            return
    raise UnusableServersError(f"No resolvable bootstrap urls given in bootstrap.servers ({reason})")
