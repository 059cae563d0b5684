"""The loop from Protobuf records to the buffers of Arrow arrays, by whichever twin is installed.

`decoder_plain` documents it; the compiled `_decoder` behaves the same, flaws included.
"""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load

if TYPE_CHECKING:
    from ottla.schema.columns.protobuf.decoder_plain import MessageDecoder
else:
    MessageDecoder = load(
        "ottla.schema.columns.protobuf._decoder", "ottla.schema.columns.protobuf.decoder_plain"
    ).MessageDecoder

__all__ = ["MessageDecoder"]
