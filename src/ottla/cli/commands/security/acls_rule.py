"""Reads and shows entries for `ottla acls`: words to values, an entry as a sentence, and the entry that decides."""

from collections.abc import Sequence
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.value.acl import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)
from ottla.metadata.acl.decision import AclSettings, Decision, Question, Reason, decide, parse_super_users
from ottla.metadata.acl.index import AclIndex
from ottla.metadata.image.acl import Acl
from ottla.protocol.acl import CLUSTER_NAME

_KINDS: Final = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "txn": ResourceType.TRANSACTIONAL_ID,
    "user": ResourceType.USER,
    "token": ResourceType.DELEGATION_TOKEN,
}


class AclArgumentError(OttlaError):
    """Something on the command line that names no right."""


def principal_of(text: str) -> str:
    """A principal; a name alone is a user.

    >>> principal_of("alice"), principal_of("User:*")
    ('User:alice', 'User:*')
    """
    return text if ":" in text else f"User:{text}"


def operation_of(text: str) -> AclOperation:
    """An operation by its name, in any case, with dashes or underscores."""
    found = AclOperation.__members__.get(text.upper().replace("-", "_"), AclOperation.UNKNOWN)
    if found in (AclOperation.UNKNOWN, AclOperation.ANY):
        known = ", ".join(each.name.lower().replace("_", "-") for each in AclOperation if each > AclOperation.ANY)
        raise AclArgumentError(f"{text} is no operation; there are {known}")
    return found


def resource_of(text: str) -> ResourcePattern:
    """A resource: `orders` or `topic:orders`, `group:app`, `txn:id`, `user:User:al`, `cluster`; `topic:ord*` by prefix.

    >>> resource_of("orders").name, resource_of("group:app-*").pattern_type.name, resource_of("*").pattern_type.name
    ('orders', 'PREFIXED', 'LITERAL')
    """
    if text == "cluster":
        return ResourcePattern(ResourceType.CLUSTER, CLUSTER_NAME)
    word, colon, name = text.partition(":")
    kind = _KINDS.get(word) if colon else None
    if kind is None:
        if colon:
            raise AclArgumentError(f"{word} is no kind of resource; there are {', '.join(_KINDS)} and cluster")
        kind, name = ResourceType.TOPIC, text
    if not name:
        raise AclArgumentError(f"{text} names no resource")
    if name.endswith("*") and name != "*":
        return ResourcePattern(kind, name[:-1], PatternType.PREFIXED)
    return ResourcePattern(kind, name)


def shown_resource(pattern: ResourcePattern) -> str:
    """As `resource_of` reads it."""
    if pattern.type is ResourceType.CLUSTER:
        return "cluster"
    word = next((word for word, kind in _KINDS.items() if kind is pattern.type), pattern.type.name.lower())
    star = "*" if pattern.pattern_type is PatternType.PREFIXED else ""
    return f"{word}:{pattern.name}{star}"


def decided(bindings: Sequence[AclBinding], settings: AclSettings, question: Question) -> Decision:
    """The brokers' decision with these entries."""
    return decide(AclIndex(map(_acl, bindings)), settings, question)


def settings_of(super_users: str, allow_everyone: str) -> AclSettings:
    """The authorizer's settings as the broker's file has them."""
    return AclSettings(parse_super_users(super_users), allow_everyone.lower() == "true")


def explanation(decision: Decision) -> str:
    """Why, in a sentence."""
    rule = decision.rule
    if rule is None:
        reasons = {
            Reason.SUPER_USER: "super users may do everything",
            Reason.NOT_ALLOWED: "there are rules about it, but none allows this",
            Reason.NO_ENTRY: "no rule is about it, so allow.everyone.if.no.acl.found decides",
        }
        return reasons.get(decision.reason, decision.reason.value)
    binding = _binding(rule)
    return f"this rule decides: {sentence(binding)}"


def sentence(binding: AclBinding) -> str:
    """A rule in one line.

    >>> sentence(AclBinding(resource_of("ord*"), AccessControlEntry("User:al", AclOperation.READ)))
    'allow User:al read topic:ord* from anywhere'
    """
    entry = binding.entry
    place = "anywhere" if entry.host == "*" else entry.host
    operation = entry.operation.name.lower().replace("_", "-")
    word = "deny" if entry.permission is AclPermissionType.DENY else "allow"
    return f"{word} {entry.principal} {operation} {shown_resource(binding.pattern)} from {place}"


def _acl(binding: AclBinding) -> Acl:
    pattern, entry = binding
    return Acl(
        pattern.type, pattern.name, pattern.pattern_type, entry.principal, entry.host, entry.operation, entry.permission
    )


def _binding(acl: Acl) -> AclBinding:
    return AclBinding(
        ResourcePattern(ResourceType(acl.resource_type), acl.resource_name, PatternType(acl.pattern_type)),
        AccessControlEntry(
            acl.principal, AclOperation(acl.operation), AclPermissionType(acl.permission_type), acl.host
        ),
    )
