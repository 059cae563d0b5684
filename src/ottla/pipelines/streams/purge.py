"""Deletes the records of repartition topics that the application has read and committed, as Kafka Streams does."""

import logging
import time
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.blocking_admin import Admin
from ottla.client.record import TopicPartition
from ottla.pipelines.streams.setting import StreamsSettings
from ottla.streams.host.application import Application

_log = logging.getLogger(__name__)


class RepartitionPurge:
    """Does so every `repartition.purge.interval.ms`."""

    def __init__(self, settings: StreamsSettings) -> None:
        self._settings: Final = settings
        self._admin: Admin | None = None
        self._last_s = time.monotonic()
        self._purged: dict[TopicPartition, int] = {}

    def turn(self, application: Application) -> None:
        """Does it if it is due; what fails is tried again the next time."""
        names = {plan.name for plan in application.repartition_topics}
        if not names or time.monotonic() - self._last_s < self._settings.purge_interval_ms / 1000:
            return
        self._last_s = time.monotonic()
        try:
            self._purge(names)
        except OttlaError as error:
            _log.warning("repartition topics of %s are not purged for now: %s", application.application_id, error)

    def close(self) -> None:
        """Ends the connection."""
        if self._admin is not None:
            self._admin.close()

    def _purge(self, names: set[str]) -> None:
        if self._admin is None:
            self._admin = Admin(self._settings.admin)
        group_id = self._settings.application_id
        found = self._admin.list_consumer_group_offsets({group_id: None})[group_id]
        offsets = {
            place: offset.offset
            for place, offset in found.items()
            if offset is not None and place.topic in names and offset.offset > self._purged.get(place, 0)
        }
        if offsets:
            self._admin.delete_records(offsets)
            self._purged |= offsets
