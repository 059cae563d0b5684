"""The body of `PATCH /connectors/{name}/offsets`, and the answers to it. Texts are Kafka's."""

from collections.abc import Mapping
from typing import Final

from ottla.base.frozen import frozen
from ottla.connect.worker.refusal import bad

TOPIC, PARTITION, OFFSET = "kafka_topic", "kafka_partition", "kafka_offset"
_NOT_ALL: Final = (
    "The Connect framework-managed offsets for this connector have been {0} successfully. However, if this connector "
    "manages offsets externally, they will need to be manually {0} in the system that the connector uses."
)
_LONG: Final = 1 << 63
_INT: Final = 1 << 31


@frozen
class OffsetChange:
    """One partition of a source and its new offset; None removes it."""

    partition: Mapping[str, object] | None
    offset: Mapping[str, object] | None


def read_changes(body: object) -> list[OffsetChange]:
    """The changes that a request has, at least one.

    >>> read_changes({"offsets": [{"partition": {"a": 1}, "offset": None}]})
    [OffsetChange(partition={'a': 1}, offset=None)]
    """
    if not isinstance(body, dict) or body.keys() - {"offsets"}:
        raise bad('The body must be a JSON object with the field "offsets" alone')
    given = body.get("offsets")
    if given is None or given == []:
        raise bad("Partitions / offsets need to be provided for an alter offsets request")
    if not isinstance(given, list):
        raise bad('"offsets" must be a list of objects with "partition" and "offset"')
    return [_change(each) for each in given]


def source_changes(changes: list[OffsetChange]) -> list[tuple[Mapping[str, object], Mapping[str, object] | None]]:
    """The changes of a source, of one partition the last."""
    found: dict[str, tuple[Mapping[str, object], Mapping[str, object] | None]] = {}
    for each in changes:
        if each.partition is None:
            raise bad("Partition objects cannot be null")
        found[repr(sorted(each.partition.items(), key=lambda item: item[0]))] = (each.partition, each.offset)
    return list(found.values())


def sink_changes(changes: list[OffsetChange]) -> dict[tuple[str, int], int | None]:
    """The changes of a sink: offsets of its consumer group.

    >>> where = {"kafka_topic": "t", "kafka_partition": "0"}
    >>> sink_changes([OffsetChange(where, {"kafka_offset": 5})])
    {('t', 0): 5}
    """
    return dict(map(_sink_change, changes))


def sink_offset(topic: str, partition: int, offset: int) -> dict[str, object]:
    """A committed offset of a sink, as REST shows it."""
    return {"partition": {PARTITION: partition, TOPIC: topic}, "offset": {OFFSET: offset}}


def success(done: str, *, is_checked: bool) -> dict[str, str]:
    """The answer, by whether the connector looked at the offsets."""
    text = "The offsets for this connector have been {0} successfully" if is_checked else _NOT_ALL
    return {"message": text.format(done)}


def _change(given: object) -> OffsetChange:
    if not isinstance(given, dict) or given.keys() - {"partition", "offset"}:
        raise bad('Each of the offsets must be a JSON object with "partition" and "offset"')
    return OffsetChange(_object(given, "partition"), _object(given, "offset"))


def _object(given: Mapping[str, object], name: str) -> Mapping[str, object] | None:
    found = given.get(name)
    if found is not None and not isinstance(found, dict):
        raise bad(f'"{name}" must be a JSON object or null')
    return found


def _sink_change(change: OffsetChange) -> tuple[tuple[str, int], int | None]:
    where = change.partition
    if where is None:
        raise bad("The partition for a sink connector offset cannot be null or missing")
    if TOPIC not in where or PARTITION not in where:
        raise bad(f"The partition for a sink connector offset must contain the keys '{TOPIC}' and '{PARTITION}'")
    if not isinstance(where[TOPIC], str):
        raise bad("Kafka topic names must be valid strings and may not be null")
    if where[PARTITION] is None:
        raise bad("Kafka partitions must be valid numbers and may not be null")
    place = str(where[TOPIC]), _integer(where[PARTITION], _INT, "partition", "Partition")
    if change.offset is None:
        return place, None
    if OFFSET not in change.offset:
        raise bad(f"The offset for a sink connector should either be null or contain the key '{OFFSET}'")
    offset = _integer(change.offset[OFFSET], _LONG, "offset", "Offset")
    if offset < 0:
        raise bad(f"The Kafka offset {offset} is negative")
    return place, offset


def _integer(value: object, limit: int, what: str, start: str) -> int:
    try:
        number = int(str(value))
    except ValueError:
        number = limit
    if isinstance(value, bool) or not -limit <= number < limit:
        raise bad(
            f"Failed to parse the following Kafka {what} value in the provided offsets: '{value}'. {start} values for "
            "sink connectors need to be integers."
        )
    return number
