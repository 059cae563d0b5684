"""The column of the API table that says which right a call needs.

A right on one resource that the request names is checked before the handler sees the request; a call that names several
resources checks each of them in its handler, because the answer has an outcome for each.
"""

from typing import Final, NamedTuple

from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclResourceType


class Right(NamedTuple):
    """The right that a caller needs."""

    operations: tuple[AclOperation, ...] = ()
    """Any of these; none if nothing is checked before the handler."""
    resource_type: AclResourceType = AclResourceType.CLUSTER
    field: str | None = None
    """The field of the request that names the resource; None for the cluster."""
    in_handler: bool = False
    """Whether the handler checks what the request names, one by one."""

    def resource_name(self, request: object) -> str:
        """The resource that a request is about."""
        return CLUSTER_NAME if self.field is None else str(getattr(request, self.field))


NOTHING: Final = Right()
"""Needs no right."""
BY_ITEM: Final = Right(in_handler=True)
"""The handler checks each resource."""


def cluster(*operations: AclOperation) -> Right:
    """Any of the operations on the cluster."""
    return Right(operations)


def group(operation: AclOperation) -> Right:
    """An operation on the group of the request."""
    return Right((operation,), AclResourceType.GROUP, "group_id")


def transactional(operation: AclOperation) -> Right:
    """An operation on the transactional id of the request."""
    return Right((operation,), AclResourceType.TRANSACTIONAL_ID, "transactional_id")
