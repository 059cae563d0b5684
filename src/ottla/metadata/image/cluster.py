"""The nodes of a cluster: brokers with their sessions' facts, controllers with their endpoints."""

from dataclasses import replace
from typing import Final, NamedTuple

from immutables import Map

from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.metadata.directory_id import MIGRATING, UNASSIGNED, is_online
from ottla.metadata.errors import MetadataError
from ottla.metadata.image.map_delta import MapDelta
from ottla.protocol.metadata_log.broker import (
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from ottla.protocol.metadata_log.controller import ControllerEndpoint, ControllerFeature, RegisterControllerRecord
from ottla.protocol.versions import VersionRange

FENCE: Final = 1
UNFENCE: Final = -1
IN_CONTROLLED_SHUTDOWN: Final = 1
_AS_BOOLEAN: Final[dict[int, bool | None]] = {FENCE: True, 0: None, UNFENCE: False}


class Endpoint(NamedTuple):
    """The address of a listener of a node."""

    name: str
    host: str
    port: int
    security_protocol: int


@frozen
class BrokerRegistration:
    """A broker as it registered, with what happened to it since."""

    id: int
    epoch: int
    incarnation_id: Uuid
    listeners: tuple[Endpoint, ...]
    supported_features: Map[str, VersionRange]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    directories: tuple[Uuid, ...]
    cordoned_directories: tuple[Uuid, ...] | None
    is_migrating_zk_broker: bool = False

    @classmethod
    def of(cls, record: RegisterBrokerRecord) -> "BrokerRegistration":
        cordoned = record.cordoned_log_dirs
        return cls(
            id=record.broker_id,
            epoch=record.broker_epoch,
            incarnation_id=record.incarnation_id,
            listeners=tuple(Endpoint(e.name, e.host, e.port, e.security_protocol) for e in record.end_points),
            supported_features=_features_of(record.features),
            rack=record.rack,
            fenced=record.fenced,
            in_controlled_shutdown=record.in_controlled_shutdown,
            directories=tuple(record.log_dirs),
            cordoned_directories=None if cordoned is None else tuple(cordoned),
            is_migrating_zk_broker=record.is_migrating_zk_broker,
        )

    def to_record(self) -> RegisterBrokerRecord:
        cordoned = self.cordoned_directories
        return RegisterBrokerRecord(
            broker_id=self.id,
            is_migrating_zk_broker=self.is_migrating_zk_broker,
            incarnation_id=self.incarnation_id,
            broker_epoch=self.epoch,
            end_points=[BrokerEndpoint(**endpoint._asdict()) for endpoint in self.listeners],
            features=[
                BrokerFeature(name=name, min_supported_version=lowest, max_supported_version=highest)
                for name, (lowest, highest) in sorted(self.supported_features.items())
            ],
            rack=self.rack,
            fenced=self.fenced,
            in_controlled_shutdown=self.in_controlled_shutdown,
            log_dirs=list(self.directories),
            cordoned_log_dirs=None if cordoned is None else list(cordoned),
        )

    @property
    def is_active(self) -> bool:
        """Whether the broker may lead partitions and stand in ISRs."""
        return not self.fenced and not self.in_controlled_shutdown

    @property
    def default_directory(self) -> Uuid:
        """The directory of a new replica, which the controller knows only for a broker with a single one."""
        if not self.directories:
            return MIGRATING
        return self.directories[0] if len(self.directories) == 1 else UNASSIGNED

    @property
    def takes_new_replicas(self) -> bool:
        """Whether one of its directories is not cordoned."""
        if not self.directories or self.cordoned_directories is None:
            return True
        return any(directory not in self.cordoned_directories for directory in self.directories)

    def has_online_directory(self, directory: Uuid) -> bool:
        """Whether a replica in that directory can be served."""
        return is_online(directory, self.directories)


@frozen
class ControllerRegistration:
    """A controller as it registered."""

    id: int
    incarnation_id: Uuid
    zk_migration_ready: bool
    listeners: tuple[Endpoint, ...]
    supported_features: Map[str, VersionRange]

    @classmethod
    def of(cls, record: RegisterControllerRecord) -> "ControllerRegistration":
        return cls(
            id=record.controller_id,
            incarnation_id=record.incarnation_id,
            zk_migration_ready=record.zk_migration_ready,
            listeners=tuple(Endpoint(e.name, e.host, e.port, e.security_protocol) for e in record.end_points),
            supported_features=_features_of(record.features),
        )

    def to_record(self) -> RegisterControllerRecord:
        return RegisterControllerRecord(
            controller_id=self.id,
            incarnation_id=self.incarnation_id,
            zk_migration_ready=self.zk_migration_ready,
            end_points=[ControllerEndpoint(**endpoint._asdict()) for endpoint in self.listeners],
            features=[
                ControllerFeature(name=name, min_supported_version=lowest, max_supported_version=highest)
                for name, (lowest, highest) in sorted(self.supported_features.items())
            ],
        )


class ClusterImage(NamedTuple):
    """All registered nodes by id."""

    brokers: Map[int, BrokerRegistration]
    controllers: Map[int, ControllerRegistration]

    def is_active(self, broker_id: int) -> bool:
        """Whether the broker is registered, unfenced and not shutting down."""
        broker = self.brokers.get(broker_id)
        return broker is not None and broker.is_active


EMPTY_CLUSTER: Final = ClusterImage(Map(), Map())


class ClusterDelta:
    """Changes to nodes."""

    def __init__(self, base: ClusterImage) -> None:
        self.brokers: MapDelta[int, BrokerRegistration] = MapDelta(base.brokers)
        self.controllers: MapDelta[int, ControllerRegistration] = MapDelta(base.controllers)

    def replay_register_broker(self, record: RegisterBrokerRecord) -> None:
        self.brokers.set(record.broker_id, BrokerRegistration.of(record))

    def replay_unregister_broker(self, record: UnregisterBrokerRecord) -> None:
        self._registered(record.broker_id, record.broker_epoch)
        self.brokers.remove(record.broker_id)

    def replay_fence(self, record: FenceBrokerRecord) -> None:
        """Logs from before 3.3 hold it."""
        self.brokers.set(record.id, replace(self._registered(record.id, record.epoch), fenced=True))

    def replay_unfence(self, record: UnfenceBrokerRecord) -> None:
        """The counterpart, of the same age."""
        self.brokers.set(record.id, replace(self._registered(record.id, record.epoch), fenced=False))

    def replay_registration_change(self, record: BrokerRegistrationChangeRecord) -> None:
        broker = self._registered(record.broker_id, record.broker_epoch)
        fenced = _AS_BOOLEAN.get(record.fenced)
        shutdown = _AS_BOOLEAN.get(record.in_controlled_shutdown)
        cordoned = record.cordoned_log_dirs
        changed = replace(
            broker,
            fenced=broker.fenced if fenced is None else fenced,
            in_controlled_shutdown=broker.in_controlled_shutdown if shutdown is None else shutdown,
            directories=tuple(record.log_dirs) or broker.directories,
            cordoned_directories=broker.cordoned_directories if cordoned is None else tuple(cordoned),
        )
        self.brokers.set(broker.id, changed)

    def replay_register_controller(self, record: RegisterControllerRecord) -> None:
        self.controllers.set(record.controller_id, ControllerRegistration.of(record))

    def apply(self) -> ClusterImage:
        return ClusterImage(self.brokers.apply(), self.controllers.apply())

    def _registered(self, broker_id: int, epoch: int) -> BrokerRegistration:
        broker = self.brokers.get(broker_id)
        if broker is None or broker.epoch != epoch:
            raise MetadataError(f"a change of broker {broker_id} at epoch {epoch}, which is not registered so")
        return broker


def _features_of(features: list[BrokerFeature] | list[ControllerFeature]) -> Map[str, VersionRange]:
    return Map({f.name: VersionRange(f.min_supported_version, f.max_supported_version) for f in features})
