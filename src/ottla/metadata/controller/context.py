"""Everything an operation may look at: the image with all pending records, derived indexes, settings, ports.

An operation reads this and returns an `Outcome`; it changes nothing but the brokers' sessions, which are soft state.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Final, NamedTuple

from ottla.base.chance import Chance
from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.metadata.controller.broker.broker_session import BrokerSessions
from ottla.metadata.controller.ports import ConfigSchema, NoPolicy, Policy, Quorum
from ottla.metadata.controller.resource.token_index import TokenIndex
from ottla.metadata.controller.setting import ControllerSettings
from ottla.metadata.controller.topic.topic_index import TopicIndex
from ottla.metadata.directory_id import MIGRATING, UNASSIGNED, is_reserved
from ottla.metadata.image.cluster import BrokerRegistration
from ottla.metadata.image.config import CLUSTER_DEFAULT, ConfigResource, ResourceType, topic_resource
from ottla.metadata.image.metadata_delta import apply_records
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.metadata.image.topic import TopicImage
from ottla.metadata.metadata_version import MetadataVersion
from ottla.protocol.acl import AclOperation, AclResourceType
from ottla.protocol.errors import StaleBrokerEpochError
from ottla.protocol.metadata_log.log import VersionedRecord

MIN_IN_SYNC_REPLICAS: Final = "min.insync.replicas"
UNCLEAN_LEADER_ELECTION_ENABLE: Final = "unclean.leader.election.enable"


def unlimited(partitions: int) -> None:
    """The quota of those who have none."""


def everything(operation: AclOperation, resource_type: AclResourceType, name: str) -> bool:
    """The rights of those who are asked for none."""
    return True


@frozen
class Caller:
    """The caller of a request. A right that the whole request needs was checked before."""

    api_version: int = 0
    principal: str = "User:ANONYMOUS"
    may: Callable[[AclOperation, AclResourceType, str], bool] = field(default=everything)
    """Whether the caller may do something with a resource."""
    mutation_quota: Callable[[int], None] = field(default=unlimited)
    """Charged with the number of partitions to create or delete; raises `ThrottlingQuotaExceededError`."""
    through_broker: bool = True
    """Whether a broker, which checked the request against its own state, forwarded it."""


@frozen
class ControllerPorts:
    """The outside world of a controller."""

    schema: ConfigSchema
    chance: Chance
    quorum: Quorum
    policy: Policy = field(default_factory=NoPolicy)


class TopicRules(NamedTuple):
    """The configs of a topic that elections depend on."""

    min_isr: int
    """`min.insync.replicas`, but no more than the topic has replicas."""
    unclean: bool


@frozen
class ControllerContext:
    """The state that one operation works on."""

    image: MetadataImage
    index: TopicIndex
    tokens: TokenIndex
    sessions: BrokerSessions
    settings: ControllerSettings
    ports: ControllerPorts
    now_ms: int
    epoch: int = 0

    @property
    def version(self) -> MetadataVersion:
        """The metadata.version, which decides what may be written."""
        return self.image.features.version

    def after(self, records: Sequence[VersionedRecord]) -> "ControllerContext":
        """The state once `records` are applied, for a decision that rests on them; the indexes don't know of them."""
        image, _ = apply_records(self.image, [record for record, _ in records], self.image.provenance)
        return replace(self, image=image)

    def topic_config(self, topic: str, name: str) -> str:
        """The effective value of a key that topics and brokers share: the topic's, this node's, the cluster's."""
        node = ConfigResource(ResourceType.BROKER, str(self.settings.node_id))
        for resource in (topic_resource(topic), node, CLUSTER_DEFAULT):
            value = self.image.configs_of(resource).get(name)
            if value is not None:
                return value
        return self.ports.schema.default(topic_resource(topic), name) or ""

    def rules_of(self, topic: TopicImage) -> TopicRules:
        """The settings of a topic's elections."""
        min_isr = int(self.topic_config(topic.name, MIN_IN_SYNC_REPLICAS))
        unclean = self.topic_config(topic.name, UNCLEAN_LEADER_ELECTION_ENABLE).strip().lower() == "true"
        return TopicRules(min(min_isr, len(topic.partitions[0].replicas)), unclean)

    def default_directory(self, broker_id: int) -> Uuid:
        """The directory to write down for a new replica on a broker."""
        if not self.version.supports_directory_assignment:
            return MIGRATING
        broker = self.image.cluster.brokers.get(broker_id)
        return UNASSIGNED if broker is None else broker.default_directory

    def check_broker_epoch(self, broker_id: int, epoch: int) -> BrokerRegistration:
        """The broker, if it is registered with that epoch; a request of an earlier life of it is refused."""
        broker = self.image.cluster.brokers.get(broker_id)
        if broker is None:
            raise StaleBrokerEpochError(f"No broker registration found for broker id {broker_id}")
        if broker.epoch != epoch:
            raise StaleBrokerEpochError(f"Expected broker epoch {broker.epoch}, but got broker epoch {epoch}")
        return broker

    def new_id(self) -> Uuid:
        """A random id, as Kafka makes them: a version 4 UUID that is not reserved and does not begin with a dash."""
        while True:
            raw = bytearray(self.ports.chance.randbytes(16))
            raw[6] = raw[6] & 0x0F | 0x40
            raw[8] = raw[8] & 0x3F | 0x80
            made = Uuid(raw)
            if not is_reserved(made) and not str(made).startswith("-"):
                return made
