"""The twins that every test of frames, batches and columns runs on: plain always, compiled where it was built."""

import importlib
from types import ModuleType
from typing import Any

from ottla.protocol.records import (
    batch_plain,
    columns_plain,
    columns_writer_plain,
    frames_plain,
    pair_batch_plain,
    scanner_plain,
)


def _with_compiled(plain: ModuleType, compiled: str) -> list[ModuleType]:
    try:
        return [plain, importlib.import_module(compiled)]
    except ImportError:
        return [plain]


FRAMES = _with_compiled(frames_plain, "ottla.protocol.records._frames")
BATCHES = _with_compiled(batch_plain, "ottla.protocol.records._batch")
SCANNERS = _with_compiled(scanner_plain, "ottla.protocol.records._scanner")
PAIR_BATCHES = _with_compiled(pair_batch_plain, "ottla.protocol.records._pair_batch")
COLUMN_READERS = _with_compiled(columns_plain, "ottla.protocol.records._columns")
COLUMN_WRITERS = _with_compiled(columns_writer_plain, "ottla.protocol.records._columns_writer")
COLUMNS: list[tuple[Any, Any]] = [
    (reader.ColumnReader, writer.ColumnWriter) for reader, writer in zip(COLUMN_READERS, COLUMN_WRITERS, strict=True)
]
FRAME_FUNCTIONS = ("scan", "find_invalid", "decode", "iterate", "encode", "record_size")


def name(twin: ModuleType | tuple[Any, Any]) -> str:
    """For test ids."""
    module = twin.__name__ if isinstance(twin, ModuleType) else twin[0].__module__
    return "compiled" if module.rpartition(".")[2].startswith("_") else "plain"
