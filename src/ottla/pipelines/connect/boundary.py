"""Decides where a source's transactions end, or when its offsets are stored. Pure.

`exactly.once.source.support=enabled` of the worker makes transactions, whose bounds the connector's
`transaction.boundary` sets. Without it offsets are stored every `offset.flush.interval.ms`.
"""

from collections.abc import Mapping
from typing import Final

from ottla.base.frozen import frozen
from ottla.connect.connector import SourceConnector
from ottla.connect.errors import ConnectError, InvalidConfigError

_FLUSH_INTERVAL_MS: Final = 5_000


def flush_interval_s(worker: Mapping[str, str]) -> float:
    """`offset.flush.interval.ms` of the worker's properties, in seconds; five where it is not given.

    >>> flush_interval_s({"offset.flush.interval.ms": "250"}), flush_interval_s({})
    (0.25, 5.0)
    """
    given = worker.get("offset.flush.interval.ms", str(_FLUSH_INTERVAL_MS)).strip()
    if not given.isdigit():
        raise InvalidConfigError.of("offset.flush.interval.ms", given, "Not a number of type LONG")
    return int(given) / 1000


@frozen
class Boundary:
    """The rule for when to store offsets or end a transaction."""

    is_exactly_once: bool
    interval_s: float
    """0 is after each poll."""
    is_connectors: bool = False
    """Whether the task says when."""

    def is_due(self, has_polled: bool, since_s: float) -> bool:
        """Whether to store now, `since_s` after the last time.

        >>> Boundary(True, 0.0).is_due(True, 0.1), Boundary(False, 5.0).is_due(False, 6.0)
        (True, True)
        """
        if self.is_connectors:
            return False
        return has_polled if self.interval_s == 0 else since_s >= self.interval_s


def boundary_of(config: Mapping[str, str], worker: Mapping[str, str], connector: SourceConnector) -> Boundary:
    """The rule of these configurations; raises `ConnectError` if worker or connector lacks a required guarantee."""
    is_enabled = worker.get("exactly.once.source.support", "disabled").strip().lower() == "enabled"
    is_required = config.get("exactly.once.support", "requested").strip().lower() == "required"
    if is_required and not is_enabled:
        raise ConnectError("This worker does not have exactly-once source support enabled.")
    if is_required and not connector.exactly_once:
        raise ConnectError("The connector does not support exactly-once semantics")
    if not is_enabled:
        return Boundary(False, flush_interval_s(worker))
    wanted = config.get("transaction.boundary", "poll").strip().lower()
    if wanted == "connector":
        if not connector.defines_transactions(config):
            raise ConnectError("The connector does not define its own transaction boundaries: use poll or interval")
        return Boundary(True, 0.0, is_connectors=True)
    if wanted == "poll":
        return Boundary(True, 0.0)
    given = config.get("transaction.boundary.interval.ms", "").strip()
    return Boundary(True, int(given) / 1000 if given else flush_interval_s(worker))
