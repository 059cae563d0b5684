"""Every message in every version, against the bytes that Apache Kafka's own classes write."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ottla.protocol.codec import engine
from ottla.protocol.codec.reader import Reader
from ottla.protocol.codec.tolerant import TolerantReader
from ottla.protocol.codec.writer import Writer, joined
from ottla.protocol.definition import Message
from tests.vectors.message_vectors import head, message_files, message_types, vectors

TYPES = message_types()
FILES = message_files()

Decode = Callable[[type[Message], bytes, int], tuple[Any, int]]
Encode = Callable[[Message, int], bytes]


def plain_decode(message: type[Message], raw: bytes, version: int) -> tuple[Any, int]:
    reader = Reader(raw, 0)
    return reader.read(message.plan(version)), reader.position


def tolerant_decode(message: type[Message], raw: bytes, version: int) -> tuple[Any, int]:
    reader = TolerantReader(raw, 0)
    return reader.read(message.plan(version)), reader.position


def plain_encode(value: Message, version: int) -> bytes:
    writer = Writer()
    writer.write(value.plan(version), value)
    return joined(writer.finish())


def compiled_decode(message: type[Message], raw: bytes, version: int) -> tuple[Any, int]:
    found = engine._decoder.decode(message.plan(version), raw, 0, tolerant=False)
    assert isinstance(found, tuple), "the compiled engine refused"
    return found


def compiled_encode(value: Message, version: int) -> bytes:
    parts = ((value.plan(version), value),)
    encoded = engine._encoder.encode(parts)
    if encoded is None:
        assert "unknown_tags=" in repr(value), "the compiled engine refused"
        return engine.encode(parts)
    return encoded


needs_compiler = pytest.mark.skipif(not engine.COMPILED, reason="the extensions are not compiled here")
DECODERS = [
    pytest.param(plain_decode, id="plain"),
    pytest.param(tolerant_decode, id="tolerant"),
    pytest.param(compiled_decode, id="compiled", marks=needs_compiler),
]
ENCODERS = [
    pytest.param(plain_encode, id="plain"),
    pytest.param(compiled_encode, id="compiled", marks=needs_compiler),
]


def test_every_message_of_kafka_is_here() -> None:
    assert {path.stem for path in FILES} == set(TYPES)
    assert len(FILES) == 270


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_versions_are_kafkas(path: Path) -> None:
    message, first = TYPES[path.stem], head(path)
    assert (message.valid_versions.lowest, message.valid_versions.highest) == (first["lowest"], first["highest"])
    flexible = [version for version in range(first["lowest"], first["highest"] + 1) if message.is_flexible(version)]
    if first["flexible"] is None:
        assert not flexible
    else:
        assert flexible == list(range(max(first["flexible"], first["lowest"]), first["highest"] + 1))


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_decodes_what_kafka_wrote(path: Path, decode: Decode) -> None:
    message = TYPES[path.stem]
    for vector in vectors(path, message):
        value, position = decode(message, vector.encoded, vector.version)
        assert value == vector.expected, f"v{vector.version} {vector.variant}"
        assert position == len(vector.encoded)


@pytest.mark.parametrize("encode", ENCODERS)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_encodes_what_kafka_writes(path: Path, encode: Encode) -> None:
    message = TYPES[path.stem]
    for vector in vectors(path, message):
        encoded = encode(vector.expected, vector.version)
        assert encoded.hex() == vector.encoded.hex(), f"v{vector.version} {vector.variant}"
