"""From an image and records to the next image: `replay` record by record, then `apply`.

Every record type of Kafka 4.3 is known. The brackets of metadata transactions are not records of the image: who reads
the log holds back what stands between them (`ottla.metadata.loader`), who writes it applies its own at once.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from ottla.metadata.errors import MetadataError
from ottla.metadata.image.acl import AclsDelta
from ottla.metadata.image.client_quota import ClientQuotasDelta
from ottla.metadata.image.cluster import ClusterDelta
from ottla.metadata.image.config import ConfigsDelta
from ottla.metadata.image.delegation_token import DelegationTokensDelta
from ottla.metadata.image.feature import FeaturesDelta
from ottla.metadata.image.metadata_image import MetadataImage, Provenance
from ottla.metadata.image.scram import ScramDelta
from ottla.metadata.image.topics_delta import TopicsDelta
from ottla.protocol.metadata_log.broker import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from ottla.protocol.metadata_log.config import ClientQuotaRecord, ConfigRecord
from ottla.protocol.metadata_log.controller import RegisterControllerRecord
from ottla.protocol.metadata_log.feature import FeatureLevelRecord, ZkMigrationStateRecord
from ottla.protocol.metadata_log.producer_ids import ProducerIdsRecord
from ottla.protocol.metadata_log.record import MetadataRecord, NoOpRecord
from ottla.protocol.metadata_log.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from ottla.protocol.metadata_log.topic import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)


class ProducerIdsDelta:
    """The first id of the next block, as far as records were taken in."""

    __slots__ = ("next_id",)

    def __init__(self, next_id: int) -> None:
        self.next_id = next_id

    def replay(self, record: ProducerIdsRecord) -> None:
        """A block was given away."""
        self.next_id = record.next_producer_id


class MetadataDelta:
    """A change of `base`. After `apply`, its parts tell listeners what to look at.

    >>> from ottla.metadata.image.metadata_image import EMPTY_IMAGE
    >>> delta = MetadataDelta(EMPTY_IMAGE)
    >>> delta.replay(FeatureLevelRecord(name="metadata.version", feature_level=30))
    >>> image = delta.apply(Provenance(offset=0, epoch=1, timestamp_ms=0))
    >>> str(image.features.version), delta.features.changes
    ('4.3-IV0', {'metadata.version': 30})
    """

    def __init__(self, base: MetadataImage) -> None:
        self.base = base
        self.features = FeaturesDelta(base.features)
        self.cluster = ClusterDelta(base.cluster)
        self.topics = TopicsDelta(base.topics)
        self.configs = ConfigsDelta(base.configs)
        self.client_quotas = ClientQuotasDelta(base.client_quotas)
        self.producer_ids = ProducerIdsDelta(base.next_producer_id)
        self.acls = AclsDelta(base.acls)
        self.scram = ScramDelta(base.scram)
        self.delegation_tokens = DelegationTokensDelta(base.delegation_tokens)
        self._handlers = self._handlers_by_type()

    def replay(self, record: MetadataRecord) -> None:
        """Takes one record in; `MetadataError` if it contradicts what is there."""
        handler = self._handlers.get(record.type_id)
        if handler is None:
            raise MetadataError(f"{type(record).__name__} is no record of the image")
        handler(record)

    def replay_all(self, records: Iterable[MetadataRecord]) -> None:
        """Takes many records in, in order."""
        handlers = self._handlers
        for record in records:
            handler = handlers.get(record.type_id)
            if handler is None:
                raise MetadataError(f"{type(record).__name__} is no record of the image")
            handler(record)

    def replay_run(self, records: Sequence[MetadataRecord], place: int) -> int:
        """Takes records in from a place on, up to one that is none of the image's; where that is, or the end."""
        handlers = self._handlers
        for place in range(place, len(records)):  # noqa: B020 - the place is what is answered
            record = records[place]
            handler = handlers.get(record.type_id)
            if handler is None:
                return place
            handler(record)
        return len(records)

    def apply(self, provenance: Provenance) -> MetadataImage:
        """The image with all records taken in; `provenance` says which was the last."""
        return MetadataImage(
            provenance=provenance,
            features=self.features.apply(),
            cluster=self.cluster.apply(),
            topics=self.topics.apply(),
            configs=self.configs.apply(),
            client_quotas=self.client_quotas.apply(),
            next_producer_id=self.producer_ids.next_id,
            acls=self.acls.apply(),
            scram=self.scram.apply(),
            delegation_tokens=self.delegation_tokens.apply(),
        )

    def _handlers_by_type(self) -> dict[int, Callable[[Any], None]]:
        # None of them may be bound to this delta: each delta would be a cycle, and there are two in a second.
        return {
            RegisterBrokerRecord.type_id: self.cluster.replay_register_broker,
            UnregisterBrokerRecord.type_id: self.cluster.replay_unregister_broker,
            TopicRecord.type_id: self.topics.replay_topic,
            PartitionRecord.type_id: self.topics.replay_partition,
            ConfigRecord.type_id: self.configs.replay,
            PartitionChangeRecord.type_id: self.topics.replay_partition_change,
            FenceBrokerRecord.type_id: self.cluster.replay_fence,
            UnfenceBrokerRecord.type_id: self.cluster.replay_unfence,
            RemoveTopicRecord.type_id: partial(_remove_topic, self.topics, self.configs),
            DelegationTokenRecord.type_id: self.delegation_tokens.replay,
            UserScramCredentialRecord.type_id: self.scram.replay,
            FeatureLevelRecord.type_id: self.features.replay,
            ClientQuotaRecord.type_id: self.client_quotas.replay,
            ProducerIdsRecord.type_id: self.producer_ids.replay,
            BrokerRegistrationChangeRecord.type_id: self.cluster.replay_registration_change,
            AccessControlEntryRecord.type_id: self.acls.replay,
            RemoveAccessControlEntryRecord.type_id: self.acls.replay_remove,
            NoOpRecord.type_id: _replay_nothing,
            # Clusters that came from ZooKeeper still have it in their logs; it no longer says anything.
            ZkMigrationStateRecord.type_id: _replay_nothing,
            RemoveUserScramCredentialRecord.type_id: self.scram.replay_remove,
            RemoveDelegationTokenRecord.type_id: self.delegation_tokens.replay_remove,
            RegisterControllerRecord.type_id: self.cluster.replay_register_controller,
            ClearElrRecord.type_id: self.topics.replay_clear_elr,
        }


def _remove_topic(topics: TopicsDelta, configs: ConfigsDelta, record: RemoveTopicRecord) -> None:
    configs.topic_removed(topics.replay_remove_topic(record))


def _replay_nothing(record: MetadataRecord) -> None:
    """For records that change nothing."""


def apply_records(
    image: MetadataImage, records: Iterable[MetadataRecord], provenance: Provenance
) -> tuple[MetadataImage, MetadataDelta]:
    """The image after `records`, and what they changed."""
    delta = MetadataDelta(image)
    delta.replay_all(records)
    return delta.apply(provenance), delta
