"""The interval at which offsets are stored. Pure."""

from collections.abc import Mapping
from typing import Final

from ottla.connect.errors import InvalidConfigError

_DEFAULT_MS: Final = 5_000


def flush_interval_s(worker: Mapping[str, str]) -> float:
    """`offset.flush.interval.ms` of the worker's properties, in seconds; five where it is not given.

    >>> flush_interval_s({"offset.flush.interval.ms": "250"}), flush_interval_s({})
    (0.25, 5.0)
    """
    given = worker.get("offset.flush.interval.ms", str(_DEFAULT_MS)).strip()
    if not given.isdigit():
        raise InvalidConfigError.of("offset.flush.interval.ms", given, "Not a number of type LONG")
    return int(given) / 1000
