"""Topics and partitions in the metadata log.

Creation writes a TopicRecord and a PartitionRecord for each partition in one batch; RemoveTopicRecord takes the
partitions and configs along. PartitionChangeRecord holds differences only: null lists, `leader` -2 and
`leader_recovery_state` -1 mean unchanged, while `leader` -1 means that there is none now. Each change raises the
partition epoch by one, and a new leader the leader epoch too, without being written. `directories` stand in the order
of `replicas`.

v1 adds directories (KIP-858), v2 the eligible leader replicas and the last known ones (KIP-966). ClearElrRecord
empties a topic's ELRs, or everybody's if the name is empty, when min.insync.replicas changes.
"""

from ottla.base.ids import Uuid
from ottla.protocol.field import array, int8, int32, string, uuid
from ottla.protocol.metadata_log.record import MetadataRecord


class TopicRecord(MetadataRecord, type_id=2, versions="0", flexible="0+"):
    name: str = string("0+")
    topic_id: Uuid = uuid("0+")


class PartitionRecord(MetadataRecord, type_id=3, versions="0-2", flexible="0+"):
    partition_id: int = int32("0+", default=-1)
    topic_id: Uuid = uuid("0+")
    replicas: list[int] = array(int32, "0+")
    isr: list[int] = array(int32, "0+")
    removing_replicas: list[int] = array(int32, "0+")
    adding_replicas: list[int] = array(int32, "0+")
    leader: int = int32("0+", default=-1)
    leader_recovery_state: int = int8("0+", tag=0)
    leader_epoch: int = int32("0+", default=-1)
    partition_epoch: int = int32("0+", default=-1)
    directories: list[Uuid] = array(uuid, "1+")
    eligible_leader_replicas: list[int] | None = array(int32, "2+", nullable="2+", default=None, tag=1)
    last_known_elr: list[int] | None = array(int32, "2+", nullable="2+", default=None, tag=2)


class PartitionChangeRecord(MetadataRecord, type_id=5, versions="0-2", flexible="0+"):
    partition_id: int = int32("0+", default=-1)
    topic_id: Uuid = uuid("0+")
    isr: list[int] | None = array(int32, "0+", nullable="0+", default=None, tag=0)
    leader: int = int32("0+", default=-2, tag=1)
    replicas: list[int] | None = array(int32, "0+", nullable="0+", default=None, tag=2)
    removing_replicas: list[int] | None = array(int32, "0+", nullable="0+", default=None, tag=3)
    adding_replicas: list[int] | None = array(int32, "0+", nullable="0+", default=None, tag=4)
    leader_recovery_state: int = int8("0+", default=-1, tag=5)
    directories: list[Uuid] | None = array(uuid, "1+", nullable="1+", default=None, tag=8)
    eligible_leader_replicas: list[int] | None = array(int32, "2+", nullable="2+", default=None, tag=6)
    last_known_elr: list[int] | None = array(int32, "2+", nullable="2+", default=None, tag=7)


class RemoveTopicRecord(MetadataRecord, type_id=9, versions="0", flexible="0+"):
    topic_id: Uuid = uuid("0+")


class ClearElrRecord(MetadataRecord, type_id=28, versions="0", flexible="0+"):
    topic_name: str = string("0+")
