"""Transactions as text, and the names that a query's groups and transactional ids have."""

import pytest

from ottla.client.producer.sequence import ProducerIdentity
from ottla.pipelines.sink.decision_offset import TASKS_MAX
from ottla.pipelines.sink.errors import SinkError
from ottla.pipelines.sink.prepared_transaction import SinkQuery, transactions_from_text, transactions_to_text


def test_a_full_chunk_of_the_largest_numbers_fits_into_an_offsets_metadata() -> None:
    largest = dict.fromkeys(range(TASKS_MAX - 128, TASKS_MAX), ProducerIdentity(2**63 - 1, 2**15 - 1))
    text = transactions_to_text(largest)
    assert len(text) <= 4096
    assert transactions_from_text(text) == largest


def test_nothing_is_an_empty_text() -> None:
    assert transactions_to_text({}) == ""
    assert transactions_from_text("") == {}


@pytest.mark.parametrize("text", ["x", "1:2", "1:2:3:4", "1:a:2", ","])
def test_what_somebody_else_wrote_is_refused(text: str) -> None:
    with pytest.raises(SinkError, match="no list of transactions"):
        transactions_from_text(text)


def test_queries_and_partitions_have_names_of_their_own() -> None:
    first, second = SinkQuery("ottla", "a"), SinkQuery("ottla", "b")
    names = [
        name
        for query in (first, second)
        for name in (query.decision_group, query.written_group(0), query.written_group(1))
    ]
    assert len(set(names)) == len(names)
    assert first.transactional_id(0) != first.transactional_id(1) != second.transactional_id(1)
