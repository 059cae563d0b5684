"""The records for a broker that is fenced, unfenced, shut down, unregistered, or loses a log directory."""

from collections.abc import Sequence

from ottla.base.ids import Uuid
from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult
from ottla.metadata.controller.topic.leader_update import (
    NOBODY_LEAVES,
    BrokerMove,
    leader_and_isr_updates,
    leaderless_partitions,
)
from ottla.metadata.controller.topic.topic_index import partitions_with
from ottla.metadata.image.cluster import FENCE, IN_CONTROLLED_SHUTDOWN, UNFENCE, BrokerRegistration
from ottla.metadata.image.topic import TopicImage
from ottla.protocol.errors import BrokerIdNotRegisteredError
from ottla.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from ottla.protocol.metadata_log.broker import BrokerRegistrationChangeRecord, UnregisterBrokerRecord
from ottla.protocol.metadata_log.log import VersionedRecord


def fence(context: ControllerContext, broker: BrokerRegistration) -> list[VersionedRecord]:
    """The broker leads nothing and is in sync with nothing until it is heard again."""
    records = leader_and_isr_updates(context, BrokerMove(removed=broker.id), _in_isr(context, broker.id))
    change = BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch, fenced=FENCE)
    return [*records, VersionedRecord(change, 0)]


def unfence(context: ControllerContext, broker: BrokerRegistration) -> list[VersionedRecord]:
    """The broker may lead again; partitions that waited for it get their leader."""
    change = BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch, fenced=UNFENCE)
    records = [VersionedRecord(change, 0)]
    # Decided on the broker as it then is: one that is shutting down, or lost a directory, still may not lead there.
    unfenced = context.after(records)
    return [*records, *leader_and_isr_updates(unfenced, NOBODY_LEAVES, leaderless_partitions(unfenced))]


def begin_controlled_shutdown(context: ControllerContext, broker: BrokerRegistration) -> list[VersionedRecord]:
    """The broker gives its leaderships away before it stops."""
    records = leader_and_isr_updates(context, BrokerMove(removed=broker.id), _in_isr(context, broker.id))
    if broker.in_controlled_shutdown:
        return records
    change = BrokerRegistrationChangeRecord(
        broker_id=broker.id, broker_epoch=broker.epoch, in_controlled_shutdown=IN_CONTROLLED_SHUTDOWN
    )
    return [VersionedRecord(change, 1), *records]


def shut_down(context: ControllerContext, broker_id: int, *, clean: bool) -> list[VersionedRecord]:
    """A new incarnation registers: what the old one led or was in sync with, or eligible for after a crash."""
    if clean or not context.image.features.elr_enabled:
        return leader_and_isr_updates(context, BrokerMove(removed=broker_id), _in_isr(context, broker_id))
    move = BrokerMove(unclean=broker_id)
    return leader_and_isr_updates(context, move, partitions_with(_topics(context, broker_id), broker_id, elr=True))


def unregister_broker(
    context: ControllerContext, request: UnregisterBrokerRequest
) -> ControllerResult[UnregisterBrokerResponse]:
    """UnregisterBroker: the operator says that a broker is gone for good."""
    broker = context.image.cluster.brokers.get(request.broker_id)
    if broker is None:
        raise BrokerIdNotRegisteredError(f"Broker ID {request.broker_id} is not currently registered")
    partitions = partitions_with(_topics(context, broker.id), broker.id, elr=True)
    records = leader_and_isr_updates(context, BrokerMove(removed=broker.id), partitions)
    gone = UnregisterBrokerRecord(broker_id=broker.id, broker_epoch=broker.epoch)
    return ControllerResult(UnregisterBrokerResponse(error_message=None), [*records, VersionedRecord(gone, 0)])


def directories_offline(
    context: ControllerContext, broker: BrokerRegistration, offline: Sequence[Uuid]
) -> list[VersionedRecord]:
    """The broker lost directories: partitions that live there are moved away from it."""
    lost = [directory for directory in broker.directories if directory in offline]
    if not lost:
        return []
    records = []
    for directory in lost:
        partitions = _in_directory(context, broker.id, directory)
        records += leader_and_isr_updates(context, BrokerMove(removed=broker.id), partitions)
    online = [directory for directory in broker.directories if directory not in offline]
    change = BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch, log_dirs=online)
    return [*records, VersionedRecord(change, 2)]


def directories_cordoned(broker: BrokerRegistration, cordoned: Sequence[Uuid] | None) -> list[VersionedRecord]:
    """The broker closed directories to new replicas, or opened them again (KIP-1066)."""
    known = broker.cordoned_directories
    if cordoned is None or (known is not None and set(cordoned) == set(known)):
        return []
    change = BrokerRegistrationChangeRecord(
        broker_id=broker.id, broker_epoch=broker.epoch, cordoned_log_dirs=list(cordoned)
    )
    return [VersionedRecord(change, 3)]


def leads_anything(context: ControllerContext, broker_id: int) -> bool:
    """Whether any partition is led by the broker."""
    return context.index.leader_count(broker_id) > 0


def _topics(context: ControllerContext, broker_id: int) -> list[TopicImage]:
    return context.index.topics_of(context.image.topics, broker_id)


def _in_isr(context: ControllerContext, broker_id: int) -> list[tuple[TopicImage, list[int]]]:
    return list(partitions_with(_topics(context, broker_id), broker_id))


def _in_directory(context: ControllerContext, broker_id: int, directory: Uuid) -> list[tuple[TopicImage, list[int]]]:
    found = []
    for topic in _topics(context, broker_id):
        indexes = [i for i, partition in enumerate(topic.partitions) if partition.directory(broker_id) == directory]
        if indexes:
            found.append((topic, indexes))
    return found
