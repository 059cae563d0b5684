"""Operators that set features, quotas, SCRAM users and ACLs, and write down the answers.

Each value is used once, so that a lost one is missed.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from ottla.metadata.controller.resource.feature_update import SAFE_DOWNGRADE, UPGRADE
from ottla.metadata.controller.resource.scram import ITERATIONS_MIN
from ottla.metadata.feature import ELIGIBLE_LEADER_REPLICAS_VERSION, FEATURES, KRAFT_VERSION
from ottla.metadata.image.acl import Acl
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.metadata.metadata_version import FEATURE_NAME, MetadataVersion
from ottla.protocol.acl import AclOperation, AclPermissionType, AclResourceType, PatternType
from ottla.protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, OpData, RequestEntryData
from ottla.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from ottla.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from ottla.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from ottla.protocol.scram import SCRAM_MECHANISMS
from ottla.testing.simulation.metadata.broker import BrokerPart
from ottla.testing.simulation.metadata.history import MetadataHistory
from ottla.testing.simulation.metadata.setting import Key, Value, acl_key, feature_key, quota_key, scram_key

_USERS: Final = ("alice", "bob", "carol")
_QUOTAS: Final = ("producer_byte_rate", "request_percentage")
_TIMEOUT_MS: Final = 1500


class SettingWorkload:
    """Asks for one change at a time, through a broker."""

    def __init__(self, history: MetadataHistory, random: Random) -> None:
        self._history = history
        self._random = random
        self._last_value = 0
        self.actions: Final[Mapping[Callable[[BrokerPart, MetadataImage], None], int]] = {
            self._update_feature: 4,
            self._alter_quota: 5,
            self._alter_scram: 4,
            self._create_acl: 4,
            self._delete_acls: 2,
        }
        """What there is to do, and how often it is chosen."""

    def _new_value(self) -> int:
        self._last_value += 1
        return self._last_value

    def _told(self, key: Key, value: Value) -> None:
        self._history.answered_settings.append((key, value))

    def _update_feature(self, broker: BrokerPart, image: MetadataImage) -> None:
        """Raises a feature, or lowers it again where that loses nothing."""
        name = self._random.choice((FEATURE_NAME, *FEATURES))
        current = image.features.level(name)
        if name == FEATURE_NAME:
            level = int(self._random.choice([version for version in MetadataVersion if version >= current]))
        elif name in (ELIGIBLE_LEADER_REPLICAS_VERSION.name, KRAFT_VERSION.name):
            # One that is switched off leaves partitions behind that nobody can lead; the other cannot be.
            level = FEATURES[name].level_max
        else:
            level = self._random.randint(0, FEATURES[name].level_max)
        update = FeatureUpdateKey(
            feature=name, max_version_level=level, upgrade_type=UPGRADE if level >= current else SAFE_DOWNGRADE
        )

        def heard(error: int, response: Any) -> None:
            if not error and not response.error_code and name != KRAFT_VERSION.name:
                self._told(feature_key(name), level or None)

        broker.metadata.client.ask(UpdateFeaturesRequest(feature_updates=[update], timeout_ms=_TIMEOUT_MS), heard)

    def _alter_quota(self, broker: BrokerPart, image: MetadataImage) -> None:
        entity: list[tuple[str, str | None]] = [("user", self._random.choice((*_USERS, None)))]
        if self._random.randrange(2):
            entity.append(("client-id", self._random.choice(("app", None))))
        name, removes = self._random.choice(_QUOTAS), not self._random.randrange(3)
        value = None if removes else float(self._new_value())
        entry = RequestEntryData(
            entity=[EntityData(entity_type=kind, entity_name=named) for kind, named in entity],
            ops=[OpData(key=name, value=value or 0.0, remove=removes)],
        )

        def heard(error: int, response: Any) -> None:
            if not error and not response.entries[0].error_code:
                self._told(quota_key(entity, name), value)

        broker.metadata.client.ask(AlterClientQuotasRequest(entries=[entry]), heard)

    def _alter_scram(self, broker: BrokerPart, image: MetadataImage) -> None:
        user, mechanism = self._random.choice(_USERS), self._random.choice(SCRAM_MECHANISMS)
        request = AlterUserScramCredentialsRequest()
        salt = None
        if self._random.randrange(3):
            salt = b"%d" % self._new_value()
            credential = ScramCredentialUpsertion(
                name=user, mechanism=mechanism, iterations=ITERATIONS_MIN, salt=salt, salted_password=b"secret"
            )
            request.upsertions.append(credential)
        else:
            request.deletions.append(ScramCredentialDeletion(name=user, mechanism=mechanism))

        def heard(error: int, response: Any) -> None:
            if not error and not response.results[0].error_code:
                self._told(scram_key(mechanism, user), salt)

        broker.metadata.client.ask(request, heard)

    def _any_acl(self) -> Acl:
        return Acl(
            resource_type=AclResourceType.TOPIC,
            resource_name=f"topic-{self._random.randrange(3)}",
            pattern_type=PatternType.LITERAL,
            principal=f"User:{self._random.choice(_USERS)}",
            host="*",
            operation=AclOperation.READ,
            permission_type=self._random.choice((AclPermissionType.ALLOW, AclPermissionType.DENY)),
        )

    def _create_acl(self, broker: BrokerPart, image: MetadataImage) -> None:
        acl = self._any_acl()
        fields = acl._asdict()
        creation = AclCreation(resource_pattern_type=fields.pop("pattern_type"), **fields)

        def heard(error: int, response: Any) -> None:
            if not error and not response.results[0].error_code:
                self._told(acl_key(acl), True)

        broker.metadata.client.ask(CreateAclsRequest(creations=[creation]), heard)

    def _delete_acls(self, broker: BrokerPart, image: MetadataImage) -> None:
        """Deletes all entries of a user."""
        acl = self._any_acl()
        wanted = DeleteAclsFilter(
            resource_type_filter=acl.resource_type,
            resource_name_filter=None,
            pattern_type_filter=acl.pattern_type,
            principal_filter=acl.principal,
            host_filter=None,
            operation=AclOperation.ANY,
            permission_type=AclPermissionType.ANY,
        )
        broker.metadata.client.ask(DeleteAclsRequest(filters=[wanted]), _ignore)


def _ignore(error: int, response: Any) -> None:
    """Drops an answer: a deletion may find no entry."""
