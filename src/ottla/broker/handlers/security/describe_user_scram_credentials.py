"""DescribeUserScramCredentials (key 50), version 0: which SCRAM mechanisms users have, and with how many iterations.

Null or no users asks for all. A user who is named twice is refused, one who has no credential is not found; salts and
keys are never shown. KIP-554.
"""

from collections import Counter
from typing import TYPE_CHECKING

from ottla.metadata.image.scram import ScramUser
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from ottla.protocol.scram import SCRAM_MECHANISMS

if TYPE_CHECKING:
    from immutables import Map

    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext
    from ottla.metadata.image.scram import ScramCredential


def handle(
    parts: "BrokerParts", context: "RequestContext", request: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    """Answers from the image."""
    scram = parts.metadata.image.scram
    if request.users:
        times = Counter(user.name for user in request.users)
    else:
        times = Counter(dict.fromkeys(sorted({user.name for user in scram}), 1))
    return DescribeUserScramCredentialsResponse(
        results=[_result(scram, name) if count == 1 else _refused_twice(name) for name, count in times.items()]
    )


def _result(scram: "Map[ScramUser, ScramCredential]", name: str) -> DescribeUserScramCredentialsResult:
    found = [
        CredentialInfo(mechanism=mechanism, iterations=scram[ScramUser(mechanism, name)].iterations)
        for mechanism in SCRAM_MECHANISMS
        if ScramUser(mechanism, name) in scram
    ]
    if found:
        return DescribeUserScramCredentialsResult(user=name, credential_infos=found)
    return DescribeUserScramCredentialsResult(
        user=name,
        error_code=ErrorCode.RESOURCE_NOT_FOUND,
        error_message=f"Attempt to describe a user credential that does not exist: {name}",
    )


def _refused_twice(name: str) -> DescribeUserScramCredentialsResult:
    return DescribeUserScramCredentialsResult(
        user=name,
        error_code=ErrorCode.DUPLICATE_RESOURCE,
        error_message=f"Cannot describe SCRAM credentials for the same user twice in a single request: {name}",
    )
