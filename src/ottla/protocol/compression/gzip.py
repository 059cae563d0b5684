"""gzip: one member written; any number read, like Java's GZIPInputStream, which ignores what follows the last one.

Input is fed in small pieces: zlib copies what lies behind a member, so that a batch of many tiny members would
otherwise cost the square of its length.
"""

import zlib
from collections.abc import Iterator

import cramjam

from ottla.base.buffer import Buffer
from ottla.protocol.compression.failure import corrupt, too_large

_ZLIB_DEFAULT_LEVEL = 6
_GZIP_WINDOW = 31
_PIECE_BYTES = 16 * 1024
_OUT_BYTES = 64 * 1024
_MAGIC = b"\x1f\x8b"
_SIZE_BYTES = 4


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


def pieces(data: memoryview, workspace: bytearray, max_bytes: int) -> Iterator[memoryview]:
    """Decompresses in pieces, which lie in `workspace` until the next is asked for if they fit it."""
    size = int.from_bytes(data[-_SIZE_BYTES:], "little")
    if size <= min(len(workspace), max_bytes):
        # One call without the GIL, where the last member's size is that of all. Anything odd is left to the loop below.
        try:
            size = cramjam.gzip.decompress_into(data, workspace)
        except cramjam.DecompressionError:
            pass
        else:
            if size > max_bytes:
                raise too_large(max_bytes)
            yield memoryview(workspace)[:size]
            return
    position, made = 0, 0
    while not position or data[position : position + 2] == _MAGIC:
        inflater = zlib.decompressobj(_GZIP_WINDOW)
        while not inflater.eof:
            piece: bytes | memoryview = data[position : position + _PIECE_BYTES]
            if not piece:
                raise corrupt("gzip", "it ends too early", position)
            position += len(piece)
            while True:
                try:
                    out = inflater.decompress(piece, _OUT_BYTES)
                except zlib.error as error:
                    raise corrupt("gzip", error, position) from None
                made += len(out)
                if made > max_bytes:
                    raise too_large(max_bytes)
                yield memoryview(out)
                piece = inflater.unconsumed_tail
                if inflater.eof or (not piece and len(out) < _OUT_BYTES):
                    break
        position -= len(inflater.unused_data)


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
