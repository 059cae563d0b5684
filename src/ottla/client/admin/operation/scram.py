"""SCRAM credentials: described and changed (KIP-554). Passwords are salted here and never sent."""

import hashlib
import os
from collections.abc import Iterable
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.channel import ANY_NODE, CONTROLLER
from ottla.client.admin.operation.base import AdminOperations
from ottla.client.admin.outcome import answered, outcome, settle
from ottla.client.admin.value.scram import (
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from ottla.protocol.errors import UnacceptableCredentialError
from ottla.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    UserName,
)

_HASHES: Final = {ScramMechanism.SCRAM_SHA_256: "sha256", ScramMechanism.SCRAM_SHA_512: "sha512"}
_SALT_BYTES: Final = 20


class ScramOperations(AdminOperations):
    """Operations on SCRAM credentials."""

    async def describe_user_scram_credentials(
        self, users: Iterable[str] | None = None, *, errors: dict[str, OttlaError] | None = None
    ) -> dict[str, tuple[ScramCredentialInfo, ...]]:
        """The credentials of some users, or of all that have any."""
        asked = None if users is None else list(users)
        request = DescribeUserScramCredentialsRequest(
            users=None if asked is None else [UserName(name=user) for user in asked]
        )
        response = await self._channel.ask(ANY_NODE, request, DescribeUserScramCredentialsResponse)
        outcomes = {
            found.user: outcome(
                tuple(
                    ScramCredentialInfo(ScramMechanism(info.mechanism), info.iterations)
                    for info in found.credential_infos
                ),
                found.error_code,
                found.error_message,
            )
            for found in response.results
        }
        return settle(outcomes if asked is None else answered(asked, outcomes), errors)

    async def alter_user_scram_credentials(
        self,
        alterations: Iterable[UserScramCredentialUpsertion | UserScramCredentialDeletion],
        *,
        errors: dict[str, OttlaError] | None = None,
    ) -> None:
        """Sets and removes credentials; one change per user and call, or the server refuses them."""
        wishes = list(alterations)
        request = AlterUserScramCredentialsRequest(
            deletions=[
                ScramCredentialDeletion(name=wish.user, mechanism=wish.mechanism)
                for wish in wishes
                if isinstance(wish, UserScramCredentialDeletion)
            ],
            upsertions=[_upsertion(wish) for wish in wishes if isinstance(wish, UserScramCredentialUpsertion)],
        )
        response = await self._channel.ask(CONTROLLER, request, AlterUserScramCredentialsResponse)
        outcomes: dict[str, OttlaError | None] = {
            found.user: outcome(None, found.error_code, found.error_message) for found in response.results
        }
        settle(answered([wish.user for wish in wishes], outcomes), errors)


def _upsertion(wish: UserScramCredentialUpsertion) -> ScramCredentialUpsertion:
    if not wish.password:
        # The server gets a salted one, and can't see that there is nothing in it.
        raise UnacceptableCredentialError("Password must not be empty")
    salt = os.urandom(_SALT_BYTES) if wish.salt is None else wish.salt
    return ScramCredentialUpsertion(
        name=wish.user,
        mechanism=wish.mechanism,
        iterations=wish.iterations,
        salt=salt,
        salted_password=salted_password(wish.mechanism, wish.password, salt, wish.iterations),
    )


def salted_password(mechanism: ScramMechanism, password: bytes, salt: bytes, iterations: int) -> bytes:
    """RFC 5802's Hi(): what the server learns instead of the password.

    >>> salt = bytes.fromhex("5b6d99689d12358eeca04b141236fa81")  # the example of RFC 7677
    >>> salted_password(ScramMechanism.SCRAM_SHA_256, b"pencil", salt, 4096).hex()[:16]
    'c4a49510323ab4f9'
    """
    return hashlib.pbkdf2_hmac(_HASHES[mechanism], password, salt, iterations)
