"""CreateTopics (key 19), versions 2-7: forwarded to the active controller.

Answered when the topic is in the committed metadata; its leader may be a moment later (NOT_LEADER_OR_FOLLOWER until
then). v5 and later return the topic's configs, v7 its id. A time-out of 0 or less is REQUEST_TIMED_OUT without a try.
More than 10,000 partitions in one request are refused. KIP-4, KIP-464, KIP-516, KIP-525, KIP-599.
"""

from ottla.broker.handlers.forwarding import forward as handle

__all__ = ["handle"]
