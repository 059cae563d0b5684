"""RemoveRaftVoter (key 81), version 0: forwarded to the leader of the quorum, which is the active controller.

Takes a voter's vote away; one change of voters is under way at a time. KIP-853.
"""

from ottla.broker.handlers.forwarding import forward as handle

__all__ = ["handle"]
