"""The payloads of control batches: end of a transaction, and what a raft leader writes.

The key is a version (int16, 0) and ControlRecordTypeSchema: 0 abort, 1 commit, 2 leader change, 3 snapshot header, 4
snapshot footer, 5 kraft.version, 6 voters. EndTxnMarker has its version before it; the others carry theirs as the
first field and have no prefix. Reading and writing keys and markers is in `ottla.protocol.records.control`.

A leader's first batch of an epoch is a LeaderChangeMessage; v1 adds directory ids (KIP-853). Header and footer open
and close a snapshot: without a footer it is incomplete (KIP-630). KRaftVersionRecord and VotersRecord change the
quorum: they take effect when appended, not when committed, and are undone by truncation (KIP-853).
"""

from ottla.base.ids import Uuid
from ottla.protocol.definition import Message, Struct
from ottla.protocol.field import array, int16, int32, int64, string, struct, uint16, uuid


class ControlRecordTypeSchema(Message, versions="0"):
    type: int = int16("0+")


class EndTxnMarker(Message, versions="0"):
    coordinator_epoch: int = int32("0+")


class LeaderChangeMessageVoter(Struct):
    voter_id: int = int32("0+")
    voter_directory_id: Uuid = uuid("1+")


class LeaderChangeMessage(Message, versions="0-1", flexible="0+"):
    version: int = int16("0+")
    leader_id: int = int32("0+")
    voters: list[LeaderChangeMessageVoter] = array(LeaderChangeMessageVoter, "0+")
    granting_voters: list[LeaderChangeMessageVoter] = array(LeaderChangeMessageVoter, "0+")


class SnapshotHeaderRecord(Message, versions="0", flexible="0+"):
    version: int = int16("0+")
    last_contained_log_timestamp: int = int64("0+")


class SnapshotFooterRecord(Message, versions="0", flexible="0+"):
    version: int = int16("0+")


class KRaftVersionRecord(Message, versions="0", flexible="0+"):
    version: int = int16("0+")
    kraft_version: int = int16("0+")


class Endpoint(Struct):
    name: str = string("0+")
    host: str = string("0+")
    port: int = uint16("0+")


class KRaftVersionFeature(Struct):
    min_supported_version: int = int16("0+")
    max_supported_version: int = int16("0+")


class VotersRecordVoter(Struct):
    voter_id: int = int32("0+")
    voter_directory_id: Uuid = uuid("0+")
    endpoints: list[Endpoint] = array(Endpoint, "0+")
    kraft_version_feature: KRaftVersionFeature = struct(KRaftVersionFeature, "0+")


class VotersRecord(Message, versions="0", flexible="0+"):
    version: int = int16("0+")
    voters: list[VotersRecordVoter] = array(VotersRecordVoter, "0+")
