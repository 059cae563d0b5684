"""CreatePartitions (key 37), versions 0-3: forwarded to the active controller.

Partitions are only ever added; what keys hash to changes with their number. Deviation: like CreateTopics it takes no
more than 10,000 partitions in one request, where Apache Kafka's controller stands still over ten million. KIP-195,
KIP-599.
"""

from ottla.broker.handlers.forwarding import forward as handle

__all__ = ["handle"]
