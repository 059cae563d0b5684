"""Some records of one partition as the columns that a task takes faster than one record after the other.

Text is decoded without a call for each. A record whose time is not valid, or that cannot be decoded, makes a task take
all of these one by one: it knows what becomes of it.
"""

from collections.abc import Sequence
from typing import Any

from ottla.client.record import TopicPartition
from ottla.client.serde.raw import BytesSerde
from ottla.client.serde.text import StringSerde
from ottla.streams.engine.input_column import InputColumns
from ottla.streams.record import Headers
from ottla.streams.serde import Serde


def columns_of(
    place: TopicPartition, records: Sequence[Any], serdes: tuple[Serde[Any], Serde[Any]]
) -> InputColumns | None:
    """The columns; None: take the records one by one."""
    times = [record.timestamp for record in records]
    if min(times) < 0:
        return None
    headers: list[Headers] | None = [record.headers for record in records]
    if not any(headers or ()):
        headers = None
    topic, partition = place
    try:
        keys = _decoded(serdes[0], topic, [record.key for record in records], headers)
        values = _decoded(serdes[1], topic, [record.value for record in records], headers)
    except Exception:  # noqa: BLE001  # a user's serde may raise anything; record by record, the handler decides
        return None
    offsets = [record.offset for record in records]
    return InputColumns(topic, partition, offsets, times, keys, values, headers, records.__getitem__)


def _decoded(
    serde: Serde[Any], topic: str, column: Sequence[bytes | None], headers: Sequence[Headers] | None
) -> Sequence[Any]:
    if type(serde) is StringSerde and serde.encoding == "utf-8":
        return [None if data is None else data.decode() for data in column]
    if type(serde) is BytesSerde:
        return column
    deserialize = serde.deserialize
    if headers is None:
        return [None if data is None else deserialize(topic, (), data) for data in column]
    return [None if data is None else deserialize(topic, one, data) for data, one in zip(column, headers, strict=True)]
