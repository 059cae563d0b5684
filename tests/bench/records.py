"""Record batches: 100-byte values, null keys, 10,000 records a batch"""

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from ottla.protocol.compression import CompressionType
from ottla.protocol.records import batch_plain, frames, frames_plain
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.reader import read_tuples
from ottla.protocol.records.validation import AppendRules, single_batch, validate
from ottla.protocol.records.writer import BatchOptions, write_batch
from tests.bench.measure import Figure, compare

COUNT = 10_000
NOW = 1_750_000_000_000
RECORDS = [(offset, NOW + offset // 16, None, b"%0100d" % offset, ()) for offset in range(COUNT)]
RULES = AppendRules(max_message_bytes=1 << 24)
CODECS = (CompressionType.NONE, CompressionType.LZ4, CompressionType.ZSTD)
Contenders = dict[str, Callable[[], object]]


def figures(*, seconds: float) -> Iterator[Figure]:
    """One line each."""
    section = bytes(frames.encode(RECORDS, 0, NOW, 0)[0])
    scans: Contenders = {
        "ours": lambda: frames.scan(section, COUNT, NOW),
        "ours, plain": lambda: frames_plain.scan(section, COUNT, NOW),
    }
    yield compare("scan a record section", "records", scans, COUNT, seconds=seconds, target="≥ 40 M")
    whole = Batch(write_batch(RECORDS))
    validation: Contenders = {"ours": lambda: validate(whole, RULES, NOW)}
    yield compare("validate a batch, CRC included", "records", validation, COUNT, seconds=seconds)
    for codec in CODECS:
        decoding = compare(f"decode to tuples, {codec.config_name}", "records", _readers(codec), COUNT, seconds=seconds)
        decoding.target = "≥ 3 M" if codec is CompressionType.NONE else ""
        yield decoding
    for codec in CODECS:
        yield compare(f"encode tuples, {codec.config_name}", "records", _writers(codec), COUNT, seconds=seconds)
    yield compare("header, CRC, patch of 1 MB", "batches", _headers(), 1, seconds=seconds)
    yield compare("validate and assign 1 MB, none", "batches", _appends(CompressionType.NONE), 1, seconds=seconds)
    yield compare("validate and assign 1 MB, lz4", "batches", _appends(CompressionType.LZ4), 1, seconds=seconds)
    small = bytearray(write_batch(RECORDS[:1]))
    yield compare("validate and assign one record", "batches", {"ours": lambda: _append(small)}, 1, seconds=seconds)


def _peer(name: str) -> ModuleType | None:
    return importlib.import_module(name) if importlib.util.find_spec(name.partition(".")[0]) else None


def _readers(codec: CompressionType) -> Contenders:
    data = bytes(write_batch(RECORDS, BatchOptions(compression=codec)))
    readers: Contenders = {"ours": lambda: read_tuples(data)}
    if codec is CompressionType.NONE:
        section = data[batch_plain.HEADER_BYTES :]
        readers["ours, plain"] = lambda: frames_plain.decode(section, COUNT, 0, NOW, None)
    for name, module in _peer_modules(codec).items():
        readers[name] = lambda module=module: _peer_read(module, data)
    return readers


def _peer_modules(codec: CompressionType, part: str = "memory_records") -> dict[str, ModuleType]:
    """The peers that are installed, with this codec."""
    peers = {"aiokafka": "aiokafka", "kafka-python": "kafka"}
    found = {}
    for name, package in peers.items():
        codecs, records = _peer(f"{package}.codec"), _peer(f"{package}.record.{part}")
        if codecs and records and (codec is CompressionType.NONE or getattr(codecs, f"has_{codec.config_name}")()):
            found[name] = records
    return found


def _peer_read(module: ModuleType, data: bytes) -> list[tuple[Any, ...]]:
    """The same five values of each record."""
    found = []
    log = module.MemoryRecords(data)
    while log.has_next():
        batch = log.next_batch()
        assert batch.validate_crc()
        found += [(record.offset, record.timestamp, record.key, record.value, record.headers) for record in batch]
    return found


def _writers(codec: CompressionType) -> Contenders:
    options = BatchOptions(compression=codec)
    writers: Contenders = {"ours": lambda: write_batch(RECORDS, options)}
    if codec is CompressionType.NONE:
        writers["ours, plain"] = lambda: frames_plain.encode(RECORDS, 0, NOW, batch_plain.HEADER_BYTES)
    for name, module in _peer_modules(codec, "default_records").items():
        writers[name] = lambda kind=module.DefaultRecordBatchBuilder: _peer_write(kind, codec)
    return writers


def _peer_write(builder_type: Any, codec: CompressionType) -> bytes:
    builder = builder_type(2, int(codec), 0, -1, -1, -1, 1 << 24)
    for offset, timestamp, key, value, _ in RECORDS:
        builder.append(offset, timestamp, key, value, [])
    return bytes(builder.build())


def _headers() -> Contenders:
    data = bytearray(write_batch(RECORDS))

    def patched(kind: type[Batch]) -> None:
        batch = kind(data)
        assert batch.crc_matches()
        batch.assign(1 << 40, 7)

    return {"ours": lambda: patched(Batch), "ours, plain": lambda: patched(batch_plain.Batch)}


def _appends(codec: CompressionType) -> Contenders:
    data = bytearray(write_batch(RECORDS, BatchOptions(compression=codec)))
    return {"ours": lambda: _append(data)}


def _append(data: bytearray) -> None:
    validate(single_batch(data, 13), RULES, NOW).assign(0, 7)
