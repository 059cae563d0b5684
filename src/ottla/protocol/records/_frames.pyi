from collections.abc import Iterator, Sequence
from typing import Any

from ottla.base.buffer import Buffer
from ottla.protocol.records.frames_plain import Facts
from ottla.protocol.records.record import RecordTuple

def scan(data: Buffer, count: int, base_timestamp: int) -> Facts: ...
def decode(
    data: Buffer, count: int, base_offset: int, base_timestamp: int, log_append_time: int | None
) -> list[RecordTuple]: ...
def iterate(
    data: Buffer, count: int, base_offset: int, base_timestamp: int, log_append_time: int | None
) -> Iterator[RecordTuple]: ...
def encode(
    records: Sequence[Any], base_offset: int, base_timestamp: int, reserve: int
) -> tuple[bytearray, int, int]: ...
def record_size(record: Any, index: int, base_offset: int, base_timestamp: int) -> int: ...
