"""Decides whether a principal may do an operation, as Kafka's StandardAuthorizer does.

In this order: a super user may; an entry that denies decides; an entry that allows decides; where no entry at all is
about the resource, `allow.everyone.if.no.acl.found` decides; otherwise not. Only allowed operations imply others: READ,
WRITE, DELETE and ALTER imply DESCRIBE, and ALTER_CONFIGS implies DESCRIBE_CONFIGS. A principal that is denied READ may
still DESCRIBE.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Final, NamedTuple

from ottla.base.frozen import frozen
from ottla.metadata.acl.index import AclIndex
from ottla.metadata.image.acl import Acl
from ottla.protocol.acl import WILDCARD, AclOperation, AclPermissionType, PatternType

_IMPLYING: Final = {
    AclOperation.DESCRIBE: frozenset({AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER}),
    AclOperation.DESCRIBE_CONFIGS: frozenset({AclOperation.ALTER_CONFIGS}),
}
_ANY_NAME: Final = "hardcode"
"""The name that Kafka asks about first where any resource of a type will do."""


class Reason(Enum):
    """Why a decision is what it is."""

    SUPER_USER = "a super user"
    DENIED = "an entry denies it"
    ALLOWED = "an entry allows it"
    NOT_ALLOWED = "no entry allows it"
    NO_ENTRY = "no entry is about the resource"
    PLUGIN = "the authorizer's class decided"


class Question(NamedTuple):
    """May `principal`, coming from `host`, do that?"""

    principal: str
    host: str
    operation: int
    resource_type: int
    resource_name: str


class Decision(NamedTuple):
    """The answer, and what it rests on."""

    is_allowed: bool
    reason: Reason
    rule: Acl | None = None


@frozen
class AclSettings:
    """The settings that decide besides the entries."""

    super_users: frozenset[str] = frozenset()
    allow_everyone_if_no_acl_found: bool = False


def decide(index: AclIndex, settings: AclSettings, question: Question) -> Decision:
    """Answers a question about one resource."""
    principal, host, operation, resource_type, name = question
    if principal in settings.super_users:
        return Decision(is_allowed=True, reason=Reason.SUPER_USER)
    allowing = None
    for acl in index.of(resource_type, name, principal):
        if acl.host not in (host, WILDCARD):
            continue
        if acl.permission_type == AclPermissionType.DENY:
            if acl.operation in (operation, AclOperation.ALL):
                return Decision(is_allowed=False, reason=Reason.DENIED, rule=acl)
        elif allowing is None and _allows(acl.operation, operation):
            allowing = acl
    if allowing is not None:
        return Decision(is_allowed=True, reason=Reason.ALLOWED, rule=allowing)
    if index.names(resource_type, name):
        return Decision(is_allowed=False, reason=Reason.NOT_ALLOWED)
    return Decision(is_allowed=settings.allow_everyone_if_no_acl_found, reason=Reason.NO_ENTRY)


def decide_any(index: AclIndex, settings: AclSettings, question: Question) -> Decision:
    """Whether there is any resource of the type that the operation is allowed on; the question's name does not matter.

    An allowed pattern counts unless a denied one covers it. What may be done with one resource but is implied by
    another operation does not count, as in Kafka.
    """
    at_first = decide(index, settings, question._replace(resource_name=_ANY_NAME))
    if at_first.is_allowed:
        return at_first
    found = [
        acl
        for acl in index.of_type(question.resource_type, question.principal)
        if acl.host in (question.host, WILDCARD) and acl.operation in (question.operation, AclOperation.ALL)
    ]
    denied = [acl for acl in found if acl.permission_type == AclPermissionType.DENY]
    for acl in denied:
        if acl.pattern_type == PatternType.LITERAL and acl.resource_name == WILDCARD:
            return Decision(is_allowed=False, reason=Reason.DENIED, rule=acl)
    literal = {acl.resource_name for acl in denied if acl.pattern_type == PatternType.LITERAL}
    prefixed = {acl.resource_name for acl in denied if acl.pattern_type == PatternType.PREFIXED}
    for acl in found:
        if acl.permission_type == AclPermissionType.ALLOW and not _is_covered(acl, literal, prefixed):
            return Decision(is_allowed=True, reason=Reason.ALLOWED, rule=acl)
    return Decision(is_allowed=False, reason=Reason.NOT_ALLOWED)


def authorized_operations(may: Iterable[AclOperation]) -> int:
    """Operations as the bit field of answers (KIP-430): a bit's place is the operation's number.

    >>> authorized_operations([AclOperation.READ, AclOperation.WRITE])
    24
    """
    return sum(1 << operation for operation in may)


def _allows(allowed: int, operation: int) -> bool:
    if allowed in (operation, AclOperation.ALL):
        return True
    implying = _IMPLYING.get(operation)  # type: ignore[call-overload]
    return implying is not None and allowed in implying


def _is_covered(acl: Acl, literal: set[str], prefixed: set[str]) -> bool:
    name = acl.resource_name
    if acl.pattern_type == PatternType.LITERAL:
        if name == WILDCARD:
            return False
        if name in literal:
            return True
    return any(name[:length] in prefixed for length in range(1, len(name) + 1))


def parse_super_users(text: str) -> frozenset[str]:
    """The names in `super.users`; ValueError for one without a type.

    >>> sorted(parse_super_users("User:CN=a,OU=b; User:admin"))
    ['User:CN=a,OU=b', 'User:admin']
    """
    names = [part.strip() for part in text.split(";") if part.strip()]
    for name in names:
        if not name.partition(":")[2]:
            raise ValueError(f"`{name}` is no principal: write Type:name, as in User:admin")
    return frozenset(names)
