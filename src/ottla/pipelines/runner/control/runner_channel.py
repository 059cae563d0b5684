"""The control process's end of the connections to its runners."""

import asyncio
import hmac
import logging
import secrets
from collections.abc import Callable, Mapping
from typing import Any, Final

from ottla.pipelines.runner.message import LINE_BYTES_MAX, decode, encode

_log: Final = logging.getLogger(__name__)
_HELLO_SECONDS: Final = 30.0


class RunnerChannel:
    """Listens on loopback; each runner shows the token that it was started with."""

    def __init__(self, hear: Callable[[str, Mapping[str, Any]], None], lost: Callable[[str], None]) -> None:
        self.address = ""
        self._hear: Final = hear
        self._lost: Final = lost
        self._tokens: Final[dict[str, str]] = {}
        self._writers: Final[dict[str, asyncio.StreamWriter]] = {}
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listens from now on."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=LINE_BYTES_MAX)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.address = f"{host}:{port}"

    async def stop(self) -> None:
        """Ends all connections, which ends the runners."""
        for writer in self._writers.values():
            writer.close()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    def expect(self, runner: str) -> str:
        """The token of a runner that is about to be started."""
        return self._tokens.setdefault(runner, secrets.token_hex(16))

    def forget(self, runner: str) -> None:
        """It is gone."""
        self._tokens.pop(runner, None)
        writer = self._writers.pop(runner, None)
        if writer is not None:
            writer.close()

    def send(self, runner: str, message: Mapping[str, Any]) -> None:
        """Sends to a runner; nothing if it is not connected: its death is told by another way."""
        writer = self._writers.get(runner)
        if writer is not None:
            writer.write(encode(message))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        runner = ""
        try:
            async with asyncio.timeout(_HELLO_SECONDS):
                hello = decode(await reader.readline())
            name = str(hello.get("runner"))
            if not hmac.compare_digest(self._tokens.get(name, ""), str(hello.get("token"))) or name in self._writers:
                _log.warning("Refused a connection that is not of a runner: %s", name)
                return
            runner = name
            self._writers[runner] = writer
            self._hear(runner, hello)
            while line := await reader.readline():
                self._hear(runner, decode(line))
        except (OSError, ValueError, TimeoutError) as error:
            _log.info("The connection of %s ended: %s", runner or "a runner", error)
        finally:
            writer.close()
            if runner and self._writers.get(runner) is writer:
                del self._writers[runner]
                self._lost(runner)
