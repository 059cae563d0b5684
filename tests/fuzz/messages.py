"""Any bytes as any message in any version: both engines must agree, and refuse only with `DecodeError`.

The first three bytes choose the message and the version, the rest is what a stranger sends.
"""

from collections.abc import Iterator
from typing import Any

from ottla.protocol.codec import engine
from ottla.protocol.codec.plan import StructPlan
from ottla.protocol.codec.reader import Reader
from ottla.protocol.codec.tolerant import TolerantReader
from ottla.protocol.codec.writer import Writer, joined
from ottla.protocol.definition import Struct
from ottla.protocol.errors import DecodeError
from tests.vectors.message_vectors import message_files, message_types, vectors

NAMES, TYPES = zip(*sorted(message_types().items()), strict=True)


def fuzz_one(data: bytes) -> None:
    """One try."""
    if len(data) < 3:
        return
    message = TYPES[int.from_bytes(data[:2], "big") % len(TYPES)]
    versions = message.valid_versions
    version = versions.lowest + data[2] % (versions.highest - versions.lowest + 1)
    plan, body = message.plan(version), data[3:]

    value = _read_by_both(plan, body, Reader)
    _read_by_both(plan, body, TolerantReader)
    if value is None:
        return
    # Compared as bytes, because a NaN is not equal to itself.
    encoded = _encode(plan, value)
    assert engine.encode(((plan, value),)) == encoded
    again = Reader(encoded, 0)
    assert _encode(plan, again.read(plan)) == encoded
    assert again.position == len(encoded)


def _read_by_both(plan: StructPlan, body: bytes, kind: type[Reader]) -> Any:
    """What the plain reader reads, or None if it refuses; the compiled one must do the same."""
    reader = kind(body, 0)
    compiled: Any = None
    if engine.COMPILED:
        compiled = engine._decoder.decode(plan, body, 0, tolerant=kind is TolerantReader)
    try:
        value = reader.read(plan)
    except DecodeError as error:
        assert error.path.startswith(plan.struct.__name__)
        assert error.position is not None
        assert 0 <= error.position <= len(body)
        assert compiled is None or isinstance(compiled, DecodeError)
        return None
    if compiled is not None:
        assert isinstance(compiled, tuple)
        assert _plain_values(compiled[0]) == _plain_values(value)
        assert compiled[1] == reader.position
    return value


def _plain_values(value: Any) -> Any:
    """The value as something that equals itself: a NaN would not."""
    if isinstance(value, Struct):
        return [_plain_values(getattr(value, name)) for name in (*value.definition, "unknown_tags")]
    if isinstance(value, list):
        return [_plain_values(element) for element in value]
    return repr(value) if isinstance(value, float) else value


def seeds() -> Iterator[bytes]:
    """What Apache Kafka wrote, as a place to start from."""
    for path in message_files():
        index = NAMES.index(path.stem)
        message = TYPES[index]
        for vector in vectors(path, message):
            if len(vector.encoded) < 500:
                chosen = index.to_bytes(2, "big") + bytes([vector.version - message.valid_versions.lowest])
                yield chosen + vector.encoded


def _encode(plan: StructPlan, value: Any) -> bytes:
    writer = Writer()
    writer.write(plan, value)
    return joined(writer.finish())
