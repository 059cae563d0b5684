"""Any bytes as a log, a Produce batch, an old message set or compressed data: both twins agree, and only we raise.

The first byte chooses a codec and a record count, the rest is what a stranger sends; a second try makes the CRC good,
so that what lies behind it is reached too.
"""

import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import crc32c

from ottla.base.errors import OttlaError
from ottla.protocol.compression import CompressionType, decompress
from ottla.protocol.records import legacy
from ottla.protocol.records.batch import HEADER_BYTES, Batch
from ottla.protocol.records.reader import ReadOptions, iterate_records, read_tuples
from ottla.protocol.records.timestamp import TimestampType
from ottla.protocol.records.validation import AppendRules, single_batch, validate
from tests.unit.protocol.records import twins

TITLE = "records"
LIMIT = 1 << 20
READ = ReadOptions(control_records=True, check_crcs=False, decompressed_bytes_max=LIMIT)
RULES = (
    AppendRules(compacted=True, timestamp_before_max_ms=1000, decompressed_bytes_max=LIMIT),
    AppendRules(timestamp_type=TimestampType.LOG_APPEND_TIME, decompressed_bytes_max=LIMIT),
)
BATCH_FIELDS = [name for name in dir(twins.BATCHES[0].Batch) if not name.startswith("_")]


def fuzz_one(data: bytes) -> None:
    """One try."""
    if not data:
        return
    choice, body = data[0], data[1:]
    _outcome(lambda: bytes(decompress(CompressionType.from_id(choice % 5), body, LIMIT)))
    _agree(lambda twin: _frames(twin, body, choice), twins.FRAMES)
    _agree(lambda twin: [_fields(batch) for batch in twin.Batches(body)], twins.BATCHES)
    _agree(lambda twin: _fields(twin.Batch(body)), twins.BATCHES)
    _log(body)
    sealed = bytearray(body)
    if len(body) >= 61:
        struct.pack_into(">qi", sealed, 0, 0, len(body) - 12)
        sealed[16] = 2
        struct.pack_into(">I", sealed, 17, crc32c.crc32c(memoryview(sealed)[21:]))
        _log(sealed)


def seeds() -> Iterator[bytes]:
    """What Apache Kafka wrote, as a place to start from: whole, and the record sections alone."""
    for path in sorted(Path("tests/vectors/batches").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            vector = json.loads(line)
            batch = bytes.fromhex(vector["hex"])
            if len(batch) < 2000:
                yield b"\0" + batch
            if len(batch) < 2000 and vector["magic"] == 2 and len(vector["records"]) < 10:
                codec = CompressionType.from_name(vector["codec"])
                count = len(vector["records"])
                yield bytes([codec or count]) + batch[HEADER_BYTES:]


def _log(data: bytes | bytearray) -> None:
    """Reads and validates; iterating finds the same as reading at once, and a batch that passes can be read."""
    at_once = _outcome(lambda: read_tuples(data, READ))
    in_turn = _outcome(lambda: list(iterate_records(data, READ)))
    assert at_once == in_turn
    _outcome(lambda: legacy.convert(data, LIMIT))
    for rules in RULES:
        copy = bytearray(data)
        _outcome(lambda copy=copy, rules=rules: _append(copy, rules))


def _append(data: bytearray, rules: AppendRules) -> None:
    batch = single_batch(data, 13)
    validate(batch, rules, 1_700_000_000_000).assign(42, 1)
    assert batch.crc_matches()
    assert len(read_tuples(batch.data)) == batch.records_count


def _frames(twin: object, body: bytes, choice: int) -> list[object]:
    count = choice & 0x0F
    stamp = 7 if choice & 0x10 else None
    return [
        _outcome(lambda: twin.scan(body, count, 1000)),
        _outcome(lambda: twin.decode(body, count, 5, 1000, stamp)),
        _outcome(lambda: list(twin.iterate(body, count, 5, 1000, stamp))),
    ]


def _fields(batch: Batch) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name in BATCH_FIELDS:
        value = _outcome(lambda name=name: getattr(batch, name))
        if isinstance(value, memoryview):
            value = bytes(value)
        if not callable(value):
            fields[name] = value
    return fields | {"computed": batch.compute_crc(), "matches": batch.crc_matches()}


def _agree(work: Callable[[object], object], modules: list[object]) -> None:
    outcomes = [_outcome(lambda module=module: work(module)) for module in modules]
    assert all(outcome == outcomes[0] for outcome in outcomes), outcomes


def _outcome(work: Callable[[], object]) -> object:
    """The result, or the error in words; anything but an error of ours is a finding."""
    try:
        return work()
    except OttlaError as error:
        return type(error).__name__, str(error)
