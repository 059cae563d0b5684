"""The file of a standalone worker's offsets: Java reads what we write, and we what Java wrote."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.connect.errors import ConnectError
from ottla.connect.worker.offset_file import decode_offsets, encode_offsets

JAVA = base64.b64decode(
    "rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcAUH2sHDFmDRAwACRgAKbG9hZEZhY3RvckkACXRocmVzaG9sZHhwP0AAAAAAAAx3CAAAABAAAAACdXI"
    "AAltCrPMX+AYIVOACAAB4cAAAAAFrcHVxAH4AAgAAABdbImluIix7ImZpbGVuYW1lIjoiYSJ9XXVxAH4AAgAAAA57InBvc2l0aW9uIjo4fXg="
)
"""What ObjectOutputStream of Java 17 made of such a map."""
OFFSETS = {b"k": None, b'["in",{"filename":"a"}]': b'{"position":8}'}


def test_java_and_we_write_it_alike() -> None:
    assert decode_offsets(JAVA) == OFFSETS
    assert encode_offsets(OFFSETS) == JAVA


@given(st.dictionaries(st.binary(), st.none() | st.binary(max_size=300), max_size=40))
def test_what_was_written_is_read(offsets: dict[bytes, bytes | None]) -> None:
    assert decode_offsets(encode_offsets(offsets)) == offsets


@given(st.integers(0, len(JAVA) - 1), st.binary(max_size=3))
def test_damage_is_an_error(at: int, noise: bytes) -> None:
    damaged = JAVA[:at] + noise
    if damaged.startswith(JAVA):
        return
    try:
        found = decode_offsets(damaged)
    except ConnectError:
        return
    # The last value's length may have become 0, with an end behind it: that is a whole file of another value.
    assert noise, "a part of the file was taken for the whole"
    assert encode_offsets(found) == damaged


def test_another_file_is_refused() -> None:
    with pytest.raises(ConnectError, match="not one that Kafka Connect writes"):
        decode_offsets(b"position=8, which nobody wrote")
    with pytest.raises(ConnectError, match="cut off"):
        decode_offsets(b"")
