"""GSSAPI (RFC 4752) from both sides, around a security context that somebody else gives: who has a ticket is known.

Only the security layer `none` is offered and taken, as in Kafka: TLS is what encrypts. The mechanism's own messages are
opaque here; a `SecurityContext` makes and reads them.
"""

from collections.abc import Callable, Generator
from typing import Final, Protocol

from ottla.base.errors import OttlaError
from ottla.net.errors import LoginFailedError
from ottla.net.sasl.server import Accepted, Identity, ServerExchange, invalid_credentials, user

MECHANISM: Final = "GSSAPI"
_NO_LAYER: Final = b"\x01\x00\x00\x00"
"""The layers that are offered or chosen, as bits, and the longest message in one: there are none."""
_ROUNDS_MAX: Final = 10
"""Kerberos needs one; a side that wants more than this keeps the other one busy."""


class GssFailedError(OttlaError):
    """A token that the security context does not take, or a context that can't be set up: why."""


class SecurityContext(Protocol):
    """One side of a security context. Every call may raise `GssFailedError`."""

    @property
    def is_complete(self) -> bool:
        """Whether each side knows the other."""
        ...

    @property
    def initiator(self) -> str:
        """The client's principal, `alice@EXAMPLE.COM`, once the context is complete."""
        ...

    def step(self, token: bytes) -> bytes:
        """Takes the other side's token, empty for the first one; the next of ours, empty if there is none."""
        ...

    def wrap(self, message: bytes) -> bytes:
        """Signs a message."""
        ...

    def unwrap(self, message: bytes) -> bytes:
        """Checks a signed message."""
        ...


NameUser = Callable[[str], str]
"""Makes a user's name of a principal; raises `ValueError` if no rule does."""


def gssapi_exchange(context: SecurityContext, authorization_id: str) -> Generator[bytes, bytes, None]:
    """The client's messages; raises `LoginFailedError` if the broker does not prove itself."""
    try:
        answer = yield context.step(b"")
        rounds = 1
        while not context.is_complete:
            if rounds > _ROUNDS_MAX:
                raise LoginFailedError("the broker does not come to an end of GSSAPI")
            answer, rounds = (yield context.step(answer)), rounds + 1
        offered = context.unwrap(answer)
        if len(offered) != len(_NO_LAYER) or not offered[0] & _NO_LAYER[0]:
            raise LoginFailedError("the broker wants a GSSAPI security layer, which Kafka's protocol does not have")
        yield context.wrap(_NO_LAYER + authorization_id.encode())
    except GssFailedError as error:
        raise LoginFailedError(str(error)) from error


def gssapi_server(context: SecurityContext, name_user: NameUser) -> ServerExchange:
    """The server's side. Whom a client asks to act as is not looked at, as in Kafka: its ticket says who it is."""
    message = yield b""
    try:
        answer = context.step(message)
        rounds = 1
        while not context.is_complete:
            if not answer or rounds == _ROUNDS_MAX:
                raise invalid_credentials(MECHANISM)
            answer, rounds = context.step((yield answer)), rounds + 1
        # The client has nothing to say to the last token (RFC 4752): what it says is not part of the context.
        if answer and (yield answer):
            raise invalid_credentials(MECHANISM)
        chosen = context.unwrap((yield context.wrap(_NO_LAYER)))
        if len(chosen) < len(_NO_LAYER) or chosen[0] != _NO_LAYER[0]:
            raise invalid_credentials(MECHANISM)
        name = name_user(context.initiator)
    except (GssFailedError, ValueError) as error:
        raise invalid_credentials(MECHANISM) from error
    return Accepted(Identity(user(name)))
