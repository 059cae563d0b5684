from collections.abc import Sequence

from ottla.schema.columns.layout import Filled, Flaw
from ottla.schema.columns.source import Source, WriteStep

def encode_rows(
    sources: Sequence[Source], steps: Sequence[WriteStep], blob: bytes, prefix: bytes
) -> tuple[Filled, list[Flaw]]: ...
