"""Brokers in the metadata log: registered, changed, fenced, gone.

RegisterBrokerRecord answers a BrokerRegistration; its own offset is the `broker_epoch`, which every later record
about the broker repeats. BrokerRegistrationChangeRecord then holds differences only: `fenced` is 1 fenced, -1
unfenced, 0 unchanged; `in_controlled_shutdown` is 1 or 0 for unchanged; no `log_dirs` and null `cordoned_log_dirs`
mean unchanged. It took the place of Fence- and UnfenceBrokerRecord, still read from old logs. UnregisterBrokerRecord
removes the broker.

RegisterBrokerRecord: v1 controlled shutdown (KIP-841), v2 migration from ZooKeeper (KIP-866), v3 directories
(KIP-858), v4 cordoned directories (KIP-1066), null until the broker first reports them. The change record: v1
controlled shutdown, v2 directories, v3 cordoned ones.
"""

from ottla.base.ids import Uuid
from ottla.protocol.definition import Struct
from ottla.protocol.field import array, boolean, int8, int16, int32, int64, string, uint16, uuid
from ottla.protocol.metadata_log.record import MetadataRecord


class BrokerEndpoint(Struct):
    name: str = string("0+")
    host: str = string("0+")
    port: int = uint16("0+")
    security_protocol: int = int16("0+")


class BrokerFeature(Struct):
    name: str = string("0+")
    min_supported_version: int = int16("0+")
    max_supported_version: int = int16("0+")


class RegisterBrokerRecord(MetadataRecord, type_id=0, versions="0-4", flexible="0+"):
    broker_id: int = int32("0+")
    is_migrating_zk_broker: bool = boolean("2+")
    incarnation_id: Uuid = uuid("0+")
    broker_epoch: int = int64("0+")
    end_points: list[BrokerEndpoint] = array(BrokerEndpoint, "0+")
    features: list[BrokerFeature] = array(BrokerFeature, "0+")
    rack: str | None = string("0+", nullable="0+")
    fenced: bool = boolean("0+", default=True)
    in_controlled_shutdown: bool = boolean("1+")
    log_dirs: list[Uuid] = array(uuid, "3+", tag=0)
    cordoned_log_dirs: list[Uuid] | None = array(uuid, "4+", nullable="4+", default=None, tag=1)


class UnregisterBrokerRecord(MetadataRecord, type_id=1, versions="0", flexible="0+"):
    broker_id: int = int32("0+")
    broker_epoch: int = int64("0+")


class FenceBrokerRecord(MetadataRecord, type_id=7, versions="0", flexible="0+"):
    id: int = int32("0+")
    epoch: int = int64("0+")


class UnfenceBrokerRecord(MetadataRecord, type_id=8, versions="0", flexible="0+"):
    id: int = int32("0+")
    epoch: int = int64("0+")


class BrokerRegistrationChangeRecord(MetadataRecord, type_id=17, versions="0-3", flexible="0+"):
    broker_id: int = int32("0+")
    broker_epoch: int = int64("0+")
    fenced: int = int8("0+", tag=0)
    in_controlled_shutdown: int = int8("1+", tag=1)
    log_dirs: list[Uuid] = array(uuid, "2+", tag=2)
    cordoned_log_dirs: list[Uuid] | None = array(uuid, "3+", nullable="3+", default=None, tag=3)
