"""The driver's queries to brokers: the partitions of a subscription, and where they begin and end.

Used by one thread at a time. It connects when it is first asked, so that a reader can be sent to another process
before that.
"""

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.base.ids import Uuid
from ottla.client.admin.value.offset import IsolationLevel, OffsetSpec
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.record import TopicPartition
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.option.offset_json import PartitionOffsets
from ottla.pipelines.option.parse import ReadOptions
from ottla.pipelines.option.subscription import Subscription
from ottla.protocol.errors import UnknownTopicOrPartitionError

if TYPE_CHECKING:
    from ottla.client.admin.blocking_admin import Admin

_NEW_TOPIC_PATIENCE_S: Final = 2.0
"""How long a topic may take from its creation until every broker knows it."""
_NEW_TOPIC_PAUSE_S: Final = 0.1


class TopicCatalog:
    """The partitions of a subscription, and their offsets."""

    def __init__(self, options: ReadOptions) -> None:
        self._options: Final = options
        self._isolation_level: Final = (
            IsolationLevel.READ_COMMITTED if options.is_committed_only else IsolationLevel.READ_UNCOMMITTED
        )
        self._includes_internal: Final = not ClientSettings.of(CONSUMER_KEYS, options.settings).boolean(
            "exclude.internal.topics"
        )
        self._admin: Admin | None = None
        self._partitions: dict[TopicPartition, Uuid] = {}
        self._looked_at_s = float("-inf")

    @property
    def admin(self) -> "Admin":
        """The connection."""
        if self._admin is None:
            # Executors get a copy of this and never ask.
            from ottla.client.admin.blocking_admin import Admin
            from ottla.client.config.admin import ADMIN_KEYS

            settings = {name: value for name, value in self._options.settings.items() if name in ADMIN_KEYS}
            self._admin = Admin(settings)
        return self._admin

    def close(self) -> None:
        """Ends the connection; the next question makes a new one."""
        admin, self._admin = self._admin, None
        if admin is not None:
            admin.close()

    def partitions(self) -> dict[TopicPartition, Uuid]:
        """All partitions that exist and are meant, with their topics' ids.

        Believes what it knows for `partition.metadata.cache.ttl.ms`.
        """
        now_s = time.monotonic()
        if now_s - self._looked_at_s >= self._options.metadata_age_ms_max / 1000:
            self._partitions = self._look()
            self._looked_at_s = now_s
        return self._partitions

    def require_partitions(self) -> dict[TopicPartition, Uuid]:
        """Like `partitions`; raises `OptionError` if a named one is missing and does not appear in a moment."""
        subscription = self._options.subscription
        give_up_at_s = time.monotonic() + _NEW_TOPIC_PATIENCE_S
        while missing := _missing(subscription, found := self.partitions()):
            if time.monotonic() > give_up_at_s:
                raise OptionError(subscription.option, f"there is no {', '.join(missing)}: create it first")
            time.sleep(_NEW_TOPIC_PAUSE_S)
            self._looked_at_s = float("-inf")
        return found

    def earliest(self, partitions: Iterable[TopicPartition]) -> PartitionOffsets:
        """The first offsets; partitions that are gone meanwhile are left out."""
        return self._offsets(dict.fromkeys(partitions, OffsetSpec.EARLIEST))

    def latest(self, partitions: Iterable[TopicPartition]) -> PartitionOffsets:
        """The ends for a reader of this isolation level; partitions that are gone meanwhile are left out."""
        return self._offsets(dict.fromkeys(partitions, OffsetSpec.LATEST))

    def at_times(self, times_ms: Mapping[TopicPartition, int]) -> PartitionOffsets:
        """The first offsets of these times or later, -1 where there are none."""
        return self._offsets(times_ms)

    def _look(self) -> dict[TopicPartition, Uuid]:
        subscription = self._options.subscription
        names: Iterable[str] = subscription.topics
        if subscription.pattern is not None:
            names = subscription.matching(self.admin.list_topics(include_internal=self._includes_internal))
        errors: dict[str, OttlaError] = {}
        topics = self.admin.describe_topics(names, errors=errors)
        for name, error in errors.items():
            if not isinstance(error, UnknownTopicOrPartitionError):
                raise OptionError(subscription.option, f"{name}: {error}") from error
        found = {
            TopicPartition(name, part.partition): topic.topic_id
            for name, topic in topics.items()
            for part in topic.partitions
        }
        return {partition: topic_id for partition, topic_id in found.items() if subscription.includes(partition)}

    def _offsets(self, asked: Mapping[TopicPartition, OffsetSpec | int]) -> PartitionOffsets:
        if not asked:
            return {}
        errors: dict[TopicPartition, OttlaError] = {}
        listed = self.admin.list_offsets(asked, isolation_level=self._isolation_level, errors=errors)
        for partition, error in errors.items():
            if not isinstance(error, UnknownTopicOrPartitionError):
                error.add_note(f"while asking for the offset of {partition}")
                raise error
        return {partition: found.offset for partition, found in listed.items()}


def _missing(subscription: Subscription, found: Mapping[TopicPartition, Uuid]) -> list[str]:
    if subscription.partitions is not None:
        return [f"partition {part}" for part in sorted(subscription.partitions - found.keys())]
    return [f"topic {name!r}" for name in sorted(subscription.topics - {part.topic for part in found})]
