"""The options of `format("ottla_streams")` that the plain source and sink do not have."""

from collections.abc import Mapping
from typing import Final

FORMAT: Final = "ottla_streams"
COUNTED: Final = "record"
"""The one column that Spark sees, which is empty."""
APPLICATION: Final = "streams.application"
"""The packed `Shipment`."""
PARTITIONS: Final = "streams.partitions"
"""How many partition numbers there are, so that planning need not unpack the application."""
TICK_MS: Final = "streams.tick.ms"
"""How often the clock is looked at; 0: never."""
_OURS: Final = frozenset({APPLICATION, PARTITIONS, TICK_MS})


def without_ours(options: Mapping[str, str]) -> dict[str, str]:
    """The options that the plain source and sink know."""
    return {name: value for name, value in options.items() if name not in _OURS}
