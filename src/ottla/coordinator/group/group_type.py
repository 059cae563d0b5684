"""A group as the state sees it: an immutable value that knows its type, and nothing more."""

import enum
from typing import Protocol


class GroupType(enum.Enum):
    """The kinds of groups, as ListGroups spells them."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


class Group(Protocol):
    """A group in the replicated state: an immutable value."""

    @property
    def type(self) -> GroupType:
        """Which kind takes care of it."""
        ...
