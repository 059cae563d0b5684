"""gzip: one member written; any number read, like Java's GZIPInputStream, which ignores what follows the last one.

Input is fed in small pieces: zlib copies what lies behind a member, so that a batch of many tiny members would
otherwise cost the square of its length.
"""

import zlib

import cramjam

from ottla.base.buffer import Buffer
from ottla.protocol.compression.refusal import corrupt, too_large

_ZLIB_DEFAULT_LEVEL = 6
_GZIP_WINDOW = 31
_PIECE_BYTES = 16 * 1024
_MAGIC = b"\x1f\x8b"


def compress(data: Buffer, level: int) -> bytes:
    """A gzip member; level -1 is zlib's default."""
    return bytes(cramjam.gzip.compress(data, level if level > 0 else _ZLIB_DEFAULT_LEVEL))


def decompress(data: memoryview, max_bytes: int) -> memoryview:
    """The members' contents, one after another."""
    out = bytearray()
    position = _inflate_member(data, 0, out, max_bytes)
    while data[position : position + 2] == _MAGIC:
        position = _inflate_member(data, position, out, max_bytes)
    return memoryview(out)


def _inflate_member(data: memoryview, position: int, out: bytearray, max_bytes: int) -> int:
    inflater = zlib.decompressobj(_GZIP_WINDOW)
    while not inflater.eof:
        piece = data[position : position + _PIECE_BYTES]
        if not piece:
            raise corrupt("gzip", "it ends too early", position)
        try:
            out += inflater.decompress(piece, max_bytes + 1 - len(out))
        except zlib.error as error:
            raise corrupt("gzip", error, position) from None
        if len(out) > max_bytes:
            raise too_large(max_bytes)
        position += len(piece) - len(inflater.unused_data)
    return position
