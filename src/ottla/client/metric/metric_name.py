"""The name of a metric: Kafka's name, group and tags."""

from typing import NamedTuple


class MetricName(NamedTuple):
    """A metric's name.

    >>> MetricName.of("request-rate", "producer-metrics", {"client-id": "a"})
    MetricName(name='request-rate', group='producer-metrics', tags=(('client-id', 'a'),))
    """

    name: str
    group: str
    tags: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, name: str, group: str, tags: dict[str, str]) -> "MetricName":
        """The name with its tags in order."""
        return cls(name, group, tuple(sorted(tags.items())))
