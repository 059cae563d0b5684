"""CreateAcls and DeleteAcls: entries as records. Whether the caller may alter them was decided before."""

from enum import IntEnum
from functools import cached_property
from typing import Final

from ottla.base.ids import Uuid
from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.controller.outcome import RECORDS_PER_BATCH_MAX, Outcome, bounded, message_of
from ottla.metadata.image.acl import Acl, AclsImage
from ottla.protocol.errors import ApiError, InvalidRequestError
from ottla.protocol.messages.create_acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from ottla.protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from ottla.protocol.metadata_log.acl import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from ottla.protocol.metadata_log.log import VersionedRecord

CLUSTER_NAME: Final = "kafka-cluster"
WILDCARD: Final = "*"
_ANY: Final = 1


class AclResourceType(IntEnum):
    """What an entry protects."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(IntEnum):
    """How an entry's name is meant."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class AclOperation(IntEnum):
    """What an entry is about."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class AclPermissionType(IntEnum):
    """Whether an entry allows or denies."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


def create_acls(context: ControllerContext, request: CreateAclsRequest) -> Outcome[CreateAclsResponse]:
    """Creates entries; one that is there already is a success without a record."""
    new: dict[Acl, VersionedRecord] = {}
    response = CreateAclsResponse()
    for creation in request.creations:
        result = AclCreationResult(error_message=None)
        try:
            _check_creation(creation)
        except ApiError as error:
            result.error_code, result.error_message = error.code, message_of(error)
        else:
            acl = _acl(creation)
            if acl not in context.image.acls.ids and acl not in new:
                record = AccessControlEntryRecord(id=context.new_id(), **acl._asdict())
                new[acl] = VersionedRecord(record, 0)
        response.results.append(result)
    return Outcome(response, bounded(list(new.values())))


def delete_acls(context: ControllerContext, request: DeleteAclsRequest) -> Outcome[DeleteAclsResponse]:
    """Deletes every entry that a filter matches."""
    removed: dict[bytes, VersionedRecord] = {}
    entries = _Entries(context.image.acls)
    response = DeleteAclsResponse()
    for wanted in request.filters:
        result = DeleteAclsFilterResult(error_message=None)
        try:
            _check_filter(wanted)
        except ApiError as error:
            result.error_code, result.error_message = error.code, message_of(error)
        else:
            for acl_id, acl in entries.matching(wanted):
                result.matching_acls.append(DeleteAclsMatchingAcl(error_message=None, **acl._asdict()))
                removed[acl_id] = VersionedRecord(RemoveAccessControlEntryRecord(id=acl_id), 0)
        response.filter_results.append(result)
    if len(removed) > RECORDS_PER_BATCH_MAX:
        raise InvalidRequestError(f"Cannot remove more than {RECORDS_PER_BATCH_MAX} acls in a single delete operation.")
    return Outcome(response, list(removed.values()))


class _Entries:
    """The entries, for the filters of one request."""

    def __init__(self, acls: AclsImage) -> None:
        self._acls = acls

    def matching(self, wanted: DeleteAclsFilter) -> list[tuple[Uuid, Acl]]:
        """What a filter takes in, in the order of ids. One that leaves nothing open is looked up, not searched for."""
        only = _only_match(wanted)
        if only is None:
            return [(acl_id, acl) for acl_id, acl in self._sorted if matches(wanted, acl)]
        acl_id = self._acls.ids.get(only)
        return [] if acl_id is None else [(acl_id, only)]

    @cached_property
    def _sorted(self) -> list[tuple[Uuid, Acl]]:
        return sorted(self._acls.by_id.items())


def _only_match(wanted: DeleteAclsFilter) -> Acl | None:
    """The one entry that a filter can match, or None if it could match several."""
    name, principal, host = wanted.resource_name_filter, wanted.principal_filter, wanted.host_filter
    if name is None or principal is None or host is None:
        return None
    if wanted.pattern_type_filter in (PatternType.ANY, PatternType.MATCH):
        return None
    if _ANY in (wanted.resource_type_filter, wanted.operation, wanted.permission_type):
        return None
    return Acl(
        wanted.resource_type_filter,
        name,
        wanted.pattern_type_filter,
        principal,
        host,
        wanted.operation,
        wanted.permission_type,
    )


def matches(wanted: DeleteAclsFilter, acl: Acl) -> bool:
    """Whether a filter takes in an entry. Pattern type MATCH takes in every entry that would bear upon the name."""
    if wanted.resource_type_filter not in (_ANY, acl.resource_type):
        return False
    if wanted.principal_filter not in (None, acl.principal) or wanted.host_filter not in (None, acl.host):
        return False
    if wanted.operation not in (_ANY, acl.operation) or wanted.permission_type not in (_ANY, acl.permission_type):
        return False
    return _matches_name(wanted, acl)


def _matches_name(wanted: DeleteAclsFilter, acl: Acl) -> bool:
    pattern, name = wanted.pattern_type_filter, wanted.resource_name_filter
    if pattern not in (PatternType.ANY, PatternType.MATCH, acl.pattern_type):
        return False
    if name is None:
        return True
    if pattern != PatternType.MATCH:
        return name == acl.resource_name
    if acl.pattern_type == PatternType.PREFIXED:
        return name.startswith(acl.resource_name)
    return acl.resource_name in (name, WILDCARD)


def _acl(creation: AclCreation) -> Acl:
    return Acl(
        creation.resource_type,
        creation.resource_name,
        creation.resource_pattern_type,
        creation.principal,
        creation.host,
        creation.operation,
        creation.permission_type,
    )


def _named(kind: type[IntEnum], value: int) -> str:
    return next((member.name for member in kind if member == value), "UNKNOWN")


def _check_creation(creation: AclCreation) -> None:
    if creation.resource_type == AclResourceType.CLUSTER and creation.resource_name != CLUSTER_NAME:
        raise InvalidRequestError(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if not creation.resource_name:
        raise InvalidRequestError("Invalid empty resource name")
    resource_type = _named(AclResourceType, creation.resource_type)
    if resource_type in ("UNKNOWN", "ANY"):
        raise InvalidRequestError(f"Invalid resourceType {resource_type}")
    if creation.resource_pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED):
        raise InvalidRequestError(f"Invalid patternType {_named(PatternType, creation.resource_pattern_type)}")
    operation = _named(AclOperation, creation.operation)
    if operation in ("UNKNOWN", "ANY"):
        raise InvalidRequestError(f"Invalid operation {operation}")
    if creation.permission_type not in (AclPermissionType.DENY, AclPermissionType.ALLOW):
        raise InvalidRequestError(f"Invalid permissionType {_named(AclPermissionType, creation.permission_type)}")
    if ":" not in creation.principal:
        raise InvalidRequestError(
            f"Could not parse principal from `{creation.principal}` (no colon is present separating the principal "
            "type from the principal name)"
        )


def _check_filter(wanted: DeleteAclsFilter) -> None:
    if "UNKNOWN" in (
        _named(AclResourceType, wanted.resource_type_filter),
        _named(PatternType, wanted.pattern_type_filter),
    ):
        raise InvalidRequestError("Unknown patternFilter.")
    if "UNKNOWN" in (_named(AclOperation, wanted.operation), _named(AclPermissionType, wanted.permission_type)):
        raise InvalidRequestError("Unknown entryFilter.")
