"""The operations allowed on a resource, as the bit field that some answers carry on request (KIP-430)."""

from typing import Final

from ottla.broker.security.rights import Rights, allowed_operations, may_cluster
from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclResourceType

NOT_ASKED: Final = -2147483648
"""The value in an answer whose request did not ask."""

_TOPIC: Final = (
    AclOperation.READ,
    AclOperation.WRITE,
    AclOperation.CREATE,
    AclOperation.DELETE,
    AclOperation.ALTER,
    AclOperation.DESCRIBE,
    AclOperation.DESCRIBE_CONFIGS,
    AclOperation.ALTER_CONFIGS,
)
_CLUSTER: Final = (
    AclOperation.CREATE,
    AclOperation.ALTER,
    AclOperation.DESCRIBE,
    AclOperation.CLUSTER_ACTION,
    AclOperation.DESCRIBE_CONFIGS,
    AclOperation.ALTER_CONFIGS,
    AclOperation.IDEMPOTENT_WRITE,
)
_GROUP: Final = (
    AclOperation.READ,
    AclOperation.DELETE,
    AclOperation.DESCRIBE,
    AclOperation.DESCRIBE_CONFIGS,
    AclOperation.ALTER_CONFIGS,
)


def topic_operations(rights: Rights, topic: str) -> int:
    """The operations allowed on a topic."""
    return allowed_operations(rights, _TOPIC, AclResourceType.TOPIC, topic)


def group_operations(rights: Rights, group: str) -> int:
    """The operations allowed on a group."""
    return allowed_operations(rights, _GROUP, AclResourceType.GROUP, group)


def cluster_operations(rights: Rights) -> int:
    """The operations allowed on the cluster; left out for callers that may not describe it."""
    if not may_cluster(rights, AclOperation.DESCRIBE):
        return 0
    return allowed_operations(rights, _CLUSTER, AclResourceType.CLUSTER, CLUSTER_NAME)
