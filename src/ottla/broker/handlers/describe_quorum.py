"""DescribeQuorum (key 55), versions 0-2: forwarded to the leader of the quorum, which is the active controller.

Leader, voters and observers of the metadata log with how far each has read; v1 adds times, v2 directory ids and the
voters' endpoints. KIP-595, KIP-836, KIP-853.
"""

from ottla.broker.handlers.forwarding import forward as handle

__all__ = ["handle"]
