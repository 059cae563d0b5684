"""Message sets of magic 0 and 1: read, and converted to v2 batches. Nothing here writes the old formats.

Message: offset int64, size int32, CRC-32 of what follows it, magic int8, attributes int8, in magic 1 a timestamp
int64, then key and value with int32 lengths. A message with a codec wraps a message set in its value: its own offset
is the last inner one; inner offsets are absolute in magic 0 and count from the set's first in magic 1, for example
wrapper 12, inner 0 1 2 → 10 11 12; as in Apache Kafka sums wrap at 64 bits. Clients of magic 0 wrote a wrong checksum
into lz4 headers.
"""

import struct
import zlib
from collections.abc import Iterator

from ottla.base.buffer import Buffer
from ottla.base.frozen import frozen
from ottla.protocol.compression import DECOMPRESSED_BYTES_MAX, CompressionType, decompress, lz4
from ottla.protocol.errors import CorruptMessageError, DecodeError
from ottla.protocol.records.batch import LOG_OVERHEAD, frame_at
from ottla.protocol.records.frames_plain import wrap
from ottla.protocol.records.memory import contiguous
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.timestamp import NO_TIMESTAMP
from ottla.protocol.records.writer import BatchOptions, write_batch

_PREFIX = struct.Struct(">qiIbb")
_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")
_MESSAGE_BYTES_MIN = 14
_MAGIC_AT = 16
_INT32_MAX = 2**31 - 1


@frozen
class _Message:
    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: memoryview | None

    @property
    def codec_id(self) -> int:
        return self.attributes & 0x07

    @property
    def log_append_time(self) -> int | None:
        return self.timestamp if self.magic == 1 and self.attributes & 0x08 else None

    def record(self, offset: int, log_append_time: int | None) -> RecordTuple:
        """The record in the message; a wrapper's LogAppendTime is the timestamp of every inner message."""
        timestamp = self.timestamp if log_append_time is None or self.magic == 0 else log_append_time
        value = None if self.value is None else bytes(self.value)
        return offset, timestamp, self.key, value, ()


def read_message(
    data: Buffer, max_bytes: int = DECOMPRESSED_BYTES_MAX, *, check_crcs: bool = True
) -> list[RecordTuple]:
    """The records of one message: itself, or those that it wraps."""
    return _records(_parse(contiguous(data), check_crcs=check_crcs), max_bytes, check_crcs=check_crcs)


def convert(
    data: Buffer,
    max_bytes: int = DECOMPRESSED_BYTES_MAX,
    *,
    check_crcs: bool = True,
    compression: CompressionType | None = None,
) -> bytearray:
    """The messages as v2 batches; a batch per wrapper, one per run of plain messages.

    Each batch has the codec of its messages, or `compression` if that is given.
    """
    converted = bytearray()
    run: list[RecordTuple] = []
    run_options = BatchOptions()
    for message in _messages(contiguous(data), check_crcs=check_crcs):
        codec = CompressionType.from_id(message.codec_id)
        options = BatchOptions(
            compression=codec if compression is None else compression, log_append_time=message.log_append_time
        )
        for record in _records(message, max_bytes, check_crcs=check_crcs):
            if run and not (options == run_options and run[-1][0] < record[0] <= run[0][0] + _INT32_MAX):
                converted += write_batch(run, run_options)
                run = []
            run.append(record)
            run_options = options
        if run and message.codec_id:
            converted += write_batch(run, run_options)
            run = []
    if run:
        converted += write_batch(run, run_options)
    return converted


def _messages(view: memoryview, *, check_crcs: bool) -> Iterator[_Message]:
    position = 0
    while (frame := frame_at(view, position)) is not None:
        yield _parse(view[position : position + frame.size], check_crcs=check_crcs)
        position += frame.size


def _parse(view: memoryview, *, check_crcs: bool) -> _Message:
    """The message that the whole of the view is."""
    if len(view) < LOG_OVERHEAD + _MESSAGE_BYTES_MIN:
        raise DecodeError("the bytes end inside the message", path="message", position=len(view))
    offset, size, crc, magic, attributes = _PREFIX.unpack_from(view)
    if size != len(view) - LOG_OVERHEAD:
        raise DecodeError(f"a size of {size} in {len(view)} bytes", path="message.size", position=8)
    if magic not in (0, 1):
        raise DecodeError(f"magic {magic}", path="message.magic", position=_MAGIC_AT)
    if check_crcs and zlib.crc32(view[_MAGIC_AT:]) != crc:
        raise CorruptMessageError(f"The CRC of the message at offset {offset} does not match")
    position = _PREFIX.size
    timestamp = NO_TIMESTAMP
    if magic == 1:
        timestamp, position = _number(view, position, _INT64)
    key, position = _field(view, position, "key")
    value, position = _field(view, position, "value")
    if position != len(view):
        raise DecodeError(f"{len(view) - position} bytes after the value", path="message", position=position)
    return _Message(offset, magic, attributes, timestamp, None if key is None else bytes(key), value)


def _number(view: memoryview, position: int, form: struct.Struct) -> tuple[int, int]:
    if position + form.size > len(view):
        raise DecodeError("the bytes end inside the message", path="message", position=position)
    return form.unpack_from(view, position)[0], position + form.size


def _field(view: memoryview, position: int, name: str) -> tuple[memoryview | None, int]:
    size, start = _number(view, position, _INT32)
    if size < 0:
        return None, start
    if size > len(view) - start:
        raise DecodeError(
            f"a length of {size} with {len(view) - start} bytes left", path=f"message.{name}", position=position
        )
    return view[start : start + size], start + size


def _records(message: _Message, max_bytes: int, *, check_crcs: bool) -> list[RecordTuple]:
    if message.codec_id == 0:
        return [message.record(message.offset, message.log_append_time)]
    inner = list(_inner_messages(_unwrapped(message, max_bytes), check_crcs=check_crcs))
    if not inner:
        raise DecodeError("a compressed message with none inside", path="message.value")
    first = 0
    # Some versions of librdkafka left a wrapper's offset at 0.
    if message.magic == 1 and message.offset != 0:
        first = wrap(message.offset - inner[-1].offset)
        if first < 0:
            raise DecodeError(f"offset {message.offset} before the last inner one", path="message.offset", position=0)
    return [each.record(wrap(first + each.offset), message.log_append_time) for each in inner]


def _unwrapped(message: _Message, max_bytes: int) -> memoryview:
    codec = CompressionType.from_id(message.codec_id)
    if message.value is None or codec is CompressionType.ZSTD:
        raise DecodeError(f"a compressed message without a message set ({codec.config_name})", path="message.value")
    value = message.value
    if codec is CompressionType.LZ4 and message.magic == 0:
        value = lz4.repaired(value)
    return decompress(codec, value, max_bytes)


def _inner_messages(view: memoryview, *, check_crcs: bool) -> Iterator[_Message]:
    """The messages of a wrapped set; like Kafka, a set that ends inside a message is read up to it."""
    position = 0
    while len(view) - position >= LOG_OVERHEAD:
        size = _INT32.unpack_from(view, position + 8)[0]
        if size < _MESSAGE_BYTES_MIN:
            raise DecodeError(f"a message of {size} bytes", path="message.value", position=position)
        if size > len(view) - position - LOG_OVERHEAD:
            return
        end = position + LOG_OVERHEAD + size
        message = _parse(view[position:end], check_crcs=check_crcs)
        if message.codec_id:
            raise DecodeError("a compressed message inside another", path="message.value", position=position)
        yield message
        position = end
