"""The frame around each record of the metadata log, and of `__remote_log_metadata`, which borrows it.

A record's bytes are the frame version (1), the record's type and the record's version, each an unsigned varint, and
then the message in that version.
"""

from typing import NamedTuple

from ottla.base.buffer import Buffer
from ottla.protocol.codec import engine
from ottla.protocol.codec.plan import StructPlan
from ottla.protocol.codec.uvarint import read_uvarint, uvarint
from ottla.protocol.errors import DecodeError
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
from ottla.protocol.metadata_log.transaction import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)
from ottla.protocol.versions import VersionRange

FRAME_VERSION = 1

RECORD_TYPES: dict[int, type[MetadataRecord]] = {
    record.type_id: record
    for record in (
        RegisterBrokerRecord,
        UnregisterBrokerRecord,
        TopicRecord,
        PartitionRecord,
        ConfigRecord,
        PartitionChangeRecord,
        AccessControlEntryRecord,
        RemoveAccessControlEntryRecord,
        FenceBrokerRecord,
        UnfenceBrokerRecord,
        RemoveTopicRecord,
        DelegationTokenRecord,
        RemoveDelegationTokenRecord,
        UserScramCredentialRecord,
        RemoveUserScramCredentialRecord,
        FeatureLevelRecord,
        ClientQuotaRecord,
        ProducerIdsRecord,
        BrokerRegistrationChangeRecord,
        NoOpRecord,
        ZkMigrationStateRecord,
        BeginTransactionRecord,
        EndTransactionRecord,
        AbortTransactionRecord,
        RegisterControllerRecord,
        ClearElrRecord,
    )
}
"""Every type of the metadata log by its number."""

_PLANS: dict[bytes, StructPlan] = {}
"""Layouts by the three bytes of a frame."""


class VersionedRecord(NamedTuple):
    """A record and the version it is stored in, which metadata.version decides."""

    record: MetadataRecord
    version: int


def encode_record(record: MetadataRecord, version: int) -> bytes:
    """The value of a log record that says `record`.

    >>> encode_record(NoOpRecord(), 0).hex()
    '01140000'
    """
    return uvarint(FRAME_VERSION) + uvarint(record.type_id) + uvarint(version) + record.encode(version)


def decode_record(value: Buffer, record_types: dict[int, type[MetadataRecord]] = RECORD_TYPES) -> VersionedRecord:
    """Decodes the value of a log record; raises `DecodeError` for an unknown frame, type or version."""
    plan, start = _plan_of(value, record_types)
    return VersionedRecord(_message(plan, value, start), plan.version)


def read_record(value: bytes) -> MetadataRecord:
    """The record alone, for who replays the metadata log: millions of records of a few types and versions.

    >>> read_record(bytes.fromhex("01140000"))
    NoOpRecord()
    """
    plan = _PLANS.get(value[:3])
    if plan is None:
        plan, start = _plan_of(value, RECORD_TYPES)
        if start != 3:
            return _message(plan, value, start)
        _PLANS[value[:3]] = plan
    return _message(plan, value, 3)


def _message(plan: StructPlan, value: Buffer, start: int) -> MetadataRecord:
    """The message that fills the value from `start` on."""
    record: MetadataRecord
    record, position = engine.decode(plan, value, start)
    if position != len(value):
        raise DecodeError("bytes left over", path=plan.struct.__name__, position=position)
    return record


def _plan_of(value: Buffer, record_types: dict[int, type[MetadataRecord]]) -> tuple[StructPlan, int]:
    """The layout that the frame asks for, and where the message starts."""
    type_id, version, position = _read_frame(value)
    record_type = record_types.get(type_id)
    if record_type is None:
        raise DecodeError(f"unknown record type {type_id}", path="metadata record", position=1)
    if not record_type.valid_versions.includes(version):
        known: VersionRange = record_type.valid_versions
        raise DecodeError(f"version {version}, known are {known}", path=record_type.__name__, position=2)
    return record_type.plan(version), position


def _read_frame(value: Buffer) -> tuple[int, int, int]:
    """The record's type and version, and where the message starts."""
    frame_version, position = read_uvarint(value, 0)
    if frame_version != FRAME_VERSION:
        raise DecodeError(f"frame version {frame_version}, not {FRAME_VERSION}", path="metadata record", position=0)
    type_id, position = read_uvarint(value, position)
    version, position = read_uvarint(value, position)
    return type_id, version, position
