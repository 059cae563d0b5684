"""The way back of a batch, packed."""

from hypothesis import given
from hypothesis import strategies as st

from ottla.streams.state.undo import packed, unpacked


@given(st.dictionaries(st.binary(max_size=6), st.one_of(st.none(), st.binary(max_size=6))))
def test_what_is_packed_comes_back_in_its_order(before: dict[bytes, bytes | None]) -> None:
    assert [entry for piece in packed(before) for entry in unpacked(piece)] == list(before.items())


def test_many_entries_make_several_pieces() -> None:
    before = {b"%d" % number: b"x" * (number % 3) or None for number in range(10_000)}
    pieces = list(packed(before))
    assert len(pieces) == 3
    assert [entry for piece in pieces for entry in unpacked(piece)] == list(before.items())
