"""Settings that files written for Kafka may have and that nothing in this release acts on.

A node names those that it was given in one line when it starts.
"""

from typing import Final

NOT_ACTED_ON: Final = frozenset({
    "num.network.threads",
    "num.io.threads",
})  # fmt: skip
