"""The whole image, and where in the log it stands."""

from typing import Final, NamedTuple

from immutables import Map

from ottla.base.frozen import frozen
from ottla.metadata.image.acl import NO_ACLS, AclsImage
from ottla.metadata.image.client_quota import QuotaEntity, Quotas
from ottla.metadata.image.cluster import EMPTY_CLUSTER, ClusterImage
from ottla.metadata.image.config import NO_CONFIGS, ConfigResource, Configs
from ottla.metadata.image.delegation_token import DelegationToken
from ottla.metadata.image.feature import NO_FEATURES, FeaturesImage
from ottla.metadata.image.scram import ScramCredential, ScramUser
from ottla.metadata.image.topic import EMPTY_TOPICS, TopicsImage


class Provenance(NamedTuple):
    """The last record that an image contains: its offset, its leader epoch and when it was appended."""

    offset: int
    epoch: int
    timestamp_ms: int


NOTHING: Final = Provenance(-1, -1, -1)
NO_PRODUCER_ID: Final = -1


@frozen
class MetadataImage:
    """Everything that the metadata log says, up to `provenance`. Images share what did not change."""

    provenance: Provenance
    features: FeaturesImage
    cluster: ClusterImage
    topics: TopicsImage
    configs: Map[ConfigResource, Configs]
    client_quotas: Map[QuotaEntity, Quotas]
    next_producer_id: int
    acls: AclsImage
    scram: Map[ScramUser, ScramCredential]
    delegation_tokens: Map[str, DelegationToken]

    def configs_of(self, resource: ConfigResource) -> Configs:
        """The dynamic configs of a resource, maybe none."""
        return self.configs.get(resource, NO_CONFIGS)

    @property
    def is_empty(self) -> bool:
        """Whether no record was ever seen: every log begins with the level of metadata.version."""
        return self.features.metadata_version is None


EMPTY_IMAGE: Final = MetadataImage(
    provenance=NOTHING,
    features=NO_FEATURES,
    cluster=EMPTY_CLUSTER,
    topics=EMPTY_TOPICS,
    configs=Map(),
    client_quotas=Map(),
    next_producer_id=NO_PRODUCER_ID,
    acls=NO_ACLS,
    scram=Map(),
    delegation_tokens=Map(),
)
