"""The offsets of all sources, as the offsets topic has them."""

import json
from collections.abc import Mapping
from typing import Final

from ottla.connect.errors import DataError
from ottla.connect.offset_record import decode, encode

Partition = Mapping[str, object]
Offset = Mapping[str, object]


class OffsetTable:
    """The last offset of each partition of each connector's source.

    >>> table = OffsetTable()
    >>> table.apply(b'["lines",{"filename":"a"}]', b'{"position":3}')
    >>> table.offsets("lines")
    [({'filename': 'a'}, {'position': 3})]
    """

    def __init__(self) -> None:
        self._known: Final[dict[str, dict[str, tuple[Partition, Offset]]]] = {}

    def offsets(self, connector: str) -> list[tuple[Partition, Offset]]:
        """Pairs of partition and offset."""
        return list(self._known.get(connector, {}).values())

    def records(self) -> dict[bytes, bytes | None]:
        """All offsets as the records that say them."""
        return dict(
            encode(connector, partition, offset)
            for connector, known in self._known.items()
            for partition, offset in known.values()
        )

    def apply(self, key: bytes, value: bytes | None) -> None:
        """Takes one record; one of another form is left alone."""
        try:
            stored = decode(key, value)
        except DataError:
            return
        known = self._known.setdefault(stored.connector, {})
        # Partitions are the same if their fields are, in whatever order.
        identity = json.dumps(stored.partition, sort_keys=True)
        if stored.offset is None:
            known.pop(identity, None)
        else:
            known[identity] = (stored.partition, stored.offset)
