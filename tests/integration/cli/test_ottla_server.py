"""The `ottla` commands on servers in processes of their own: ours, and Apache Kafka with OTTLA_TEST_PEER."""

import uuid

from tests.integration.cli.ottla_command import Ottla
from tests.kafka.server import Server


def test_a_round_with_every_command(tool_server: Server) -> None:
    ottla = Ottla(tool_server.bootstrap)
    topic = f"round-{uuid.uuid4()}"
    assert ottla("topics", "create", topic, "-p", "2").out == f"Created {topic}: 2 partitions, 1 replica.\n"
    assert ottla("produce", topic, "-k", ":", stdin=b"a:1\nb:2\nc:3\n").code == 0
    shown = ottla("consume", topic, "--from", "beginning", "-e", "--format", "{key}={value}")
    assert sorted(shown.lines) == ["a=1", "b=2", "c=3"]
    assert len(ottla("consume", topic, "--group", topic, "--from", "beginning", "-n", "2").lines) == 2
    assert ottla("groups", "describe", topic, "--json").document[0]["state"] == "Empty"
    assert ottla("groups", "reset", topic, "--topic", topic, "--to", "end", "--execute").code == 0
    assert ottla("groups", "describe", topic, "--json").document[0]["lag_records"] == 0
    assert ottla("groups", "delete", topic, "--yes").code == 0
    ends = [found["end_offset"] for found in ottla("offsets", topic, "--json").document]
    assert sum(ends) == 3
    assert ottla("configs", "set", "topic", topic, "retention.ms=60000").lines[1].split()[-1] == "60000"
    assert ottla("records", "delete", topic, "--before", "end", "--execute").lines[-1] == "Deleted 3 records."
    cluster = ottla("cluster", "--check", "--json").document
    assert cluster["healthy"]
    doctor = ottla("doctor", "--topic", topic)
    assert (doctor.code, doctor.lines[-1]) == (0, "All is well."), doctor.out
    assert ottla("perf", "produce", topic, "-n", "500", "--json").document["records"] == 500
    assert ottla("perf", "consume", topic, "--json").document["records"] == 500
    assert ottla("topics", "delete", topic, "--yes").out == f"Deleted {topic}.\n"
