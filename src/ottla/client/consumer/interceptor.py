"""Code of the user's between the consumer and its caller (`interceptor.classes`): sees records and commits pass by.

What an interceptor raises is logged and passed over, as in Apache Kafka: one that observes must not stop the work.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Final

from ottla.client.consumer.fetch.records import Records
from ottla.client.record import OffsetAndMetadata, TopicPartition

_log = logging.getLogger(__name__)


class ConsumerInterceptor:
    """Override what you want to see."""

    def on_consume(self, records: Records) -> Records:
        """Just before `poll` returns: what comes back is returned in their place."""
        return records

    def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """After offsets were committed."""

    def close(self) -> None:
        """The consumer closes."""


class Interceptors:
    """All interceptors of a consumer, in their order; they may leave out methods that they don't need."""

    def __init__(self, plugins: Sequence[object]) -> None:
        self._plugins: Final = tuple(plugins)

    def __bool__(self) -> bool:
        return bool(self._plugins)

    def on_consume(self, records: Records) -> Records:
        """Passes records through all of them."""
        for plugin in self._plugins:
            changed = self._call(plugin, "on_consume", records)
            if isinstance(changed, list) and changed is not records:
                positions = records.positions
                records = changed if isinstance(changed, Records) else Records(changed)
                # What an interceptor leaves out is done with, too.
                records.positions = {**positions, **records.positions}
        return records

    def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Tells all of them."""
        for plugin in self._plugins:
            self._call(plugin, "on_commit", offsets)

    def close(self) -> None:
        """Closes all of them."""
        for plugin in self._plugins:
            self._call(plugin, "close")

    def _call(self, plugin: object, method: str, *arguments: object) -> object:
        found = getattr(plugin, method, None)
        if found is None:
            return None
        try:
            return found(*arguments)
        except Exception:  # noqa: BLE001 - the user's code; an observer's trouble is its own
            _log.exception("%s.%s failed", type(plugin).__name__, method)
            return None
