"""The table of Kafka's config keys that unit tests compare ours with is what Apache Kafka itself says."""

from pathlib import Path

import pytest

from tests.kafka.peer import java, require_kafka

pytestmark = pytest.mark.long

TABLE = Path(__file__).parents[2] / "unit" / "broker" / "config" / "kafka_keys.tsv"


def test_the_committed_table_is_that_of_kafka() -> None:
    require_kafka()
    printed = java(str(Path(__file__).with_name("KafkaKeys.java"))).splitlines()
    assert TABLE.read_text().splitlines()[1:] == printed
