"""Runs plans: the compiled engine where there is one, and the explaining twins where it gives up.

The compiled engine says no without saying why. Then the plain reader or writer does the work again and raises the
error with the field's path and the reason.
"""

from typing import TYPE_CHECKING, Any

from ottla.base.accelerated import compiled_module
from ottla.base.buffer import Buffer
from ottla.protocol.codec.plan import StructPlan
from ottla.protocol.codec.reader import Reader
from ottla.protocol.codec.tolerant import ELEMENTS_MAX, TolerantReader
from ottla.protocol.codec.writer import Writer, joined
from ottla.protocol.field import Records

if TYPE_CHECKING:
    from ottla.protocol.codec import _decoder, _encoder

    COMPILED: bool
else:
    _decoder = compiled_module("ottla.protocol.codec._decoder")
    _encoder = compiled_module("ottla.protocol.codec._encoder")
    COMPILED = _decoder is not None and _encoder is not None

EXPLAINED_BYTES_MAX = 64 * 1024
"""Larger messages are refused with the place alone: reading megabytes again to say why would pay for an attack."""

Parts = tuple[tuple[StructPlan, Any], ...]
"""Messages to be written one behind the other, such as a header and its body."""


def decode(plan: StructPlan, buffer: Buffer, position: int) -> tuple[Any, int]:
    """The struct at `position` and the position behind it, or `DecodeError`."""
    if COMPILED:
        found = _decoder.decode(plan, buffer, position, tolerant=False)
        if isinstance(found, tuple):
            return found
        if len(buffer) > EXPLAINED_BYTES_MAX:
            raise found
    reader = Reader(buffer, position)
    return reader.read(plan), reader.position


def decode_tolerantly(
    plan: StructPlan, buffer: Buffer, position: int, elements_max: int = ELEMENTS_MAX
) -> tuple[Any, int]:
    """Like `decode`, with Kafka's tolerance for requests; refuses those of too many elements."""
    if COMPILED:
        found = _decoder.decode(plan, buffer, position, tolerant=True, elements_max=elements_max)
        if isinstance(found, tuple):
            return found
        if len(buffer) > EXPLAINED_BYTES_MAX:
            raise found
    reader = TolerantReader(buffer, position, elements_max)
    return reader.read(plan), reader.position


def encode(parts: Parts) -> bytes:
    """The bytes of all parts in a row."""
    if COMPILED:
        encoded = _encoder.encode(parts)
        if encoded is not None:
            return encoded
    return joined(_write(parts))


def encode_around(parts: Parts) -> list[Records]:
    """The bytes of all parts in a row, cut around every `records` value, which is a piece as it is."""
    if COMPILED:
        pieces = _encoder.encode_around(parts)
        if pieces is not None:
            return pieces
    return _write(parts)


def _write(parts: Parts) -> list[Records]:
    writer = Writer()
    for plan, value in parts:
        writer.write(plan, value)
    return writer.finish()
