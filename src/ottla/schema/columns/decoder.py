"""The loop from encoded records to the buffers of Arrow arrays, by whichever twin is installed.

`decoder_plain` documents it; the compiled `_decoder` behaves the same, flaws included.
"""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load

if TYPE_CHECKING:
    from ottla.schema.columns.decoder_plain import ColumnDecoder, frame_ids
else:
    _twin = load("ottla.schema.columns._decoder", "ottla.schema.columns.decoder_plain")
    ColumnDecoder, frame_ids = _twin.ColumnDecoder, _twin.frame_ids

__all__ = ["ColumnDecoder", "frame_ids"]
