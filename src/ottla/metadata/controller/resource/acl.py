"""CreateAcls and DeleteAcls: entries as records. Whether the caller may alter them was decided before."""

from enum import IntEnum

from ottla.metadata.acl.filter import AclFilter, FilteredAcls
from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.controller.controller_result import RECORDS_PER_BATCH_MAX, ControllerResult, bounded, message_of
from ottla.metadata.image.acl import Acl
from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclPermissionType, AclResourceType, PatternType
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
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.security import AccessControlEntryRecord, RemoveAccessControlEntryRecord


def create_acls(context: ControllerContext, request: CreateAclsRequest) -> ControllerResult[CreateAclsResponse]:
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
    return ControllerResult(response, bounded(list(new.values())))


def delete_acls(context: ControllerContext, request: DeleteAclsRequest) -> ControllerResult[DeleteAclsResponse]:
    """Deletes every entry that a filter matches."""
    removed: dict[bytes, VersionedRecord] = {}
    entries = FilteredAcls(context.image.acls)
    response = DeleteAclsResponse()
    for wanted in request.filters:
        result = DeleteAclsFilterResult(error_message=None)
        try:
            _check_filter(wanted)
        except ApiError as error:
            result.error_code, result.error_message = error.code, message_of(error)
        else:
            for acl_id, acl in entries.matching(AclFilter.of(wanted)):
                result.matching_acls.append(DeleteAclsMatchingAcl(error_message=None, **acl._asdict()))
                removed[acl_id] = VersionedRecord(RemoveAccessControlEntryRecord(id=acl_id), 0)
        response.filter_results.append(result)
    if len(removed) > RECORDS_PER_BATCH_MAX:
        raise InvalidRequestError(f"Cannot remove more than {RECORDS_PER_BATCH_MAX} acls in a single delete operation.")
    return ControllerResult(response, list(removed.values()))


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
    return kind(value).name


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
