"""Ids go to the partition where Apache Kafka looks for them."""

import pytest

from ottla.coordinator.runtime.routing import java_hash, partition_for


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("polygenelubricants", 0),  # the least int, which Kafka takes for 0
        ("ü", 252),
        ("\U0001f600", 1772899),  # two UTF-16 units
    ],
)
def test_hash_is_that_of_java(text: str, expected: int) -> None:
    assert java_hash(text) == expected


def test_a_negative_hash_counts_by_its_size() -> None:
    assert java_hash("orders") == -1008770331
    assert partition_for("orders", 50) == 1008770331 % 50
    assert partition_for("orders", 50) != (-1008770331 & 0x7FFFFFFF) % 50


def test_without_partitions_there_is_only_the_first() -> None:
    assert partition_for("orders", 0) == 0
