"""Controllers in the metadata log (KIP-919).

RegisterControllerRecord answers a ControllerRegistration: a controller started, or its endpoints or features changed.
It replaces the controller's earlier one. `incarnation_id` is new for each process. It says nothing about who votes:
that is in VotersRecord, a control record. `zk_migration_ready` is a leftover of migrations from ZooKeeper.
"""

from ottla.base.ids import Uuid
from ottla.protocol.definition import Struct
from ottla.protocol.field import array, boolean, int16, int32, string, uint16, uuid
from ottla.protocol.metadata_log.record import MetadataRecord


class ControllerEndpoint(Struct):
    name: str = string("0+")
    host: str = string("0+")
    port: int = uint16("0+")
    security_protocol: int = int16("0+")


class ControllerFeature(Struct):
    name: str = string("0+")
    min_supported_version: int = int16("0+")
    max_supported_version: int = int16("0+")


class RegisterControllerRecord(MetadataRecord, type_id=27, versions="0", flexible="0+"):
    controller_id: int = int32("0+")
    incarnation_id: Uuid = uuid("0+")
    zk_migration_ready: bool = boolean("0+")
    end_points: list[ControllerEndpoint] = array(ControllerEndpoint, "0+")
    features: list[ControllerFeature] = array(ControllerFeature, "0+")
