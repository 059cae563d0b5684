"""ElectLeaders (key 43), versions 0-2: forwarded to the active controller.

Preferred (v0, type 0) or unclean (type 1) election of the partitions named, or of all (null). A partition that needs
none is ELECTION_NOT_NEEDED, and is left out where all were asked for. KIP-183, KIP-460.
"""

from ottla.broker.handlers.forwarding import forward as handle

__all__ = ["handle"]
