"""ListPartitionReassignments (key 46), version 0: forwarded to the active controller.

The moves that are going on, of all topics (null) or of those named; partitions that are not moving are left out.
KIP-455.
"""

from ottla.broker.handlers.forwarding import forward as handle

__all__ = ["handle"]
