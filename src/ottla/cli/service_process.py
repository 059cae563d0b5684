"""Runs a service of `ottla.web` until a signal ends it: what all commands that serve HTTP have in common.

SIGTERM and the first Ctrl-C stop it in order, exit code 0; a second Ctrl-C ends the process at once. A service that
cannot start costs 1.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from ottla.base.collector import settle
from ottla.base.config import UnknownKey
from ottla.base.errors import OttlaError
from ottla.base.log import configure

_log: Final = logging.getLogger(__name__)
_INTERRUPTED: Final = 130


class Address(Protocol):
    """Where a service listens."""

    @property
    def url(self) -> str:
        """As a URL."""


class Service(Protocol):
    """What can be started and stopped."""

    @property
    def addresses(self) -> Sequence[Address]:
        """Where clients reach it."""

    async def start(self) -> None:
        """Serves from now on; raises `OttlaError`."""

    async def stop(self) -> None:
        """Ends in order."""


def run_service(
    name: str,
    service: Service,
    log_level: str,
    unknown: Sequence[str],
    nearest: Callable[[str], str | None] = lambda _: None,
) -> int:
    """Serves until it is told to stop; the exit code. `nearest` finds what an unknown setting may have meant."""
    configure(log_level.upper())
    for setting in unknown:
        _log.warning("%s", UnknownKey(setting, nearest(setting)))
    return asyncio.run(_serve(name, service))


async def _serve(name: str, service: Service) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def interrupted() -> None:
        if stop.is_set():
            os._exit(_INTERRUPTED)
        stop.set()

    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.add_signal_handler(signal.SIGINT, interrupted)
    start = asyncio.ensure_future(service.start())
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({start, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if start.done():
            start.result()
            settle()
            _log.info("%s serves at %s", name, ", ".join(address.url for address in service.addresses))
            await stopping
        return 0
    except OttlaError as error:
        _log.critical("Exiting: %s", error)
        return 1
    finally:
        for task in (start, stopping):
            task.cancel()
        await asyncio.wait({start, stopping})
        await service.stop()
        _log.info("%s stopped", name)
