"""Access control lists: described, created, deleted."""

from collections.abc import Iterable

from ottla.base.errors import OttlaError
from ottla.client.admin.channel import ANY_NODE, CONTROLLER
from ottla.client.admin.operation.base import AdminOperations
from ottla.client.admin.outcome import outcome, settle
from ottla.client.admin.value.acl import (
    AccessControlEntry,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)
from ottla.protocol.errors import error_for
from ottla.protocol.messages.create_acls import AclCreation, CreateAclsRequest, CreateAclsResponse
from ottla.protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from ottla.protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)

EVERYTHING = AclBindingFilter()


class AclOperations(AdminOperations):
    """Operations on access control lists."""

    async def describe_acls(self, which: AclBindingFilter = EVERYTHING) -> list[AclBinding]:
        """The rules that a filter lets pass."""
        request = DescribeAclsRequest(
            resource_type_filter=which.resource_type,
            resource_name_filter=which.name,
            pattern_type_filter=which.pattern_type,
            principal_filter=which.principal,
            host_filter=which.host,
            operation=which.operation,
            permission_type=which.permission,
        )
        response = await self._channel.ask(ANY_NODE, request, DescribeAclsResponse)
        return [_binding(resource, found) for resource in response.resources for found in resource.acls]

    async def create_acls(
        self, bindings: Iterable[AclBinding], *, errors: dict[AclBinding, OttlaError] | None = None
    ) -> None:
        """Adds rules; one that exists already is fine."""
        wishes = list(bindings)
        request = CreateAclsRequest(creations=list(map(_creation, wishes)))
        response = await self._channel.ask(CONTROLLER, request, CreateAclsResponse)
        outcomes: dict[AclBinding, OttlaError | None] = {
            wish: outcome(None, found.error_code, found.error_message)
            for wish, found in zip(wishes, response.results, strict=True)
        }
        settle(outcomes, errors)

    async def delete_acls(
        self, filters: Iterable[AclBindingFilter], *, errors: dict[AclBindingFilter, OttlaError] | None = None
    ) -> dict[AclBindingFilter, list[AclBinding]]:
        """Removes the rules that filters let pass; which rules those were, by filter."""
        wishes = list(filters)
        request = DeleteAclsRequest(filters=list(map(_deletion, wishes)))
        response = await self._channel.ask(CONTROLLER, request, DeleteAclsResponse)
        outcomes = {wish: _deleted(found) for wish, found in zip(wishes, response.filter_results, strict=True)}
        return settle(outcomes, errors)


def _binding(resource: DescribeAclsResource, found: AclDescription) -> AclBinding:
    return AclBinding(
        ResourcePattern(
            ResourceType(resource.resource_type), resource.resource_name, PatternType(resource.pattern_type)
        ),
        AccessControlEntry(
            found.principal, AclOperation(found.operation), AclPermissionType(found.permission_type), found.host
        ),
    )


def _creation(binding: AclBinding) -> AclCreation:
    pattern, entry = binding
    return AclCreation(
        resource_type=pattern.type,
        resource_name=pattern.name,
        resource_pattern_type=pattern.pattern_type,
        principal=entry.principal,
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission,
    )


def _deletion(which: AclBindingFilter) -> DeleteAclsFilter:
    return DeleteAclsFilter(
        resource_type_filter=which.resource_type,
        resource_name_filter=which.name,
        pattern_type_filter=which.pattern_type,
        principal_filter=which.principal,
        host_filter=which.host,
        operation=which.operation,
        permission_type=which.permission,
    )


def _deleted(found: DeleteAclsFilterResult) -> list[AclBinding] | OttlaError:
    """The rules that are gone; the first that could not be removed makes the filter fail."""
    if found.error_code:
        return error_for(found.error_code, found.error_message)
    for acl in found.matching_acls:
        if acl.error_code:
            return error_for(acl.error_code, acl.error_message)
    return list(map(_matching, found.matching_acls))


def _matching(found: DeleteAclsMatchingAcl) -> AclBinding:
    return AclBinding(
        ResourcePattern(ResourceType(found.resource_type), found.resource_name, PatternType(found.pattern_type)),
        AccessControlEntry(
            found.principal, AclOperation(found.operation), AclPermissionType(found.permission_type), found.host
        ),
    )
