"""The commonest Produce request, read and answered without a message object: one batch for one partition.

`parse` gives up (None) on anything else, and the codec then reads the request; it never refuses. `encode` writes the
answer to a batch that was appended. Both agree with the codec byte by byte, in every version that a broker serves.
"""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load

if TYPE_CHECKING:
    from ottla.protocol.single_produce_plain import SingleProduce, encode, parse
else:
    _twin = load("ottla.protocol._single_produce", "ottla.protocol.single_produce_plain")
    parse = _twin.parse
    encode = _twin.encode
    from ottla.protocol.single_produce_plain import SingleProduce

__all__ = ["SingleProduce", "encode", "parse"]
