"""Any bytes as a Fetch answer, read into Arrow columns: both twins must agree, and refuse only with `OttlaError`.

An odd first byte makes the rest one batch's records behind a sound header, so that the loops over records are reached;
an even one leaves all of it to the bytes. What could be read is written again, and must read the same.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from ottla.base.errors import OttlaError
from ottla.protocol.errors import CorruptMessageError
from ottla.protocol.records import arrow, columns_plain, columns_writer_plain
from ottla.protocol.records.arrow import Projection, decode, encode, encode_batches
from ottla.protocol.records.batch import HEADER_BYTES
from ottla.protocol.records.reader import ReadOptions, read_tuples
from ottla.protocol.records.writer import write_batch

try:
    from ottla.protocol.records import _columns, _columns_writer
except ImportError:
    TWINS: tuple[tuple[Any, Any], ...] = ()
else:
    TWINS = ((_columns.ColumnReader, _columns_writer.ColumnWriter),)
TWINS += ((columns_plain.ColumnReader, columns_writer_plain.ColumnWriter),)

TITLE = "record batches as Arrow columns"
OPTIONS = ReadOptions(check_crcs=False, control_records=True, decompressed_bytes_max=1 << 20)
NUMBERS = Projection(timestamps=pa.int64())


def fuzz_one(data: bytes) -> None:
    """One try."""
    if len(data) < 2:
        return
    answer = _as_batch(data[2:], data[1]) if data[0] & 1 else data[1:]
    projection = Projection(NUMBERS.columns[data[0] >> 5 :], NUMBERS.timestamps)
    _on_both(lambda: decode(answer, projection, OPTIONS))
    records = _on_both(lambda: decode(answer, NUMBERS, OPTIONS))
    if not isinstance(records, pa.RecordBatch):
        # The CRCs of old messages are always checked, as those are converted first.
        assert records[0] is CorruptMessageError or isinstance(_outcome(lambda: read_tuples(answer, OPTIONS)), tuple)
        return
    records.validate(full=True)
    assert records.column("offset").to_pylist() == [record[0] for record in read_tuples(answer, OPTIONS)]
    if records.num_rows == 0:
        return
    written = _on_both(lambda: encode(records))
    fields = ["key", "value", "headers", "timestamp"]
    assert decode(written, Projection(tuple(fields), pa.int64())).equals(records.select(fields))
    batches = _on_both(lambda: list(encode_batches(records, batch_bytes_max=HEADER_BYTES + 4 * data[1])))
    assert decode(b"".join(batches), NUMBERS).select(fields).equals(records.select(fields))


def seeds() -> Iterator[bytes]:
    """What Apache Kafka wrote, as a place to start from: whole, and the records alone."""
    for path in sorted(Path("tests/vectors/batches").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            vector = json.loads(line)
            batch = bytes.fromhex(vector["hex"])
            if len(batch) < 2000:
                yield b"\0" + batch
            if vector["magic"] == 2 and vector["codec"] == "none" and len(vector["records"]) < 10:
                yield bytes((1, len(vector["records"]))) + batch[HEADER_BYTES:]


def _as_batch(section: bytes, count: int) -> bytes:
    """The section behind a header that announces `count` records."""
    header = write_batch([(7, 1_700_000_000_000, None, None, ())])[:HEADER_BYTES]
    header[8:12] = (len(section) + HEADER_BYTES - 12).to_bytes(4, "big")
    header[57:61] = count.to_bytes(4, "big")
    return bytes(header) + section


def _on_both(call: Callable[[], Any]) -> Any:
    """What the call gives by every twin, or how it refuses."""
    outcomes = []
    for arrow.ColumnReader, arrow.ColumnWriter in TWINS:
        outcomes.append(_outcome(call))
    assert all(_same(outcome, outcomes[0]) for outcome in outcomes), outcomes
    return outcomes[0]


def _outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except OttlaError as error:
        return type(error), str(error)


def _same(outcome: Any, other: Any) -> bool:
    return type(outcome) is type(other) and bool(outcome == other)
