"""IncrementalAlterConfigs and AlterConfigs: what dynamic configs may become. What they mean is their owners' business.

A resource is altered as a whole or not at all. While eligible leader replicas are on, `min.insync.replicas` is the
cluster's or a topic's, never a single broker's, and changing it clears the replicas that it made eligible (KIP-966).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from ottla.base.frozen import frozen
from ottla.metadata.controller.context import MIN_IN_SYNC_REPLICAS, ControllerContext
from ottla.metadata.image.config import CLUSTER_DEFAULT, ConfigResource, Configs, ResourceType
from ottla.metadata.metadata_version import MetadataVersion
from ottla.protocol.errors import (
    BrokerIdNotRegisteredError,
    InvalidConfigError,
    InvalidRequestError,
    UnknownTopicOrPartitionError,
)
from ottla.protocol.metadata_log.config import ConfigRecord
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.topic import ClearElrRecord

CORDONED_LOG_DIRS: Final = "cordoned.log.dirs"
VALUE_LENGTH_MAX: Final = 32_767


@frozen
class ConfigChange:
    """Which resource is altered, and under which circumstances."""

    resource: ConfigResource
    is_new: bool = False
    """Whether the resource is being created, so that it need not exist yet."""
    through_broker: bool = True


def alter_configs_of(
    context: ControllerContext,
    change: ConfigChange,
    values: Mapping[str, str | None],
    *,
    removed: Iterable[str] = (),
) -> list[VersionedRecord]:
    """The records that give a resource those `values` (None removes one) and take `removed` away.

    Raises an `ApiError` if the resource may not have them. `removed` are configs that a legacy AlterConfigs did not
    repeat: operators' policies don't get to see them (KAFKA-14195).
    """
    existing = context.image.configs_of(change.resource)
    # A broker gets a record even if nothing changes: that makes it reload files that the value names (KAFKA-14136).
    altered = {
        name: value
        for name, value in values.items()
        if existing.get(name) != value or change.resource.type == ResourceType.BROKER
    }
    everything = {**altered, **dict.fromkeys(removed)}
    for name, value in everything.items():
        _check_value(context, change, name, value)
    known = _known(context, change.resource, existing)
    merged = {**known, **everything}
    context.ports.schema.validate(
        change.resource, {name: value for name, value in merged.items() if value is not None}, known
    )
    if not change.is_new:
        check_exists(context, change.resource)
    context.ports.policy.check_configs(change.resource, altered)
    records = [_record(change.resource, name, value) for name, value in everything.items()]
    return [*records, *clear_elr_records(context, records)]


def _known(context: ControllerContext, resource: ConfigResource, configs: Configs) -> Mapping[str, str]:
    """The known part of the stored configs: keys that no release knows any more must not prevent a change.

    Kafka skips their records when it replays the log. The image knows no keys and keeps them until they are removed.
    """
    if resource.type == ResourceType.BROKER:
        return configs
    supports = context.ports.schema.supports
    return {name: value for name, value in configs.items() if supports(resource.type, name)}


def check_exists(context: ControllerContext, resource: ConfigResource) -> None:
    """Raises an `ApiError` if there is no such topic or node to have configs."""
    if resource.type == ResourceType.TOPIC and resource.name not in context.image.topics.ids:
        raise UnknownTopicOrPartitionError(f"The topic '{resource.name}' does not exist.")
    if resource.type != ResourceType.BROKER or resource == CLUSTER_DEFAULT:
        return
    try:
        node_id = int(resource.name)
    except ValueError as error:
        raise InvalidRequestError(f"Invalid broker name {resource.name}") from error
    cluster = context.image.cluster
    voters = context.ports.quorum.voter_ids()
    if node_id not in cluster.brokers and node_id not in cluster.controllers and node_id not in voters:
        raise BrokerIdNotRegisteredError(f"No node with id {node_id} found.")


def clear_elr_records(context: ControllerContext, records: list[VersionedRecord]) -> list[VersionedRecord]:
    """A ClearElrRecord for every `min.insync.replicas` among `records`: of a topic, or of all topics."""
    if not context.image.features.elr_enabled:
        return []
    cleared = Counter(
        record.resource_name if record.resource_type == ResourceType.TOPIC else ""
        for record, _ in records
        if isinstance(record, ConfigRecord) and record.name == MIN_IN_SYNC_REPLICAS
    )
    return [VersionedRecord(ClearElrRecord(topic_name=name), 0) for name in cleared.elements()]


def elr_safety_records(context: ControllerContext) -> list[VersionedRecord]:
    """The condition for switching eligible leader replicas on: one minimum for the whole cluster."""
    records = []
    if MIN_IN_SYNC_REPLICAS not in context.image.configs_of(CLUSTER_DEFAULT):
        minimum = context.ports.schema.default(CLUSTER_DEFAULT, MIN_IN_SYNC_REPLICAS)
        records.append(_record(CLUSTER_DEFAULT, MIN_IN_SYNC_REPLICAS, minimum))
    records += [
        _record(resource, MIN_IN_SYNC_REPLICAS, None)
        for resource, configs in sorted(context.image.configs.items(), key=lambda item: item[0])
        if resource.type == ResourceType.BROKER and resource.name and MIN_IN_SYNC_REPLICAS in configs
    ]
    return records


def _check_value(context: ControllerContext, change: ConfigChange, name: str, value: str | None) -> None:
    if change.resource.type == ResourceType.BROKER:
        if name == MIN_IN_SYNC_REPLICAS and context.image.features.elr_enabled:
            _check_min_isr(change.resource, value)
        if name == CORDONED_LOG_DIRS:
            _check_cordoned(context, change, value)
    if value is not None and len(value) > VALUE_LENGTH_MAX:
        raise InvalidConfigError(
            "The configuration value cannot be added because it exceeds the maximum value size of "
            f"{VALUE_LENGTH_MAX} bytes."
        )


def _check_min_isr(resource: ConfigResource, value: str | None) -> None:
    if resource != CLUSTER_DEFAULT:
        raise InvalidConfigError(f"Broker-level {MIN_IN_SYNC_REPLICAS} cannot be altered while ELR is enabled.")
    if value is None:
        raise InvalidConfigError(f"Cluster-level {MIN_IN_SYNC_REPLICAS} cannot be removed while ELR is enabled.")


def _check_cordoned(context: ControllerContext, change: ConfigChange, value: str | None) -> None:
    if not context.version.supports_cordoned_log_dirs:
        raise InvalidConfigError(
            f"The {CORDONED_LOG_DIRS} configuration value cannot be set because it requires metadata.version >= "
            f"{MetadataVersion.V4_3_IV0}"
        )
    if change.through_broker or not (value or "").strip():
        return
    # Only the broker knows its directories. Without it, they can be opened again but not closed.
    current = context.image.configs_of(change.resource).get(CORDONED_LOG_DIRS, "")
    if not _directories(value or "") <= _directories(current):
        raise InvalidConfigError(
            f"When updating {CORDONED_LOG_DIRS} via controllers,  the new value must be a subset of the current "
            "configuration value."
        )


def _directories(value: str) -> set[str]:
    return {part.strip() for part in value.split(",")} if value else set()


def _record(resource: ConfigResource, name: str, value: str | None) -> VersionedRecord:
    record = ConfigRecord(resource_type=resource.type, resource_name=resource.name, name=name, value=value)
    return VersionedRecord(record, 0)


def splittable_value(configs: Configs, default: str | None, name: str) -> list[str]:
    """The parts of a list that values are appended to or subtracted from."""
    return [part for part in (configs.get(name) or default or "").split(",") if part]
