"""The application on its cluster, before it joins its group: topics planned and made, old state checked.

An internal topic that is gone though the application has run before is not made anew: what it held would be missing
without a word.
"""

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.topic import NewTopic
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.protocol.errors import TopicAlreadyExistsError, TopicAuthorizationFailedError, UnknownTopicOrPartitionError
from ottla.streams.engine.topology import Topology
from ottla.streams.errors import StreamsError
from ottla.streams.host.application import Application
from ottla.streams.host.internal_topic import InternalTopicPlan, has_run, is_internal, missing_topics
from ottla.streams.host.layout import check_layout
from ottla.streams.local.setting import LocalSettings
from ottla.streams.local.topic_watch import TopicWatch
from ottla.streams.state.note import write_note

_VISIBLE_S: Final = 30.0
_PAUSE_S: Final = 0.1


class Preparation:
    """Looks at the cluster and prepares it."""

    def __init__(self, topology: Topology, config: Mapping[str, Any], settings: LocalSettings) -> None:
        self._topology: Final = topology
        self._config: Final = config
        self._settings: Final = settings
        self.counts: dict[str, int] = {}
        """Partitions of all topics of the cluster."""
        self.watch: TopicWatch | None = None
        """What looks after the internal topics, once they are prepared."""

    async def prepare(self, admin: AsyncAdmin) -> Application:
        """The application as it is on the cluster, with its internal topics."""
        settings = self._settings
        # In this order: what another instance has committed by now, it has made topics for.
        committed = await _committed(admin, settings.application_id)
        counts = await _counts(admin)
        external = {name: count for name, count in counts.items() if not is_internal(settings.application_id, name)}
        application = Application.planned(self._topology, self._config, external)
        self._check_layout(application)
        wanted = [*application.repartition_topics, *application.changelogs.values()]
        missing = missing_topics(application.application_id, wanted, counts, committed)
        await self._create(admin, missing)
        self.counts = {**counts, **{plan.name: plan.partitions for plan in wanted}}
        self.watch = TopicWatch(application, admin, settings.state_dir)
        await self.watch.begin(has_run=has_run(committed))
        return application

    def _check_layout(self, application: Application) -> None:
        path = self._settings.state_dir / "layout.json"
        layout = application.layout()
        if path.exists():
            check_layout(path.read_text(), layout)
        write_note(path, layout)

    async def _create(self, admin: AsyncAdmin, missing: list[InternalTopicPlan]) -> None:
        topics = [
            NewTopic(plan.name, plan.partitions, self._settings.replication_factor, configs=dict(plan.config))
            for plan in missing
        ]
        errors: dict[str, OttlaError] = {}
        if topics:
            await admin.create_topics(topics, errors=errors)
        for name, error in errors.items():
            if not isinstance(error, TopicAlreadyExistsError):
                needed = " It needs CREATE on the topic." if isinstance(error, TopicAuthorizationFailedError) else ""
                raise StreamsError(f"the topic {name} cannot be made: {error}{needed}") from error
        await _wait_for(admin, [plan.name for plan in missing])


async def _wait_for(admin: AsyncAdmin, names: list[str]) -> None:
    """Brokers hear of a new topic a moment after the controller has made it."""
    deadline_s = time.monotonic() + _VISIBLE_S
    while names and time.monotonic() < deadline_s:
        errors: dict[str, OttlaError] = {}
        await admin.describe_topics(names, errors=errors)
        names = [name for name, error in errors.items() if isinstance(error, UnknownTopicOrPartitionError)]
        if names:
            await asyncio.sleep(_PAUSE_S)


async def _counts(admin: AsyncAdmin) -> dict[str, int]:
    errors: dict[str, OttlaError] = {}
    found = await admin.describe_topics(list(await admin.list_topics()), errors=errors)
    for error in errors.values():
        if not isinstance(error, UnknownTopicOrPartitionError):
            raise error
    return {name: len(topic.partitions) for name, topic in found.items()}


async def _committed(admin: AsyncAdmin, group_id: str) -> dict[TopicPartition, OffsetAndMetadata]:
    found = (await admin.list_consumer_group_offsets({group_id: None}))[group_id]
    return {place: offset for place, offset in found.items() if offset is not None}
