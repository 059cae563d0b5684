"""Records as columns: what cannot be taken so is taken one by one."""

from ottla.client.record import TopicPartition
from ottla.streams import Serdes
from ottla.streams.engine.error_handler import InputRecord
from ottla.streams.local.record_column import columns_of

PLACE = TopicPartition("in", 1)
TEXT, NUMBER = Serdes.string(), Serdes.integer()


def record(offset: int, value: bytes | None, *, timestamp: int = 7, name: str = "") -> InputRecord:
    headers = ((name, b"h"),) if name else ()
    return InputRecord("in", 1, offset, timestamp, b"k%d" % offset, value, headers)


def test_keys_and_values_are_decoded_and_nulls_stay() -> None:
    found = columns_of(PLACE, [record(3, b"\0\0\0\x05"), record(5, None, timestamp=9)], (TEXT, NUMBER))
    assert found is not None
    assert (list(found.keys), list(found.values)) == (["k3", "k5"], [5, None])
    assert (list(found.offsets), list(found.timestamps), found.headers) == ([3, 5], [7, 9], None)
    assert found.record_at(1) == record(5, None, timestamp=9)
    assert found.metadata_at(1).offset == 5


def test_headers_are_kept_if_any_record_has_one() -> None:
    found = columns_of(PLACE, [record(0, b"x"), record(1, b"y", name="trace")], (TEXT, TEXT))
    assert found is not None
    assert found.headers is not None
    assert list(found.headers) == [(), (("trace", b"h"),)]


def test_what_cannot_be_decoded_or_has_no_time_is_taken_record_by_record() -> None:
    assert columns_of(PLACE, [record(0, b"\0\0\0\1"), record(1, b"no number")], (TEXT, NUMBER)) is None
    assert columns_of(PLACE, [record(0, b"\xff")], (TEXT, TEXT)) is None
    assert columns_of(PLACE, [record(0, b"x", timestamp=-1)], (TEXT, TEXT)) is None
