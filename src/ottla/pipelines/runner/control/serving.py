"""Runs a control process until a signal ends it: SIGTERM and the first Ctrl-C end it in order, a second one at once."""

import asyncio
import logging
import os
import signal
from typing import Final, Protocol

from ottla.base.errors import OttlaError

_log: Final = logging.getLogger(__name__)
_INTERRUPTED: Final = 130


class Startable(Protocol):
    """A part that can be started and stopped."""

    async def start(self) -> None:
        """Raises `OttlaError`."""

    async def stop(self) -> None:
        """Ends in order."""


def serve(service: Startable) -> int:
    """The exit code."""
    return asyncio.run(_serve(service))


async def _serve(service: Startable) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def told() -> None:
        if stop.is_set():
            os._exit(_INTERRUPTED)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told)
    try:
        await service.start()
    except OttlaError as error:
        _log.critical("Exiting: %s", error)
        return 1
    await stop.wait()
    await service.stop()
    return 0
