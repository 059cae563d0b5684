"""A truck's report, as it is in the topic: one JSON object."""

import json
from typing import Final, NamedTuple

NORMAL: Final = "Normal"
DANGEROUS: Final = (
    "Overspeed",
    "Lane Departure",
    "Unsafe following distance",
    "Unsafe tail distance",
)
"""The kinds of events that are none of a quiet drive."""


class TruckPosition(NamedTuple):
    """One message of one truck. The names are those of the JSON object."""

    timestamp: int
    """Milliseconds since 1970."""
    truckId: int  # noqa: N815
    driverId: int  # noqa: N815
    routeId: int  # noqa: N815
    eventType: str  # noqa: N815
    latitude: float
    longitude: float
    correlationId: int  # noqa: N815

    def to_json(self) -> bytes:
        """The value of the record.

        >>> TruckPosition(1, 2, 3, 4, "Normal", 38.5, -90.25, 5).to_json().decode()[:44]
        '{"timestamp":1,"truckId":2,"driverId":3,"rou'
        """
        return json.dumps(self._asdict(), separators=(",", ":")).encode()

    @property
    def key(self) -> bytes:
        """The key of the record: a truck's positions stay in order."""
        return str(self.truckId).encode()
