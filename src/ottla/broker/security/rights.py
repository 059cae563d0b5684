"""The rights of a request's sender, as handlers check them.

Without an authorizer everything is allowed, and `EVERY_RIGHT` says so without a lookup.
"""

from collections.abc import Iterable
from typing import Final, Protocol

from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclResourceType


class Rights(Protocol):
    """The rights of one caller."""

    @property
    def is_unlimited(self) -> bool:
        """Whether there is no authorizer, so that nothing need be asked."""

    @property
    def token(self) -> object:
        """Equal for all who may do the same at the same time, so that what was worked out for one is good for others;
        None without an authorizer."""

    def may(self, operation: AclOperation, resource_type: AclResourceType, name: str) -> bool:
        """Whether an operation on a resource is allowed."""
        ...

    def may_any(self, operation: AclOperation, resource_type: AclResourceType) -> bool:
        """Whether the operation is allowed on any resource of that type."""
        ...

    def sees(self, operation: AclOperation, resource_type: AclResourceType, name: str) -> bool:
        """As `may`, for what is only left out of a list if it is not allowed: the audit log does not mention it."""
        ...


class _EveryRight:
    is_unlimited: Final = True
    token: Final = None

    def may(self, operation: AclOperation, resource_type: AclResourceType, name: str) -> bool:
        return True

    def may_any(self, operation: AclOperation, resource_type: AclResourceType) -> bool:
        return True

    def sees(self, operation: AclOperation, resource_type: AclResourceType, name: str) -> bool:
        return True


EVERY_RIGHT: Final = _EveryRight()

_TOPIC, _GROUP, _CLUSTER = AclResourceType.TOPIC, AclResourceType.GROUP, AclResourceType.CLUSTER


def may_topic(rights: Rights, operation: AclOperation, topic: str) -> bool:
    """Whether an operation on a topic is allowed."""
    return rights.is_unlimited or rights.may(operation, _TOPIC, topic)


def sees_topic(rights: Rights, operation: AclOperation, topic: str) -> bool:
    """Whether a topic is in lists for a caller who did not name it."""
    return rights.is_unlimited or rights.sees(operation, _TOPIC, topic)


def may_group(rights: Rights, operation: AclOperation, group: str) -> bool:
    """Whether an operation on a group is allowed."""
    return rights.is_unlimited or rights.may(operation, _GROUP, group)


def split_groups(rights: Rights, operation: AclOperation, groups: list[str]) -> tuple[list[str], list[str]]:
    """The groups that an operation is allowed on, and the others."""
    if rights.is_unlimited:
        return groups, []
    allowed = [group for group in groups if rights.may(operation, _GROUP, group)]
    known = set(allowed)
    return allowed, [group for group in groups if group not in known]


def may_transact(rights: Rights, operation: AclOperation, transactional_id: str) -> bool:
    """Whether an operation on a transactional id is allowed."""
    return rights.is_unlimited or rights.may(operation, AclResourceType.TRANSACTIONAL_ID, transactional_id)


def may_cluster(rights: Rights, operation: AclOperation) -> bool:
    """Whether an operation on the cluster is allowed."""
    return rights.is_unlimited or rights.may(operation, _CLUSTER, CLUSTER_NAME)


def allowed_operations(
    rights: Rights, operations: Iterable[AclOperation], resource_type: AclResourceType, name: str
) -> int:
    """Which of the operations are allowed, as the bit field of answers (KIP-430): a bit's place is the number."""
    return sum(1 << operation for operation in operations if rights.sees(operation, resource_type, name))
