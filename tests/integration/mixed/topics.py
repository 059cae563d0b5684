"""Creates topics through the brokers of a cluster, whoever its controller is."""

from itertools import count

from confluent_kafka.admin import AdminClient, NewTopic

_AT_ONCE = 3
"""Enough for batches that several operations share."""


class Topics:
    """A few topics after the other."""

    def __init__(self, bootstrap: str) -> None:
        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})
        self._numbers = count()
        self.created: set[str] = set()

    def create(self) -> None:
        """Some more topics, asked for one by one and at once; returns once they are committed."""
        names = [f"topic-{next(self._numbers)}" for _ in range(_AT_ONCE)]
        answers = [self._admin.create_topics([NewTopic(name, 3, 1)])[name] for name in names]
        for answer in answers:
            answer.result(60)
        self.created.update(names)
