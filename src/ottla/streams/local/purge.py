"""Deletes the records of repartition topics that this process has read and committed, as Kafka Streams does."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.record import TopicPartition
from ottla.streams.host.application import Application

_log = logging.getLogger(__name__)


class RepartitionPurge:
    """Does so from time to time; `committed` says how far all topics were read."""

    def __init__(self, application: Application, admin: AsyncAdmin, committed: Mapping[TopicPartition, int]) -> None:
        self._names: Final = {plan.name for plan in application.repartition_topics}
        self._admin: Final = admin
        self._committed: Final = committed
        self._purged: Final[dict[TopicPartition, int]] = {}

    async def run(self, interval_ms: int) -> None:
        """Goes on until it is cancelled; what fails is tried again the next time."""
        while self._names:
            await asyncio.sleep(interval_ms / 1000)
            try:
                await self._purge()
            except OttlaError as error:
                _log.warning("repartition topics are not purged for now: %s", error)

    async def _purge(self) -> None:
        offsets = {
            place: offset
            for place, offset in self._committed.items()
            if place.topic in self._names and offset > self._purged.get(place, 0)
        }
        if offsets:
            await self._admin.delete_records(offsets)
            self._purged.update(offsets)
