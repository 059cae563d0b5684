"""A client's request on its way to the controller: in an Envelope across the network, or straight within a process.

Either way the controller's handlers see a `ForwardedContext`: the client's own call, version, name and address, with
an answer that goes back to the broker. What the broker has to ask again elsewhere, because this node is not the
controller any more, is told apart from what the client is to hear (KIP-590).
"""

import socket
from collections.abc import Callable

from ottla.base.frozen import frozen
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.route import Route
from ottla.broker.security.admission import Caller, CallerRights
from ottla.broker.security.rights import EVERY_RIGHT, Rights
from ottla.net.channel import Exchange
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import (
    ApiError,
    DecodeError,
    ErrorCode,
    InvalidRequestError,
    NotControllerError,
    PrincipalDeserializationFailureError,
)
from ottla.protocol.frame import encode_request
from ottla.protocol.messages.describe_quorum import DescribeQuorumResponse
from ottla.protocol.messages.envelope import EnvelopeRequest
from ottla.protocol.principal import DefaultPrincipalData

_PRINCIPAL_VERSION = 0
_SIZE_BYTES = 4


@frozen
class Origin:
    """The original sender of a request."""

    correlation_id: int
    client_id: str
    principal: str
    client_host: str
    principal_is_token: bool = False

    @classmethod
    def of(cls, context: RequestContext) -> "Origin":
        """The sender of a request that came in here."""
        return cls(
            context.correlation_id,
            context.client_id,
            context.principal,
            context.client_host,
            context.principal_is_token,
        )


class ForwardedContext(RequestContext):
    """A request that a broker hands on in a client's name."""

    __slots__ = ("_answered", "_caller", "_origin", "_refused")

    def __init__(
        self,
        route: Route,
        origin: Origin,
        exchange: Exchange,
        answered: Callable[[Response], None],
        refused: Callable[[ApiError], None],
    ) -> None:
        """`answered` gets the client's answer; `refused` is called if another node has to be asked."""
        super().__init__(route, origin.correlation_id, origin.client_id, exchange)
        self._origin = origin
        self._caller: Caller | None = None
        self._answered = answered
        self._refused = refused

    @property
    def principal(self) -> str:
        """The client, not the broker."""
        return self._origin.principal

    @property
    def principal_is_token(self) -> bool:
        """Of the client."""
        return self._origin.principal_is_token

    @property
    def client_host(self) -> str:
        """The client's address, not the broker's."""
        return self._origin.client_host

    @property
    def rights(self) -> Rights:
        """The rights of the client, not of the broker."""
        admission = self.route.admission
        if admission is None:
            return EVERY_RIGHT
        if self._caller is None:
            self._caller = Caller(self.principal, self.client_host)
        return CallerRights(admission, self._caller, self.route.api)

    def answer(self, response: Response) -> None:
        """Sends the response back the way the request came."""
        if _is_of_no_leader(response):
            self._refused(NotControllerError())
        else:
            self._answered(response)

    def refuse(self, error: NotControllerError) -> None:
        """This node is not the controller: the broker is to find the one that is."""
        self._refused(error)


def envelope(context: RequestContext, request: Request) -> EnvelopeRequest:
    """A client's request as it travels to another node."""
    frame = encode_request(request, context.version, correlation_id=context.correlation_id, client_id=context.client_id)
    return EnvelopeRequest(
        request_data=frame[_SIZE_BYTES:],
        request_principal=encode_principal(context.principal, is_token=context.principal_is_token),
        client_host_address=_encode_address(context.client_host),
    )


def encode_principal(principal: str, *, is_token: bool = False) -> bytes:
    """The bytes of Kafka's default principal builder.

    >>> encode_principal("User:al").hex()
    '0000055573657203616c0000'
    """
    kind, _, name = principal.partition(":")
    body = DefaultPrincipalData(type=kind, name=name, token_authenticated=is_token).encode(_PRINCIPAL_VERSION)
    return _PRINCIPAL_VERSION.to_bytes(2, "big") + body


def decode_principal(data: bytes | None) -> tuple[str, bool]:
    """The sender of the request in an envelope, and whether with a token.

    Raises PRINCIPAL_DESERIALIZATION_FAILURE for unreadable bytes.
    """
    if data is None or len(data) < 2 or int.from_bytes(data[:2], "big", signed=True) != _PRINCIPAL_VERSION:
        raise PrincipalDeserializationFailureError("Failed to deserialize client principal from envelope")
    try:
        found = DefaultPrincipalData.decode(data[2:], _PRINCIPAL_VERSION)
    except DecodeError as error:
        raise PrincipalDeserializationFailureError("Failed to deserialize client principal from envelope") from error
    return f"{found.type}:{found.name}", found.token_authenticated


def decode_address(data: bytes) -> str:
    """The client's address in an envelope; INVALID_REQUEST if it is none.

    >>> decode_address(bytes([127, 0, 0, 1]))
    '127.0.0.1'
    """
    if len(data) not in (4, 16):
        raise InvalidRequestError("Failed to parse client address from envelope")
    return socket.inet_ntop(socket.AF_INET if len(data) == 4 else socket.AF_INET6, data)


def _encode_address(host: str) -> bytes:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.inet_pton(family, host.partition("%")[0])


def _is_of_no_leader(response: Response) -> bool:
    """DescribeQuorum is answered by the quorum itself, which has its own word for not being the one to ask."""
    return isinstance(response, DescribeQuorumResponse) and any(
        partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        for topic in response.topics
        for partition in topic.partitions
    )
