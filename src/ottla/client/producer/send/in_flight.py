"""The partitions that wait for one broker, and the requests on their way to it."""

from ottla.base.errors import OttlaError
from ottla.client.producer.batch import PartitionQueue


class NodeLine:
    """The partitions that a broker leads and that have something to send."""

    __slots__ = ("in_flight", "is_connecting", "queues", "trouble", "waiting_since_ms")

    def __init__(self) -> None:
        self.queues: dict[PartitionQueue, None] = {}
        """In the order of their turns."""
        self.in_flight = 0
        """Requests without an answer."""
        self.is_connecting = False
        self.trouble: OttlaError | None = None
        """Why it could not be connected to, or did not answer, the last time that it was tried."""
        self.waiting_since_ms: int | None = None
        """Since when something waits and nothing could be sent."""

    def is_stuck(self, now_ms: int, timeout_ms: int) -> bool:
        """Whether nothing could be sent for `timeout_ms`; never at 0 (`partitioner.availability.timeout.ms`)."""
        return timeout_ms > 0 and self.waiting_since_ms is not None and now_ms - self.waiting_since_ms > timeout_ms
