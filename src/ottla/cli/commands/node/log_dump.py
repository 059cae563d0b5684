"""`ottla log dump`: segments batch by batch or record by record, and indexes entry by entry.

Reads only what it prints: files are mapped, not loaded. A damaged batch is shown as such and ends the file, since
nothing after it can be trusted to begin where it seems to.
"""

import argparse
import itertools
import mmap
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from ottla.cli.commands.records.consume_format import encoded
from ottla.cli.kafka.record.dump_log_decoder import named_decoder
from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import json_line
from ottla.cli.output.quantity import bytes_text, moment_text
from ottla.cli.output.style import Style, Tone, printable
from ottla.protocol.errors import DecodeError
from ottla.protocol.records.batch import MAGIC, Batch, frame_at
from ottla.protocol.records.control import read_key
from ottla.protocol.records.reader import iterate_batch
from ottla.protocol.records.record import RecordTuple

_DECODERS: Final = {
    "__consumer_offsets": "offsets-decoder",
    "__transaction_state": "transaction-log-decoder",
    "__share_group_state": "share-group-state-decoder",
    "__cluster_metadata": "cluster-metadata-decoder",
}
_INDEXES: Final = {".index": (struct.Struct(">ii"), "position"), ".timeindex": (struct.Struct(">qi"), "timestamp")}


class Item(NamedTuple):
    """Something that a file holds: for programs, and for people."""

    document: dict[str, object]
    text: str
    is_damaged: bool = False


Items: TypeAlias = Iterator[Item]


def dump(options: argparse.Namespace) -> int:
    """Prints the files; 1 if one is damaged."""
    style = Style.of()
    is_damaged = False
    for path in map(Path, options.files):
        if len(options.files) > 1 and not options.json:
            print(style.paint(str(path), Tone.NAME))
        with _mapped(path) as data:
            for item in itertools.islice(_items(path, data, options), options.max):
                is_damaged |= item.is_damaged
                tone = Tone.BAD if item.is_damaged else None
                print(json_line({"file": str(path), **item.document}) if options.json else style.paint(item.text, tone))
    return 1 if is_damaged else 0


@contextmanager
def _mapped(path: Path) -> Iterator[bytes | mmap.mmap]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}; give a file of a log that can be read") from None
    with file:
        if os.fstat(file.fileno()).st_size == 0:
            yield b""
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data


def _items(path: Path, data: bytes | mmap.mmap, options: argparse.Namespace) -> Items:
    if path.suffix in _INDEXES:
        return _entries(path, data, options.start)
    if path.suffix in (".log", ".checkpoint"):
        return _batches(path, data, options)
    raise CommandError(f"{path}: this is no .log, .checkpoint, .index or .timeindex; kafka-dump-log knows the rest")


def _batches(path: Path, data: bytes | mmap.mmap, options: argparse.Namespace) -> Items:
    decode = _decoder(path)
    position = 0
    # A copy of each batch, so that no view keeps the mapping from being closed.
    while (frame := _frame(data, position)) is not None:
        if frame.magic != MAGIC:
            yield Item({"position": position, "magic": frame.magic}, f"{position:>12}  old format {frame.magic}")
        else:
            batch = Batch(data[position : position + frame.size])
            is_whole = batch.crc_matches()
            if batch.last_offset >= options.start or not is_whole:
                if not options.records or not is_whole:
                    yield _batch(batch, position, frame.size, is_damaged=not is_whole)
                else:
                    yield from (
                        _record(found, batch, decode) for found in iterate_batch(batch) if found[0] >= options.start
                    )
            if not is_whole:
                return
        position += frame.size
    if position < len(data):
        rest = len(data) - position
        said = f"{position:>12}  {bytes_text(rest)} at the end are no whole batch"
        is_empty = not any(data[position : position + 4096])
        if not is_empty:
            yield Item({"position": position, "trailing_bytes": rest}, said, is_damaged=True)


class _Frame(NamedTuple):
    size: int
    magic: int


def _frame(data: bytes | mmap.mmap, position: int) -> _Frame | None:
    head = data[position : position + 17]
    if len(head) < 17:
        return None
    size = 12 + int.from_bytes(head[8:12], "big", signed=True)
    if size < 17 + 9 or position + size > len(data):
        return None
    try:
        frame = frame_at(data[position : position + size])
    except DecodeError:
        return None
    return None if frame is None else _Frame(frame.size, frame.magic)


def _batch(batch: Batch, position: int, size: int, *, is_damaged: bool) -> Item:
    marks = [
        *(["transactional"] if batch.is_transactional else []),
        *(["control"] if batch.is_control else []),
        *(["DAMAGED: the CRC does not match"] if is_damaged else []),
    ]
    compression = batch.compression.name.lower()
    producer = f"producer {batch.producer_id}/{batch.producer_epoch}" if batch.producer_id >= 0 else ""
    offsets = f"{batch.base_offset}..{batch.last_offset}"
    fields = [
        f"{position:>12}",
        f"{offsets:<16}",
        f"{batch.records_count:>6} records",
        f"{bytes_text(size):>9}",
        moment_text(batch.max_timestamp),
        f"epoch {batch.partition_leader_epoch}",
        *([compression] if compression != "none" else []),
        *([producer] if producer else []),
        *marks,
    ]
    document: dict[str, object] = {
        "position": position,
        "size_bytes": size,
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "records": batch.records_count,
        "max_timestamp": batch.max_timestamp,
        "leader_epoch": batch.partition_leader_epoch,
        "compression": compression,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "transactional": batch.is_transactional,
        "control": batch.is_control,
        "damaged": is_damaged,
    }
    return Item(document, "  ".join(fields), is_damaged)


Decode: TypeAlias = Callable[[RecordTuple], tuple[str | None, str | None]]


def _decoder(path: Path) -> Decode | None:
    topic = path.resolve().parent.name.rpartition("-")[0]
    return named_decoder(_DECODERS[topic]) if topic in _DECODERS else None


def _record(record: RecordTuple, batch: Batch, decode: Decode | None) -> Item:
    offset, timestamp, key, value, headers = record
    document: dict[str, object] = {"offset": offset, "timestamp": timestamp}
    if batch.is_control:
        kind = read_key(key)
        shown: list[str | None] = [f"marker {kind.name if kind is not None else 'unknown'}"]
        document["control"] = kind.name if kind is not None else None
    elif decode is not None:
        shown = list(decode(record))
        document |= {"key": shown[0], "value": shown[1]}
    else:
        document |= {**encoded("key", key), **encoded("value", value)}
        document["headers"] = [{"name": name, **encoded("value", data)} for name, data in headers]
        shown = [_text(key), "null" if value is None else _text(value)]
        shown += [f"{name}={_text(data)}" for name, data in headers]
    parts = [f"{offset:>12}", moment_text(timestamp), *(printable(part) for part in shown if part is not None)]
    return Item(document, "  ".join(parts))


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "backslashreplace")


def _entries(path: Path, data: bytes | mmap.mmap, start: int) -> Items:
    """The entries of an index, up to the zeros that it was preallocated with."""
    layout, name = _INDEXES[path.suffix]
    base = int(path.stem) if path.stem.isdecimal() else 0
    for at in range(0, len(data) - layout.size + 1, layout.size):
        first, second = layout.unpack(data[at : at + layout.size])
        if at and not first and not second:
            return
        relative, found = (first, second) if name == "position" else (second, first)
        offset = base + relative
        if offset >= start:
            shown = moment_text(found) if name == "timestamp" else f"at byte {found}"
            yield Item({"offset": offset, name: found}, f"{offset:>12}  {shown}")
