"""DeleteTopics (key 20), versions 1-6: forwarded to the active controller.

By name up to v5, by name or id in v6. A name or id that is there twice is refused and not deleted; the others are.
Logs are removed by the brokers that hold them, after the answer. KIP-4, KIP-516, KIP-599.
"""

from ottla.broker.handlers.forwarding import forward as handle

__all__ = ["handle"]
