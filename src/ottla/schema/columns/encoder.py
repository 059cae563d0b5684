"""The loop from Arrow arrays to encoded records, by whichever twin is installed.

`encoder_plain` documents it; the compiled `_encoder` behaves the same, flaws included.
"""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load

if TYPE_CHECKING:
    from ottla.schema.columns.encoder_plain import encode_rows
else:
    encode_rows = load("ottla.schema.columns._encoder", "ottla.schema.columns.encoder_plain").encode_rows

__all__ = ["encode_rows"]
