"""Records that were made one by one, as columns: nothing is lost, doubled or moved."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.connect.pipeline.dead_letter import ProducerRecord
from ottla.pipelines.connect.record_batch import ROWS_MIN, columns_of, runs

pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install ottla[arrow]")

DATA = st.none() | st.binary(max_size=5)
HEADERS = st.lists(st.tuples(st.text(max_size=3), DATA), max_size=2).map(tuple)
REST = (DATA, DATA, HEADERS, st.none() | st.integers(0, 10))
RECORDS = st.lists(st.builds(ProducerRecord, st.sampled_from(["a", "b"]), st.sampled_from([None, 1]), *REST))
MANY = st.lists(st.builds(ProducerRecord, st.just("t"), st.none(), *REST), min_size=ROWS_MIN, max_size=ROWS_MIN + 5)


@given(RECORDS)
def test_runs_are_the_records_in_order(records: list[ProducerRecord]) -> None:
    found = list(runs(records))
    assert [record for run in found for record in run] == records
    assert all(len({(record.topic, record.partition) for record in run}) == 1 for run in found)


@given(MANY)
def test_columns_say_what_the_records_say(records: list[ProducerRecord]) -> None:
    batch = columns_of(records, 10_000)
    assert batch is not None
    names = batch.schema.names
    for index, record in enumerate(records):
        row = {name: batch.column(name)[index].as_py() for name in names}
        headers = tuple((each["key"], each["value"]) for each in row.get("headers", ()))
        assert (row.get("key"), row["value"], headers, row.get("timestamp")) == (
            record.key, record.value, record.headers, record.timestamp,
        )  # fmt: skip


def test_few_records_and_large_ones_go_by_themselves() -> None:
    one = ProducerRecord("t", None, b"k", b"12345")
    assert columns_of([one] * (ROWS_MIN - 1), 100) is None
    assert columns_of([one] * ROWS_MIN, 6) is not None
    assert columns_of([one] * ROWS_MIN, 5) is None
    marked = one._replace(headers=(("h", b"123"),))
    assert columns_of([*[one] * ROWS_MIN, marked], 12) is None
