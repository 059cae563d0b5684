"""The application on its cluster, before a query starts: topics planned and made, old state checked, where to begin.

An internal topic that is gone though the application has run before is not made anew: what it held would be missing
without a word.
"""

import json
import logging
import shutil
from collections.abc import Mapping
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.pipelines.option.offset_json import EARLIEST, LATEST, document_of
from ottla.pipelines.streams.setting import StreamsSettings
from ottla.protocol.errors import TopicAlreadyExistsError, UnknownTopicOrPartitionError
from ottla.streams.engine.topology import Topology
from ottla.streams.errors import StreamsError
from ottla.streams.host.application import Application
from ottla.streams.host.internal_topic import (
    InternalTopicPlan,
    has_run,
    is_internal,
    missing_error,
    missing_topics,
    was_reset,
)
from ottla.streams.host.layout import check_layout
from ottla.streams.state.note import write_note

_log = logging.getLogger(__name__)
_LAYOUT: Final = "layout.json"
_IDENTITIES: Final = "internal_topics.json"


class TopicSetup:
    """Looks at the cluster and prepares it."""

    def __init__(self, topology: Topology, config: Mapping[str, Any], settings: StreamsSettings) -> None:
        self._topology: Final = topology
        self._config: Final = config
        self._settings: Final = settings

    def prepare(self) -> tuple[Application, str]:
        """The application, and where its query begins unless it has a checkpoint: `startingOffsets`."""
        settings = self._settings
        with Admin(settings.admin) as admin:
            own = settings.application_id
            external = {topic: count for topic, count in _counts(admin).items() if not is_internal(own, topic)}
            application = Application.planned(self._topology, self._config, external)
            committed = _committed(admin, application.application_id)
            counts = _counts(admin)
            if was_reset(committed, _internal(application), counts):
                self._forget()
            self._check_layout(application)
            missing = missing_topics(application.application_id, _internal(application), counts, committed)
            self._create(admin, missing)
            self._check_identity(admin, application, has_run=has_run(committed))
            start = self._start(application, committed)
        return application, json.dumps(document_of(start))

    def _forget(self) -> None:
        """Deletes what the application knew before it was reset."""
        settings = self._settings
        _log.warning("%s was reset: its local state and its checkpoint are deleted", settings.application_id)
        for path in (settings.state_dir / "state", settings.checkpoint):
            shutil.rmtree(path, ignore_errors=True)
        for name in (_LAYOUT, _IDENTITIES):
            (settings.state_dir / name).unlink(missing_ok=True)

    def check(self, application: Application) -> None:
        """While it runs: `MissingInternalTopicError` if an internal topic is gone, or was made anew."""
        with Admin(self._settings.admin) as admin:
            self._check_identity(admin, application, has_run=True)

    def _check_identity(self, admin: Admin, application: Application, *, has_run: bool) -> None:
        """Compares the ids of the internal topics with those of the last start: a name may belong to another topic.

        A broker may make a deleted topic anew as soon as a producer asks for it: empty, and with other settings.
        """
        path = self._settings.state_dir / _IDENTITIES
        before: dict[str, str] = json.loads(path.read_text()) if path.exists() and has_run else {}
        errors: dict[str, OttlaError] = {}
        wanted = [plan.name for plan in _internal(application)]
        found = {name: str(topic.topic_id) for name, topic in admin.describe_topics(wanted, errors=errors).items()}
        gone = [name for name, known in before.items() if name in wanted and found.get(name, known) != known]
        gone += [name for name, error in errors.items() if isinstance(error, UnknownTopicOrPartitionError)]
        if gone:
            raise missing_error(application.application_id, gone)
        write_note(path, json.dumps({**before, **found}, sort_keys=True))

    def _check_layout(self, application: Application) -> None:
        path = self._settings.state_dir / _LAYOUT
        layout = application.layout()
        if path.exists():
            check_layout(path.read_text(), layout)
        write_note(path, layout)

    def _create(self, admin: Admin, missing: list[InternalTopicPlan]) -> None:
        topics = [
            NewTopic(plan.name, plan.partitions, self._settings.replication_factor, configs=dict(plan.config))
            for plan in missing
        ]
        errors: dict[str, OttlaError] = {}
        admin.create_topics(topics, errors=errors)
        for name, error in errors.items():
            if not isinstance(error, TopicAlreadyExistsError):
                raise StreamsError(f"the topic {name} cannot be made: {error}") from error

    def _start(
        self, application: Application, committed: Mapping[TopicPartition, OffsetAndMetadata]
    ) -> dict[TopicPartition, int]:
        """The group's offsets; where it has none, what the source or the configuration says; internal topics whole."""
        start = {}
        for stage in application.stages:
            for topic in stage.topics:
                for number in range(application.counts[application.short_name(topic)]):
                    place = TopicPartition(topic, number)
                    found = committed.get(place)
                    start[place] = self._reset(application, topic) if found is None else found.offset
        return start

    def _reset(self, application: Application, topic: str) -> int:
        if application.short_name(topic) in self._topology.internal_topics:
            return EARLIEST
        source = self._topology.source_of(topic)
        wanted = (source.offset_reset if source is not None else None) or self._settings.offset_reset
        return LATEST if wanted == "latest" else EARLIEST


def _internal(application: Application) -> list[InternalTopicPlan]:
    return [*application.repartition_topics, *application.changelogs.values()]


def _counts(admin: Admin) -> dict[str, int]:
    errors: dict[str, OttlaError] = {}
    found = admin.describe_topics(list(admin.list_topics()), errors=errors)
    for error in errors.values():
        if not isinstance(error, UnknownTopicOrPartitionError):
            raise error
    return {name: len(topic.partitions) for name, topic in found.items()}


def _committed(admin: Admin, group_id: str) -> dict[TopicPartition, OffsetAndMetadata]:
    found = admin.list_consumer_group_offsets({group_id: None})[group_id]
    return {place: offset for place, offset in found.items() if offset is not None}
