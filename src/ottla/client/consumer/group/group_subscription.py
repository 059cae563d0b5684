"""A member's subscription, as a value that its state machine can keep and compare."""

import re

from ottla.base.frozen import frozen


@frozen
class GroupSubscription:
    """Topics by name; for a pattern of the client's, those that it is known to match, and the pattern.

    `server_regex` is a pattern that the broker matches (KIP-848); then there are no topics here.
    """

    topics: frozenset[str] = frozenset()
    pattern: re.Pattern[str] | None = None
    server_regex: str | None = None

    def accepts(self, topic: str) -> bool:
        """Whether the topic is wanted, perhaps before we have heard of it ourselves."""
        return topic in self.topics or (self.pattern is not None and self.pattern.fullmatch(topic) is not None)
