"""The limits that operators set to what groups may ask for, as a table: `group.consumer.min…` ≤ … ≤ `…max…`.

One table serves two checks: that a broker's own settings go together, and that a group's do with the broker's.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple


class Limit(NamedTuple):
    """A setting, and the settings that it must not fall below or rise above."""

    name: str
    low: str | None
    high: str


def _limits(kind: str, *names: str) -> list[Limit]:
    return [Limit(f"group.{kind}.{name}", f"group.{kind}.min.{name}", f"group.{kind}.max.{name}") for name in names]


_TIMES: Final = ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms")

LIMITS: Final = (
    *_limits("consumer", *_TIMES),
    *_limits("share", *_TIMES),
    *_limits("share", "record.lock.duration.ms", "delivery.count.limit", "partition.max.record.locks"),
    *_limits("streams", *_TIMES),
    Limit("group.streams.num.standby.replicas", None, "group.streams.max.standby.replicas"),
)

KINDS: Final = ("consumer", "share", "streams")


def broker_conflicts(value: Callable[[str], int]) -> Iterator[tuple[str, str]]:
    """Settings of a broker that don't go together, each with the reason."""
    for name, low, high in LIMITS:
        if low is not None and value(high) < value(low):
            yield high, f"{high} must be greater than or equal to {low}"
        if low is not None and value(name) < value(low):
            yield name, f"{name} must be greater than or equal to {low}"
        if value(name) > value(high):
            yield name, f"{name} must be less than or equal to {high}"
    for kind in KINDS:
        heartbeat, session = f"group.{kind}.heartbeat.interval.ms", f"group.{kind}.session.timeout.ms"
        if value(heartbeat) >= value(session):
            yield heartbeat, f"{heartbeat} must be less than {session}"
    if value("group.share.max.share.sessions") < value("group.share.max.size"):
        name = "group.share.max.share.sessions"
        yield name, f"{name} must be greater than or equal to group.share.max.size"


def group_conflicts(broker: Callable[[str], int], group: Callable[[str], int]) -> Iterator[str]:
    """Reasons why a group may not have its settings; `group` knows them without `group.` before their names."""
    for full_name, low, high in LIMITS:
        name = full_name.removeprefix("group.")
        if low is not None and group(name) < broker(low):
            yield f"{name} must be greater than or equal to {low}"
        if group(name) > broker(high):
            yield f"{name} must be less than or equal to {high}"
    for kind in KINDS:
        heartbeat, session = f"{kind}.heartbeat.interval.ms", f"{kind}.session.timeout.ms"
        if group(session) <= group(heartbeat):
            yield f"{session} must be greater than {heartbeat}"
