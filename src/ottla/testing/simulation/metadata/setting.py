"""Features, quotas, SCRAM users and ACLs as plain keys and values: a model to hold images against.

It reads the committed records in its own way, so that it agrees with an image only if both are right. What stands in a
metadata transaction counts when that ends.
"""

from collections.abc import Hashable, Iterable
from typing import TypeAlias

from immutables import Map

from ottla.base.ids import Uuid
from ottla.metadata.feature import KRAFT_VERSION
from ottla.metadata.image.acl import Acl
from ottla.metadata.image.client_quota import entity_of
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.protocol.metadata_log.config import ClientQuotaRecord
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.metadata_log.security import (
    AccessControlEntryRecord,
    RemoveAccessControlEntryRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from ottla.protocol.metadata_log.transaction import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)

Key: TypeAlias = tuple[Hashable, ...]
Value: TypeAlias = Hashable
"""None for what is not set."""
Settings: TypeAlias = Map[Key, Value]


def feature_key(name: str) -> Key:
    """The level of a feature."""
    return "feature", name


def quota_key(entity: list[tuple[str, str | None]], name: str) -> Key:
    """A quota of an entity."""
    return "quota", entity_of(entity), name


def scram_key(mechanism: int, user: str) -> Key:
    """A user's credential."""
    return "scram", mechanism, user


def acl_key(acl: Acl) -> Key:
    """The key of an entry; its value says whether it is there."""
    return "acl", acl


class SettingsModel:
    """The settings as the log has them, up to the last record taken in."""

    def __init__(self) -> None:
        self.now: Settings = Map()
        self.ever: set[tuple[Key, Value]] = set()
        """Every value that a key ever had."""
        self._acls: dict[Uuid, Acl] = {}
        self._held_back: list[MetadataRecord] | None = None

    def take(self, records: Iterable[MetadataRecord]) -> None:
        """Takes in the records of a committed batch."""
        for record in records:
            if isinstance(record, BeginTransactionRecord):
                self._held_back = []
            elif isinstance(record, AbortTransactionRecord):
                self._held_back = None
            elif isinstance(record, EndTransactionRecord):
                held_back, self._held_back = self._held_back, None
                for one in held_back or ():
                    self._apply(one)
            elif self._held_back is not None:
                self._held_back.append(record)
            else:
                self._apply(record)

    def was(self, key: Key, value: Value) -> bool:
        """Whether a key ever had a value. Every key once had None."""
        return value is None or (key, value) in self.ever

    def _apply(self, record: MetadataRecord) -> None:
        if isinstance(record, FeatureLevelRecord):
            if record.name != KRAFT_VERSION.name:
                self._set(feature_key(record.name), record.feature_level or None)
        elif isinstance(record, ClientQuotaRecord):
            entity = [(part.entity_type, part.entity_name) for part in record.entity]
            self._set(quota_key(entity, record.key), None if record.remove else record.value)
        elif isinstance(record, UserScramCredentialRecord):
            self._set(scram_key(record.mechanism, record.name), bytes(record.salt))
        elif isinstance(record, RemoveUserScramCredentialRecord):
            self._set(scram_key(record.mechanism, record.name), None)
        elif isinstance(record, AccessControlEntryRecord):
            acl = Acl(*(getattr(record, field) for field in Acl._fields))
            self._acls[record.id] = acl
            self._set(acl_key(acl), True)
        elif isinstance(record, RemoveAccessControlEntryRecord):
            self._set(acl_key(self._acls.pop(record.id)), None)

    def _set(self, key: Key, value: Value) -> None:
        self.ever.add((key, value))
        if value is not None:
            self.now = self.now.set(key, value)
        elif key in self.now:
            self.now = self.now.delete(key)


def settings_of(image: MetadataImage) -> Settings:
    """The settings of an image."""
    found: dict[Key, Value] = {feature_key(name): level for name, level in image.features.levels().items()}
    for entity, quotas in image.client_quotas.items():
        found.update({quota_key(list(entity), name): value for name, value in quotas.items()})
    found.update({scram_key(*user): bytes(credential.salt) for user, credential in image.scram.items()})
    found.update({acl_key(acl): True for acl in image.acls.by_id.values()})
    return Map(found)
