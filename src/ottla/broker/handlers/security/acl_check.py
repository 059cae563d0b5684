"""The check that Kafka makes while it reads an ACL request: an enum that is 0 (UNKNOWN) makes it unreadable."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ottla.broker.request.request_context import RequestContext

UNKNOWN: Final = 0


def closes_unreadable(context: "RequestContext", enums: Collection[int]) -> bool:
    """Closes the connection if one of `enums` is UNKNOWN, and says whether it did: such bytes are no request."""
    if UNKNOWN not in enums:
        return False
    context.close(f"{context.api.name} with an element that is UNKNOWN")
    return True
