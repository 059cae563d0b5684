"""Arrow columns: 100-byte values, 10,000 records a batch, all six columns read (others: from and to tuples)

The peers have no Arrow codec; they do what their users have to do, which is to make an object per record.
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any
from unittest import mock

import pyarrow as pa

from ottla.protocol.compression import CompressionType
from ottla.protocol.records import columns_plain, columns_writer_plain
from ottla.protocol.records.arrow import batches as arrow
from ottla.protocol.records.arrow.batches import HEADERS, Projection, decode, encode, encode_batches
from ottla.protocol.records.writer import BatchOptions
from tests.bench.measure import Figure, compare

COUNT = 10_000
NOW = 1_750_000_000_000
TIMESTAMPS = [NOW + row // 16 for row in range(COUNT)]
KEYS = [b"%016d" % row for row in range(COUNT)]
VALUES = [b"%0100d" % row for row in range(COUNT)]
PAIRS = [("traceparent", b"00-0af7651916cd43dd8448eb211c80319c"), ("content-type", b"avro")]
PEERS = {"aiokafka (to tuples)": "aiokafka", "kafka-python (to tuples)": "kafka"}
Contenders = dict[str, Callable[[], object]]


def figures(*, seconds: float) -> Iterator[Figure]:
    """One line each."""
    # The first calls pay for memory that later ones use again, and the length of a round is guessed from one call.
    for _ in range(5):
        decode(encode(table("key", "headers")))
    tables = {"values": table(), "keys and values": table("key"), "values, two headers": table("headers")}
    for label, records in tables.items():
        target = "≥ 40 M" if label == "values" else ""
        data = bytes(encode(records))
        yield compare(f"decode {label}", "records", readers(data), COUNT, seconds=seconds, target=target)
        yield compare(f"encode {label}", "records", writers(records), COUNT, seconds=seconds, target=target)
    values = tables["values"]
    only_value = Projection(("value",))
    data = bytes(encode(values))
    yield _alone("decode the value column only", lambda: decode(data, only_value), COUNT, seconds)
    for codec in (CompressionType.LZ4, CompressionType.ZSTD):
        options = BatchOptions(compression=codec)
        packed = bytes(encode(values, options))
        name = codec.config_name
        yield compare(f"decode values, {name}", "records", readers(packed, codec), COUNT, seconds=seconds)
        yield compare(f"encode values, {name}", "records", writers(values, codec), COUNT, seconds=seconds)
    answer = bytes(encode(values)) * 20
    yield _alone("decode values, an answer of 20 batches", lambda: decode(answer), 20 * COUNT, seconds)
    split = b"".join(_split(values))
    yield _alone("decode values, batches of 16 kB", lambda: decode(split), COUNT, seconds)
    yield _alone("encode values, batches of 16 kB", lambda: _split(values), COUNT, seconds)


def table(*more: str) -> Any:
    """The records, with values and timestamps and what more is asked for."""
    columns = {
        "value": pa.array(VALUES, pa.binary()),
        "timestamp": pa.array(TIMESTAMPS, pa.timestamp("ms", "UTC")),
        "key": pa.array(KEYS, pa.binary()),
        "headers": pa.array([PAIRS] * COUNT, HEADERS),
    }
    return pa.record_batch({name: column for name, column in columns.items() if name in ("value", "timestamp", *more)})


def readers(data: bytes, codec: CompressionType = CompressionType.NONE) -> Contenders:
    """All that can read the batch."""

    def plain() -> object:
        with mock.patch.object(arrow, "ColumnReader", columns_plain.ColumnReader):
            return decode(data)

    contenders: Contenders = {"ours": lambda: decode(data), "ours, plain": plain}
    for name, module in _peers("memory_records", codec):
        contenders[name] = lambda module=module: _peer_read(module, data)
    return contenders


def writers(records: Any, codec: CompressionType = CompressionType.NONE) -> Contenders:
    """All that can write the records."""
    options = BatchOptions(compression=codec)
    names = records.schema.names
    keys: list[Any] = KEYS if "key" in names else [None] * COUNT
    headers = PAIRS if "headers" in names else []
    rows = [(*row, headers) for row in zip(range(COUNT), TIMESTAMPS, keys, VALUES, strict=True)]

    def plain() -> object:
        with mock.patch.object(arrow, "ColumnWriter", columns_writer_plain.ColumnWriter):
            return encode(records, options)

    contenders: Contenders = {"ours": lambda: encode(records, options), "ours, plain": plain}
    for name, module in _peers("default_records", codec):
        contenders[name] = lambda kind=module.DefaultRecordBatchBuilder: _peer_write(kind, rows, codec)
    return contenders


def _split(records: Any) -> list[bytearray]:
    return list(encode_batches(records, batch_bytes_max=16384))


def _alone(name: str, call: Callable[[], object], work: int, seconds: float) -> Figure:
    return compare(name, "records", {"ours": call}, work, seconds=seconds)


def _peers(part: str, codec: CompressionType) -> Iterator[tuple[str, ModuleType]]:
    """The peers that are installed, with this codec."""
    for name, package in PEERS.items():
        if importlib.util.find_spec(package):
            codecs = importlib.import_module(f"{package}.codec")
            if codec is CompressionType.NONE or getattr(codecs, f"has_{codec.config_name}")():
                yield name, importlib.import_module(f"{package}.record.{part}")


def _peer_read(module: ModuleType, data: bytes) -> list[tuple[Any, ...]]:
    found = []
    log = module.MemoryRecords(data)
    while log.has_next():
        batch = log.next_batch()
        assert batch.validate_crc()
        found += [(record.offset, record.timestamp, record.key, record.value, record.headers) for record in batch]
    return found


def _peer_write(builder_type: Any, rows: list[tuple[Any, ...]], codec: CompressionType) -> bytes:
    builder = builder_type(2, int(codec), 0, -1, -1, -1, 1 << 24)
    for row in rows:
        builder.append(*row)
    return bytes(builder.build())
