"""The topics in which brokers keep their own state; clients may read them but not write or cut them."""

from typing import Final

INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
