"""The loop from JSON documents to the buffers of Arrow arrays, by whichever twin is installed.

`decoder_plain` documents it; the compiled `_decoder` behaves the same, flaws included.
"""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load

if TYPE_CHECKING:
    from ottla.schema.columns.json.decoder_plain import DocumentDecoder
else:
    DocumentDecoder = load(
        "ottla.schema.columns.json._decoder", "ottla.schema.columns.json.decoder_plain"
    ).DocumentDecoder

__all__ = ["DocumentDecoder"]
