"""Streams cut into frames, wherever the reads end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.net.errors import InvalidFrameError
from ottla.net.frame_reader import FrameReader

CONTENTS = st.lists(st.one_of(st.binary(min_size=1, max_size=60), st.integers(1, 400_000).map(bytes)), max_size=8)
CUTS = st.lists(st.integers(1, 100_000), min_size=1, max_size=20)


def feed(reader: FrameReader, stream: bytes, cuts: list[int]) -> list[memoryview]:
    """Gives the stream to the reader in reads of the given sizes, again and again."""
    frames, position, turn = [], 0, 0
    while position < len(stream):
        buffer = reader.buffer()
        count = min(cuts[turn % len(cuts)], len(buffer), len(stream) - position)
        buffer[:count] = stream[position : position + count]
        frames += reader.received(count)
        position += count
        turn += 1
    return frames


@given(contents=CONTENTS, cuts=CUTS)
def test_frames_come_out_as_they_went_in_and_own_their_bytes(contents: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(len(content).to_bytes(4, "big") + content for content in contents)
    frames = feed(FrameReader(400_000), stream, cuts)
    assert [bytes(frame) for frame in frames] == contents
    assert not any(frame.readonly for frame in frames)


@pytest.mark.parametrize("size", [0, -1, 1_001])
def test_a_size_that_no_frame_can_have(size: int) -> None:
    with pytest.raises(InvalidFrameError):
        feed(FrameReader(1_000), size.to_bytes(4, "big", signed=True), [4])
