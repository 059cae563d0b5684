"""The answer to DescribeAcls: the entries that a filter takes in, by the pattern of the resource."""

from collections.abc import Iterable

from ottla.metadata.acl.filter import AclFilter, FilteredAcls
from ottla.metadata.image.acl import Acl, AclsImage
from ottla.protocol.acl import AclOperation, AclPermissionType, AclResourceType, PatternType
from ottla.protocol.errors import InvalidRequestError
from ottla.protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)


def describe_acls(acls: AclsImage, request: DescribeAclsRequest) -> DescribeAclsResponse:
    """Describes what the request's filter takes in."""
    for kind, value in (
        (AclResourceType, request.resource_type_filter),
        (PatternType, request.pattern_type_filter),
        (AclOperation, request.operation),
        (AclPermissionType, request.permission_type),
    ):
        if kind(value) == 0:
            raise InvalidRequestError("The AclBindingFilter must not contain UNKNOWN elements.")
    found = FilteredAcls(acls).matching(AclFilter.of(request))
    return DescribeAclsResponse(resources=_resources(acl for _, acl in found))


def _resources(acls: Iterable[Acl]) -> list[DescribeAclsResource]:
    resources: dict[tuple[int, str, int], DescribeAclsResource] = {}
    for acl in acls:
        key = (acl.resource_type, acl.resource_name, acl.pattern_type)
        if key not in resources:
            resources[key] = DescribeAclsResource(
                resource_type=acl.resource_type, resource_name=acl.resource_name, pattern_type=acl.pattern_type
            )
        resources[key].acls.append(
            AclDescription(
                principal=acl.principal,
                host=acl.host,
                operation=acl.operation,
                permission_type=acl.permission_type,
            )
        )
    return list(resources.values())
