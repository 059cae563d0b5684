"""BrokerRegistration (key 62): registers a starting broker and gets its epoch (KIP-631).

Sent by brokers to the active controller. `incarnation_id` is new for every process; while another incarnation is live
the answer is DUPLICATE_BROKER_REGISTRATION. The epoch returned is the offset of the registration in the metadata log,
and the broker starts fenced. v1 was for migration from ZooKeeper (KIP-866). v2 sends directory ids (KIP-858). v3
sends the epoch before a clean stop, -1 after an unclean one, which costs the broker its place in ELRs (KIP-966). v4
may list features with minimum level 0 (KAFKA-17492).
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, int16, int32, int64, string, uint16, uuid


class Listener(Struct):
    name: str = string("0+")
    host: str = string("0+")
    port: int = uint16("0+")
    security_protocol: int = int16("0+")


class Feature(Struct):
    name: str = string("0+")
    min_supported_version: int = int16("0+")
    max_supported_version: int = int16("0+")


class BrokerRegistrationRequest(Request, api=ApiKey.BROKER_REGISTRATION, versions="0-4", flexible="0+"):
    broker_id: int = int32("0+")
    cluster_id: str = string("0+")
    incarnation_id: Uuid = uuid("0+")
    listeners: list[Listener] = array(Listener, "0+")
    features: list[Feature] = array(Feature, "0+")
    rack: str | None = string("0+", nullable="0+")
    is_migrating_zk_broker: bool = boolean("1+")
    log_dirs: list[Uuid] = array(uuid, "2+", ignorable=True)
    previous_broker_epoch: int = int64("3+", default=-1, ignorable=True)


class BrokerRegistrationResponse(Response, api=ApiKey.BROKER_REGISTRATION, versions="0-4", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    broker_epoch: int = int64("0+", default=-1)
