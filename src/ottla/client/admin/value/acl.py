"""Access control: who may do what to which resources."""

from typing import NamedTuple

from ottla.protocol.acl import AclOperation, AclPermissionType, PatternType
from ottla.protocol.acl import AclResourceType as ResourceType

__all__ = [
    "AccessControlEntry",
    "AclBinding",
    "AclBindingFilter",
    "AclOperation",
    "AclPermissionType",
    "PatternType",
    "ResourcePattern",
    "ResourceType",
]


class ResourcePattern(NamedTuple):
    """The resources that a rule is about."""

    type: ResourceType
    name: str
    pattern_type: PatternType = PatternType.LITERAL


class AccessControlEntry(NamedTuple):
    """An entry: a principal, a host, an operation, and whether it is allowed or denied."""

    principal: str
    """Written `Type:name`, as in `User:alice`."""
    operation: AclOperation
    permission: AclPermissionType = AclPermissionType.ALLOW
    host: str = "*"


class AclBinding(NamedTuple):
    """A rule: an entry and the resources that it is about."""

    pattern: ResourcePattern
    entry: AccessControlEntry


class AclBindingFilter(NamedTuple):
    """The rules that are meant; None and ANY match all."""

    resource_type: ResourceType = ResourceType.ANY
    name: str | None = None
    pattern_type: PatternType = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: AclOperation = AclOperation.ANY
    permission: AclPermissionType = AclPermissionType.ANY
