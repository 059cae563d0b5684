"""What must hold for every message: it comes back, and both engines see the same thing in the same bytes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.protocol.codec import engine
from ottla.protocol.codec.piecewise import encode_in_pieces
from ottla.protocol.codec.reader import Reader
from ottla.protocol.codec.tolerant import TolerantReader
from ottla.protocol.codec.writer import Writer, joined
from ottla.protocol.definition import Message
from tests.fuzz.messages import fuzz_one
from tests.property.protocol.strategies import messages

needs_compiler = pytest.mark.skipif(not engine.COMPILED, reason="the extensions are not compiled here")


def plain(message: Message, version: int) -> bytes:
    writer = Writer()
    writer.write(message.plan(version), message)
    return joined(writer.finish())


@given(messages())
@settings(max_examples=400)
def test_comes_back_as_it_was(drawn: tuple[Message, int]) -> None:
    message, version = drawn
    encoded = plain(message, version)
    reader = Reader(encoded, 0)
    assert reader.read(message.plan(version)) == message
    assert reader.position == len(encoded)
    assert TolerantReader(encoded, 0).read(message.plan(version)) == message


@needs_compiler
@given(messages())
@settings(max_examples=400)
def test_both_engines_write_and_read_the_same(drawn: tuple[Message, int]) -> None:
    message, version = drawn
    plan = message.plan(version)
    encoded = plain(message, version)
    assert message.encode(version) == encoded
    if "unknown_tags=" not in repr(message):
        assert engine._encoder.encode(((plan, message),)) == encoded
    assert engine._decoder.decode(plan, encoded, 0, tolerant=False) == (message, len(encoded))
    assert engine._decoder.decode(plan, encoded, 0, tolerant=True) == (message, len(encoded))
    around = message.encode_around(version)
    assert joined(around) == encoded


@given(messages())
@settings(max_examples=200)
def test_pieces_are_the_message_wherever_it_is_cut(drawn: tuple[Message, int]) -> None:
    message, version = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ottla.protocol.codec.piecewise.ELEMENTS_MAX", 1)
        assert b"".join(encode_in_pieces(message.plan(version), message)) == plain(message, version)


@given(messages(), st.data())
@settings(max_examples=400)
def test_damaged_bytes_are_read_alike_or_refused_alike(drawn: tuple[Message, int], data: st.DataObject) -> None:
    message, version = drawn
    damaged = bytearray(plain(message, version))
    for _ in range(data.draw(st.integers(1, 3))):
        if damaged:
            place = data.draw(st.integers(0, len(damaged) - 1))
            damaged[place] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255))
    del damaged[data.draw(st.integers(0, len(damaged))) :]
    fuzz_one(_choice(message, version) + bytes(damaged))


@given(st.binary(max_size=200))
@settings(max_examples=400)
def test_any_bytes_are_read_alike_or_refused_alike(data: bytes) -> None:
    fuzz_one(data)


def _choice(message: Message, version: int) -> bytes:
    from tests.fuzz.messages import TYPES

    return TYPES.index(type(message)).to_bytes(2, "big") + bytes([version - message.valid_versions.lowest])
