"""DescribeAcls (key 29): lists the ACLs that match a filter.

Sent by admin clients; broker or controller answers from its own metadata. A null name, principal or host matches all,
as does 1 (any) for types and operations. `pattern_type_filter` (v1, KIP-290) is 3 literal, 4 prefixed, 1 any, or 2
for every pattern that applies to the name. Type 0 (unknown) closes the connection. v3 knows users as resources
(KIP-373).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int8, int16, int32, string


class DescribeAclsRequest(Request, api=ApiKey.DESCRIBE_ACLS, versions="1-3", flexible="2+"):
    resource_type_filter: int = int8("0+")
    resource_name_filter: str | None = string("0+", nullable="0+")
    pattern_type_filter: int = int8("1+", default=3)
    principal_filter: str | None = string("0+", nullable="0+")
    host_filter: str | None = string("0+", nullable="0+")
    operation: int = int8("0+")
    permission_type: int = int8("0+")


class AclDescription(Struct):
    principal: str = string("0+")
    host: str = string("0+")
    operation: int = int8("0+")
    permission_type: int = int8("0+")


class DescribeAclsResource(Struct):
    resource_type: int = int8("0+")
    resource_name: str = string("0+")
    pattern_type: int = int8("1+", default=3)
    acls: list[AclDescription] = array(AclDescription, "0+")


class DescribeAclsResponse(Response, api=ApiKey.DESCRIBE_ACLS, versions="1-3", flexible="2+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+")
    resources: list[DescribeAclsResource] = array(DescribeAclsResource, "0+")
