"""UnregisterBroker (key 64), version 0: forwarded to the active controller.

Removes a broker that will not come back from the metadata: it leaves all ISRs first. KIP-631.
"""

from ottla.broker.handlers.forwarding import forward as handle

__all__ = ["handle"]
