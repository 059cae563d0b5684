"""AlterPartitionReassignments (key 45), versions 0-1: forwarded to the active controller.

Starts the move of replicas to other brokers, or cancels one (null replicas). Answered when it has begun. v1 can
refuse a change of the replication factor. KIP-455, KIP-860.
"""

from ottla.broker.handlers.forwarding import forward as handle

__all__ = ["handle"]
