"""The topics that belong to an application: their names, partitions and settings, which are Kafka Streams'.

<application.id>-<name>-repartition    records whose key has changed; what was read is deleted by the application
<application.id>-<store>-changelog     a store's changes; compacted, and where windows age, deleted as well
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.streams.engine.store.coder import changelog_topic
from ottla.streams.engine.store.spec import StoreSpec
from ottla.streams.errors import StreamsError
from ottla.streams.host.layout import IncompatibleTopologyError

_DAY_MS: Final = 86_400_000
_REPARTITION: Final[Mapping[str, str]] = {
    "cleanup.policy": "delete",
    "message.timestamp.type": "CreateTime",
    "retention.ms": "-1",
    "segment.bytes": "52428800",
}
_CHANGELOG: Final[Mapping[str, str]] = {"cleanup.policy": "compact", "message.timestamp.type": "CreateTime"}


class MissingInternalTopicError(StreamsError):
    """A changelog or repartition topic of an application that has run before is gone."""


@dataclass(frozen=True, slots=True)
class InternalTopicPlan:
    """A topic that the application makes."""

    name: str
    partitions: int
    config: Mapping[str, str]


def repartition_plan(name: str, partitions: int) -> InternalTopicPlan:
    """A repartition topic by its full name."""
    return InternalTopicPlan(name, partitions, dict(_REPARTITION))


def changelog_plan(
    application_id: str, spec: StoreSpec, partitions: int, additional_retention_ms: int = _DAY_MS
) -> InternalTopicPlan:
    """A store's changelog; `additional_retention_ms` is `windowstore.changelog.additional.retention.ms`.

    >>> from ottla.streams.engine.store.spec import StoreKind
    >>> spec = StoreSpec("hits", StoreKind.TIMESTAMPED_WINDOW, retention_ms=60_000)
    >>> plan = changelog_plan("shop", spec, 4)
    >>> plan.name, plan.config["cleanup.policy"], plan.config["retention.ms"]
    ('shop-hits-changelog', 'compact,delete', '86460000')
    """
    config = dict(_CHANGELOG)
    if spec.is_windowed:
        retention_ms = min(spec.retention_ms + additional_retention_ms, (1 << 63) - 1)
        config |= {"cleanup.policy": "compact,delete", "retention.ms": str(retention_ms)}
    elif spec.is_versioned:
        config["min.compaction.lag.ms"] = str(min(spec.retention_ms + _DAY_MS, (1 << 63) - 1))
    return InternalTopicPlan(changelog_topic(application_id, spec.name), partitions, {**config, **spec.topic_config})


def is_internal(application_id: str, topic: str) -> bool:
    """Whether a topic is one of the application's own, which patterns do not match.

    >>> is_internal("shop", "shop-counts-changelog"), is_internal("shop", "shop-orders")
    (True, False)
    """
    return topic.startswith(f"{application_id}-") and topic.endswith(("-changelog", "-repartition"))


def has_run(committed: Mapping[TopicPartition, OffsetAndMetadata]) -> bool:
    """Whether tasks have committed the group's offsets: they add metadata, a reset adds none.

    >>> has_run({TopicPartition("orders", 0): OffsetAndMetadata(0)})
    False
    """
    return any(offset.metadata for offset in committed.values())


def was_reset(
    committed: Mapping[TopicPartition, OffsetAndMetadata],
    wanted: Sequence[InternalTopicPlan],
    counts: Mapping[str, int],
) -> bool:
    """Whether a reset has moved the group's offsets and deleted internal topics: local state is obsolete."""
    return bool(committed) and not has_run(committed) and not any(plan.name in counts for plan in wanted)


def missing_topics(
    application_id: str,
    wanted: Sequence[InternalTopicPlan],
    counts: Mapping[str, int],
    committed: Mapping[TopicPartition, OffsetAndMetadata],
) -> list[InternalTopicPlan]:
    """The internal topics that have to be made, where `counts` are there.

    `IncompatibleTopologyError` for one with another number of partitions, `MissingInternalTopicError` for one that is
    gone though the application has run before.
    """
    for plan in wanted:
        found = counts.get(plan.name, plan.partitions)
        if found != plan.partitions:
            raise IncompatibleTopologyError(
                f"the topic {plan.name} has {found} partitions, and the topology needs {plan.partitions}: the "
                f"number of partitions of an input has changed. Reset the application to begin anew"
            )
    missing = [plan for plan in wanted if plan.name not in counts]
    if missing and has_run(committed):
        raise missing_error(application_id, [plan.name for plan in missing])
    return missing


def missing_error(application_id: str, names: Sequence[str]) -> MissingInternalTopicError:
    """The error that names the topics and says what to do."""
    return MissingInternalTopicError(
        f"{', '.join(sorted(set(names)))} is gone, and {application_id} has run before: what was in there is lost. "
        f"Reset the application (ottla streams reset {application_id}) to compute it again from the inputs"
    )
