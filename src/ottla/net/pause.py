"""Why the frames of a connection wait: bits that are set for as long as a reason holds."""

from typing import Final

IN_TURN: Final = 1
"""A request is being handled, or waits for its answer and lets no other pass."""
CROWDED: Final = 2
"""Too many requests wait for their answers."""
UNREAD: Final = 4
"""The client does not read its answers."""
THROTTLED: Final = 8
NO_MEMORY: Final = 16
"""All connections together hold as much as they may."""
SCHEDULED: Final = 32
"""It goes on at the end of the round."""
ENDED: Final = 64
"""Nothing more is read: only answers are left."""
CLOSED: Final = 128
