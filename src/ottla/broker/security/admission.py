"""The one step that every request passes, wherever it is answered: may this caller do that?

Handlers ask `context.rights`, compiled lanes `allows`, the table's rights are checked by `guard` before a handler is
called. A node without an authorizer has no `Admission`, and then no request pays for one. What a connection was found
to be allowed is remembered with it until the lists change; a change counts from the next request on.
"""

import ipaddress
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

from ottla.broker.request.client_session import ClientSession
from ottla.broker.request.needed_right import Right
from ottla.broker.security.audit import CHANGES, AuditLog
from ottla.broker.security.authorizer import Authorizer
from ottla.broker.security.rights import Rights
from ottla.metadata.acl.decision import Decision, Question
from ottla.protocol.acl import AclOperation, AclResourceType
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Response
from ottla.protocol.errors import (
    ApiError,
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailedError,
)

if TYPE_CHECKING:
    from ottla.net.channel import Channel

KNOWN_MAX: Final = 10_000
"""So many decisions are remembered for a connection; whoever would exceed it starts afresh."""
_NAME_KEPT_MAX: Final = 300
"""A topic's name is shorter. Those of groups are the client's choice, up to 32 KB: they are decided each time."""
_REFUSALS: Final[dict[AclResourceType, type[ApiError]]] = {
    AclResourceType.CLUSTER: ClusterAuthorizationFailedError,
    AclResourceType.GROUP: GroupAuthorizationFailedError,
    AclResourceType.TOPIC: TopicAuthorizationFailedError,
    AclResourceType.TRANSACTIONAL_ID: TransactionalIdAuthorizationFailedError,
}


class Asking(Protocol):
    """The part of a request's context that admission needs."""

    @property
    def rights(self) -> Rights:
        """The sender's rights."""


class Caller:
    """The principal and host of a connection, with the decisions that are known about them."""

    __slots__ = ("host", "known", "principal", "version")

    def __init__(self, principal: str, host: str) -> None:
        self.principal = principal
        self.host = java_address(host)
        self.version = -1
        """Of the lists that `known` was decided by."""
        self.known: dict[tuple[int, int, str | None], bool] = {}


class CallerRights:
    """A caller's rights within one request (`ottla.broker.security.rights.Rights`)."""

    __slots__ = ("_admission", "_api", "_caller", "is_unlimited")

    def __init__(self, admission: "Admission", caller: Caller, api: ApiKey) -> None:
        self._admission = admission
        self._caller = caller
        self._api = api
        self.is_unlimited = False

    @property
    def token(self) -> object:
        state = self._admission.state
        return object() if state is None else (self._caller.principal, self._caller.host, state)

    def may(self, operation: AclOperation, resource_type: AclResourceType, name: str) -> bool:
        return self._admission.allows(self._caller, self._api, (operation, resource_type, name))

    def may_any(self, operation: AclOperation, resource_type: AclResourceType) -> bool:
        return self._admission.allows(self._caller, self._api, (operation, resource_type, None))

    def sees(self, operation: AclOperation, resource_type: AclResourceType, name: str) -> bool:
        return self._admission.shows(self._caller, (operation, resource_type, name))


class Admission:
    """Decides whether requests are allowed."""

    def __init__(self, authorizer: Authorizer, audit: AuditLog | None = None) -> None:
        self._authorizer: Final = authorizer
        self._audit: Final = audit

    @property
    def state(self) -> int | None:
        """Changes when what callers may do has changed; None if that can happen at any time."""
        return self._authorizer.version if self._authorizer.is_repeatable else None

    def caller_of(self, connection: "Channel") -> Caller:
        """The connection's caller."""
        session = connection.session
        known = session.caller if isinstance(session, ClientSession) else None
        # Who a connection belongs to is settled by log-in, after its first requests.
        if isinstance(known, Caller) and known.principal == connection.principal:
            return known
        caller = Caller(connection.principal, connection.peer[0])
        if isinstance(session, ClientSession):
            session.caller = caller
        return caller

    def allows(self, caller: Caller, api: ApiKey, asked: tuple[int, int, str | None]) -> bool:
        """Whether a caller may do that: operation, type and name of the resource; None for any of the type."""
        known = self._known(caller)
        found = known.get(asked)
        if found is not None and asked[0] not in CHANGES:
            return found
        decision = self._decide(caller, asked)
        if self._audit is not None:
            self._audit.note(Question(caller.principal, caller.host, asked[0], asked[1], asked[2] or ""), api, decision)
        self._remember(known, asked, decision)
        return decision.is_allowed

    def shows(self, caller: Caller, asked: tuple[int, int, str | None]) -> bool:
        """As `allows`, for resources that were not asked for by name: the audit log does not mention them."""
        known = self._known(caller)
        found = known.get(asked)
        if found is None:
            decision = self._decide(caller, asked)
            self._remember(known, asked, decision)
            found = decision.is_allowed
        return found

    def lets_through(self, connection: "Channel", api: ApiKey, asked: tuple[int, int, str | None]) -> bool:
        """`allows` for a lane, which has no request context."""
        return self.allows(self.caller_of(connection), api, asked)

    def guard(
        self, right: Right, api: ApiKey, handle: Callable[[Any, Any, Any], Response | None]
    ) -> Callable[[Any, Any, Any], Response | None]:
        """`handle` for those who have the right that the API table asks for; others are refused."""
        operations, resource_type = right.operations, right.resource_type

        def guarded(parts: Any, context: Asking, request: Any) -> Response | None:
            rights, name = context.rights, right.resource_name(request)
            if not any(rights.may(operation, resource_type, name) for operation in operations):
                raise _REFUSALS[resource_type]
            return handle(parts, context, request)

        return guarded

    def _known(self, caller: Caller) -> dict[tuple[int, int, str | None], bool]:
        known = caller.known
        if caller.version != self._authorizer.version:
            caller.version = self._authorizer.version
            known.clear()
        return known

    def _decide(self, caller: Caller, asked: tuple[int, int, str | None]) -> Decision:
        operation, resource_type, name = asked
        question = Question(caller.principal, caller.host, operation, resource_type, name or "")
        return self._authorizer.decide_any(question) if name is None else self._authorizer.decide(question)

    def _remember(
        self, known: dict[tuple[int, int, str | None], bool], asked: tuple[int, int, str | None], decision: Decision
    ) -> None:
        if self._authorizer.is_repeatable and (asked[2] is None or len(asked[2]) <= _NAME_KEPT_MAX):
            if len(known) >= KNOWN_MAX:
                known.clear()
            known[asked] = decision.is_allowed


def java_address(host: str) -> str:
    """An address as Java writes it, which is how access control lists name hosts.

    >>> java_address("::1"), java_address("::ffff:10.0.0.7"), java_address("10.0.0.7")
    ('0:0:0:0:0:0:0:1', '10.0.0.7', '10.0.0.7')
    """
    if ":" not in host:
        return host
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return ":".join(f"{int(group, 16):x}" for group in address.exploded.partition("%")[0].split(":"))
