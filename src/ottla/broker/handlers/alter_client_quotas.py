"""AlterClientQuotas (key 49), versions 0-1: forwarded to the active controller.

Quotas by user, client id, both, or address; each node enforces them from its own metadata (`broker.quota`). KIP-546,
KIP-599, KIP-612.
"""

from ottla.broker.handlers.forwarding import forward as handle

__all__ = ["handle"]
