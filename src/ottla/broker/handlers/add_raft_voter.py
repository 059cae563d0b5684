"""AddRaftVoter (key 80), versions 0-1: forwarded to the leader of the quorum, which is the active controller.

Makes a controller that follows the metadata log a voter; v1 may be answered before the change is committed. KIP-853,
KIP-1186.
"""

from ottla.broker.handlers.forwarding import forward as handle

__all__ = ["handle"]
