"""The topics in which brokers keep their own state; clients may read them but not write or cut them."""

from typing import Final

INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


def is_open_to_clients(topic: str) -> bool:
    """Whether every client with the right to may write to it; internal topics are for coordinators and for admins."""
    return topic not in INTERNAL_TOPICS
