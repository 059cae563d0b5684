"""The twins that every test of frames and batches runs on: plain always, compiled where it was built."""

import importlib
from types import ModuleType

from ottla.protocol.records import batch_plain, frames_plain


def _with_compiled(plain: ModuleType, compiled: str) -> list[ModuleType]:
    try:
        return [plain, importlib.import_module(compiled)]
    except ImportError:
        return [plain]


FRAMES = _with_compiled(frames_plain, "ottla.protocol.records._frames")
BATCHES = _with_compiled(batch_plain, "ottla.protocol.records._batch")
FRAME_FUNCTIONS = ("scan", "decode", "iterate", "encode", "record_size")


def name(twin: ModuleType) -> str:
    """For test ids."""
    return "compiled" if twin.__name__.rpartition(".")[2].startswith("_") else "plain"
