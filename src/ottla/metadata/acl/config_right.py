"""Which right the configs of a resource need: those of topics and groups their own, all others the cluster's."""

from collections.abc import Callable

from ottla.metadata.image.config import ConfigResource, ResourceType
from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclResourceType
from ottla.protocol.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
)

May = Callable[[AclOperation, AclResourceType, str], bool]
"""Whether a caller may do something with a resource."""


def check_config_right(may: May, operation: AclOperation, resource: ConfigResource) -> None:
    """Raises what a caller is told who may not read or alter the configs of a resource."""
    if resource.type == ResourceType.TOPIC:
        if not may(operation, AclResourceType.TOPIC, resource.name):
            raise TopicAuthorizationFailedError
    elif resource.type == ResourceType.GROUP:
        if not may(operation, AclResourceType.GROUP, resource.name):
            raise GroupAuthorizationFailedError
    elif not may(operation, AclResourceType.CLUSTER, CLUSTER_NAME):
        raise ClusterAuthorizationFailedError
