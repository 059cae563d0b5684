"""The twins that every test of schemas' columns runs on: plain always, compiled where it was built."""

import importlib
from types import ModuleType

from ottla.schema.columns import decoder_plain, encoder_plain


def _with_compiled(plain: ModuleType, compiled: str) -> list[ModuleType]:
    try:
        return [plain, importlib.import_module(compiled)]
    except ImportError:
        return [plain]


DECODERS = _with_compiled(decoder_plain, "ottla.schema.columns._decoder")
ENCODERS = _with_compiled(encoder_plain, "ottla.schema.columns._encoder")


def name(twin: ModuleType) -> str:
    """For test ids."""
    return "compiled" if twin.__name__.rpartition(".")[2].startswith("_") else "plain"
