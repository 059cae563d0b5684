"""Writes statuses, the latest of each pipeline: while no broker answers, what is outdated is not kept."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.producer.async_producer import AsyncProducer
from ottla.pipelines.runner.status import PipelineStatus

_log: Final = logging.getLogger(__name__)
_PAUSE_S: Final = 1.0


class StatusWriter:
    """One producer; records of one pipeline are written in their order."""

    def __init__(self, client: Mapping[str, str], topic: str, owner: str) -> None:
        self._client: Final = client
        self._topic: Final = topic
        self._owner: Final = owner
        self._waiting: Final[dict[str, PipelineStatus | None]] = {}
        self._news: Final = asyncio.Event()
        self._done: Final = asyncio.Event()
        self._done.set()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to write."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self, patience_s: float) -> None:
        """Ends when all is written, or the patience is over."""
        try:
            async with asyncio.timeout(patience_s):
                await self._done.wait()
        except TimeoutError:
            _log.warning("%d statuses were not written", len(self._waiting))
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def write(self, name: str, status: PipelineStatus | None) -> None:
        """Writes it soon; None for a pipeline that is gone."""
        self._waiting[name] = None if status is None else replace(status, owner=self._owner)
        self._done.clear()
        self._news.set()

    async def flushed(self) -> None:
        """Waits until all of them are written."""
        await self._done.wait()

    async def _run(self) -> None:
        async with AsyncProducer({**self._client, "linger.ms": 5, "acks": "all"}) as producer:
            while True:
                await self._news.wait()
                self._news.clear()
                while self._waiting:
                    await self._write(producer, dict(self._waiting))
                self._done.set()

    async def _write(self, producer: AsyncProducer, batch: Mapping[str, PipelineStatus | None]) -> None:
        sent = [
            producer.send(self._topic, None if status is None else status.to_json(), name.encode())
            for name, status in batch.items()
        ]
        results = await asyncio.gather(*sent, return_exceptions=True)
        for (name, status), result in zip(batch.items(), results, strict=True):
            if isinstance(result, OttlaError):
                _log.warning("The status of %s could not be written: %s", name, result)
            elif isinstance(result, BaseException):
                raise result
            elif self._waiting.get(name) is status:
                del self._waiting[name]
        if any(isinstance(result, OttlaError) for result in results):
            await asyncio.sleep(_PAUSE_S)
