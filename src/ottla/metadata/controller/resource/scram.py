"""AlterUserScramCredentials: credentials set and removed. The salted password is turned into keys and forgotten.

Unlike Kafka, which takes one alteration of a user in a request, both mechanisms of a user may be altered at once.
"""

import hashlib
import hmac
from collections.abc import Callable
from typing import Any, Final

from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult, bounded, message_of
from ottla.metadata.image.scram import ScramUser
from ottla.protocol.errors import (
    ApiError,
    DuplicateResourceError,
    ResourceNotFoundError,
    UnacceptableCredentialError,
    UnknownServerError,
    UnsupportedSaslMechanismError,
    UnsupportedVersionError,
)
from ottla.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.security import RemoveUserScramCredentialRecord, UserScramCredentialRecord
from ottla.protocol.scram import ScramMechanism

ITERATIONS_MIN: Final = 4_096
ITERATIONS_MAX: Final = 16_384
_HASHES: Final[dict[int, Callable[..., Any]]] = {
    ScramMechanism.SCRAM_SHA_256: hashlib.sha256,
    ScramMechanism.SCRAM_SHA_512: hashlib.sha512,
}
Alteration = ScramCredentialDeletion | ScramCredentialUpsertion


def alter_user_scram_credentials(
    context: ControllerContext, request: AlterUserScramCredentialsRequest
) -> ControllerResult[AlterUserScramCredentialsResponse]:
    """Alters credentials, each user as a whole or not at all."""
    by_user: dict[str, list[Alteration]] = {}
    alterations: list[Alteration] = [*request.deletions, *request.upsertions]
    for alteration in alterations:
        by_user.setdefault(alteration.name, []).append(alteration)
    records: list[VersionedRecord] = []
    response = AlterUserScramCredentialsResponse()
    for user, wanted in by_user.items():
        result = AlterUserScramCredentialsResult(user=user, error_message=None)
        try:
            records += _alter(context, wanted)
        except ApiError as error:
            result.error_code, result.error_message = error.code, message_of(error)
        response.results.append(result)
    # Users whose credentials are deleted come first, as they do in the request; who is refused comes last.
    response.results.sort(key=lambda result: result.error_code != 0)
    return ControllerResult(response, bounded(records))


def _alter(context: ControllerContext, wanted: list[Alteration]) -> list[VersionedRecord]:
    if not context.version.supports_scram:
        raise UnsupportedVersionError("The current metadata.version does not support SCRAM")
    records: dict[int, VersionedRecord] = {}
    for alteration in wanted:
        if alteration.mechanism in records:
            raise DuplicateResourceError("A user credential cannot be altered twice in the same request")
        records[alteration.mechanism] = _record(context, alteration)
    return list(records.values())


def _record(context: ControllerContext, alteration: Alteration) -> VersionedRecord:
    if not alteration.name:
        raise UnacceptableCredentialError("Username must not be empty")
    if alteration.mechanism not in _HASHES:
        raise UnsupportedSaslMechanismError("Unknown SCRAM mechanism")
    if isinstance(alteration, ScramCredentialUpsertion):
        return VersionedRecord(_credential(alteration), 0)
    if ScramUser(alteration.mechanism, alteration.name) not in context.image.scram:
        raise ResourceNotFoundError("Attempt to delete a user credential that does not exist")
    return VersionedRecord(RemoveUserScramCredentialRecord(name=alteration.name, mechanism=alteration.mechanism), 0)


def _credential(upsertion: ScramCredentialUpsertion) -> UserScramCredentialRecord:
    """Stored key and server key (RFC 5802 section 3): they check a proof, but don't make one."""
    if upsertion.iterations < ITERATIONS_MIN:
        raise UnacceptableCredentialError("Too few iterations")
    if upsertion.iterations > ITERATIONS_MAX:
        raise UnacceptableCredentialError("Too many iterations")
    digest = _HASHES[upsertion.mechanism]
    salted = bytes(upsertion.salted_password)
    if not salted:
        raise UnknownServerError("Empty key")
    client_key = hmac.new(salted, b"Client Key", digest).digest()
    return UserScramCredentialRecord(
        name=upsertion.name,
        mechanism=upsertion.mechanism,
        salt=bytes(upsertion.salt),
        stored_key=digest(client_key).digest(),
        server_key=hmac.new(salted, b"Server Key", digest).digest(),
        iterations=upsertion.iterations,
    )
