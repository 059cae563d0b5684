"""What a client may do with a resource, as the bit field that some answers carry when asked for it (KIP-430).

Without an authorizer everybody may do everything. A bit's place is the operation's number in ACLs.
"""

from typing import Final

NOT_ASKED: Final = -2147483648
"""What stands in an answer whose request did not ask."""

_READ, _WRITE, _CREATE, _DELETE, _ALTER, _DESCRIBE = 3, 4, 5, 6, 7, 8
_CLUSTER_ACTION, _DESCRIBE_CONFIGS, _ALTER_CONFIGS, _IDEMPOTENT_WRITE = 9, 10, 11, 12


def _bits(*operations: int) -> int:
    return sum(1 << operation for operation in operations)


TOPIC_OPERATIONS: Final = _bits(_READ, _WRITE, _CREATE, _DELETE, _ALTER, _DESCRIBE, _DESCRIBE_CONFIGS, _ALTER_CONFIGS)
"""Everything that can be done with a topic."""

CLUSTER_OPERATIONS: Final = _bits(
    _CREATE, _ALTER, _DESCRIBE, _CLUSTER_ACTION, _DESCRIBE_CONFIGS, _ALTER_CONFIGS, _IDEMPOTENT_WRITE
)
"""Everything that can be done with the cluster."""

GROUP_OPERATIONS: Final = _bits(_READ, _DELETE, _DESCRIBE, _DESCRIBE_CONFIGS, _ALTER_CONFIGS)
"""Everything that can be done with a group."""
