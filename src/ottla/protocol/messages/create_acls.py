"""CreateAcls (key 30): adds ACLs.

Sent by admin clients to any broker, which forwards it to the controller. `results` stand in the order of `creations`;
an entry that exists succeeds. The principal is written Type:name, the host is an address or `*`.
`resource_pattern_type` (v1, KIP-290) is 3 literal or 4 prefixed; any and match are for filters only. v3 knows users
as resources (KIP-373).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int8, int16, int32, string


class AclCreation(Struct):
    resource_type: int = int8("0+")
    resource_name: str = string("0+")
    resource_pattern_type: int = int8("1+", default=3)
    principal: str = string("0+")
    host: str = string("0+")
    operation: int = int8("0+")
    permission_type: int = int8("0+")


class CreateAclsRequest(Request, api=ApiKey.CREATE_ACLS, versions="1-3", flexible="2+"):
    creations: list[AclCreation] = array(AclCreation, "0+")


class AclCreationResult(Struct):
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+")


class CreateAclsResponse(Response, api=ApiKey.CREATE_ACLS, versions="1-3", flexible="2+"):
    throttle_time_ms: int = int32("0+")
    results: list[AclCreationResult] = array(AclCreationResult, "0+")
