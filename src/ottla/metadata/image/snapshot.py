"""An image as the records of a snapshot, in Kafka's order: features first, because they say how to read the rest.

Within a kind the order is that of names and ids, so that the same image always gives the same bytes. The records are
those of a metadata.version: what an older one has no place for is lost, and the writer refuses unless told otherwise.
"""

from collections.abc import Callable, Iterable, Iterator

from ottla.base.ids import Uuid
from ottla.metadata.directory_id import MIGRATING
from ottla.metadata.errors import UnwritableMetadataError
from ottla.metadata.image.client_quota import entity_data, entity_order
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, NO_PRODUCER_ID, MetadataImage, Provenance
from ottla.metadata.image.partition import PartitionRegistration
from ottla.metadata.image.topic import TopicImage
from ottla.metadata.metadata_version import FEATURE_NAME, MetadataVersion
from ottla.protocol.metadata_log.config import ClientQuotaRecord, ConfigRecord
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.producer_ids import ProducerIdsRecord
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.metadata_log.security import AccessControlEntryRecord, UserScramCredentialRecord
from ottla.protocol.metadata_log.topic import TopicRecord

OnLoss = Callable[[str], None]


def refuse_loss(what: str) -> None:
    """The default answer to a metadata.version that cannot hold all of an image."""
    raise UnwritableMetadataError(f"the metadata.version has no place for {what}")


def load_snapshot(records: Iterable[MetadataRecord], provenance: Provenance) -> MetadataImage:
    """The image that a snapshot's records describe."""
    delta = MetadataDelta(EMPTY_IMAGE)
    delta.replay_all(records)
    return delta.apply(provenance)


def snapshot_records(
    image: MetadataImage, version: MetadataVersion | None = None, on_loss: OnLoss = refuse_loss
) -> Iterator[VersionedRecord]:
    """The records that `load_snapshot` makes `image` of, at `version` or at the image's own metadata.version."""
    writer = _SnapshotWriter(image, image.features.version if version is None else version, on_loss)
    yield from writer.features()
    yield from writer.cluster()
    yield from writer.topics()
    yield from writer.configs()
    yield from writer.client_quotas()
    yield from writer.producer_ids()
    yield from writer.acls()
    yield from writer.scram()
    yield from writer.delegation_tokens()


def partition_records(
    topic_id: Uuid, partitions: Iterable[tuple[int, PartitionRegistration]], version: MetadataVersion
) -> Iterator[VersionedRecord]:
    """Partitions of a topic, with their indexes, as records of `version`."""
    for index, partition in partitions:
        record = partition.to_record(topic_id, index)
        if not version.supports_directory_assignment:
            record.directories = []
        if not version.supports_elr:
            record.eligible_leader_replicas = None
            record.last_known_elr = None
        yield VersionedRecord(record, version.partition_record_version)


class _SnapshotWriter:
    def __init__(self, image: MetadataImage, version: MetadataVersion, on_loss: OnLoss) -> None:
        self._image = image
        self._version = version
        self._on_loss = on_loss

    def features(self) -> Iterator[VersionedRecord]:
        levels = {**self._image.features.levels(), FEATURE_NAME: int(self._version)}
        for name, level in levels.items():
            yield VersionedRecord(FeatureLevelRecord(name=name, feature_level=level), 0)

    def cluster(self) -> Iterator[VersionedRecord]:
        for _, broker in sorted(self._image.cluster.brokers.items()):
            record = broker.to_record()
            if record.is_migrating_zk_broker and not self._version.supports_migration:
                self._on_loss("the isMigratingZkBroker state of one or more brokers")
                record.is_migrating_zk_broker = False
            if record.log_dirs and not self._version.supports_directory_assignment:
                self._on_loss("the online log directories of one or more brokers")
                record.log_dirs = []
            if record.cordoned_log_dirs is not None and not self._version.supports_cordoned_log_dirs:
                self._on_loss("the cordoned log directories of one or more brokers")
                record.cordoned_log_dirs = None
            yield VersionedRecord(record, self._version.register_broker_record_version)
        if self._image.cluster.controllers and not self._version.supports_controller_registration:
            self._on_loss("controller registration data")
            return
        for _, controller in sorted(self._image.cluster.controllers.items()):
            yield VersionedRecord(controller.to_record(), 0)

    def topics(self) -> Iterator[VersionedRecord]:
        for topic_id, topic in sorted(self._image.topics.by_id.items()):
            yield VersionedRecord(TopicRecord(name=topic.name, topic_id=topic_id), 0)
            if not self._version.supports_directory_assignment and _has_directories(topic):
                self._on_loss("the directory assignment state of one or more replicas")
            # Whether the feature is on does not matter: a partition keeps its eligible leaders until it changes.
            if not self._version.supports_elr and _has_elr(topic):
                self._on_loss("the eligible leader replicas of one or more partitions")
            yield from partition_records(topic_id, enumerate(topic.partitions), self._version)

    def configs(self) -> Iterator[VersionedRecord]:
        for (type_, resource), configs in sorted(self._image.configs.items(), key=lambda item: item[0]):
            for name, value in sorted(configs.items()):
                record = ConfigRecord(resource_type=type_, resource_name=resource, name=name, value=value)
                yield VersionedRecord(record, 0)

    def client_quotas(self) -> Iterator[VersionedRecord]:
        for entity, quotas in sorted(self._image.client_quotas.items(), key=lambda item: entity_order(item[0])):
            for key, value in sorted(quotas.items()):
                yield VersionedRecord(ClientQuotaRecord(entity=entity_data(entity), key=key, value=value), 0)

    def producer_ids(self) -> Iterator[VersionedRecord]:
        if self._image.next_producer_id != NO_PRODUCER_ID:
            next_id = self._image.next_producer_id
            yield VersionedRecord(ProducerIdsRecord(broker_id=-1, broker_epoch=-1, next_producer_id=next_id), 0)

    def acls(self) -> Iterator[VersionedRecord]:
        for acl_id, acl in sorted(self._image.acls.by_id.items()):
            yield VersionedRecord(AccessControlEntryRecord(id=acl_id, **acl._asdict()), 0)

    def scram(self) -> Iterator[VersionedRecord]:
        if self._image.scram and not self._version.supports_scram:
            self._on_loss("SCRAM credentials")
            return
        for (mechanism, name), credential in sorted(self._image.scram.items(), key=lambda item: item[0]):
            record = UserScramCredentialRecord(name=name, mechanism=mechanism, **credential._asdict())
            yield VersionedRecord(record, 0)

    def delegation_tokens(self) -> Iterator[VersionedRecord]:
        if self._image.delegation_tokens and not self._version.supports_delegation_tokens:
            self._on_loss("delegation tokens")
            return
        for _, token in sorted(self._image.delegation_tokens.items()):
            yield VersionedRecord(token.to_record(), 0)


def _has_directories(topic: TopicImage) -> bool:
    return any(directory != MIGRATING for partition in topic.partitions for directory in partition.directories)


def _has_elr(topic: TopicImage) -> bool:
    return any(partition.elr or partition.last_known_elr for partition in topic.partitions)
