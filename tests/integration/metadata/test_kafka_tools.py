"""Apache Kafka's DumpLogSegments reads our metadata log and snapshot and finds nothing to complain about."""

import json
import re
from pathlib import Path

import pytest

from ottla.metadata.store.metadata_store import METADATA_DIRECTORY
from ottla.storage.disk.local import LocalDisk
from tests.kafka.peer import java, require_kafka
from tests.unit.metadata.store.node import NODE_ID, Node, format_standalone

pytestmark = pytest.mark.long

COMPLAINTS = ("Found", "Mismatch", "mismatch", "ERROR", "Could not", "isvalid: false", "Exception")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    require_kafka()
    format_standalone(LocalDisk(), str(tmp_path))
    node = Node(LocalDisk(), str(tmp_path))
    node.start_broker(NODE_ID)
    for number in range(60):
        node.create_topic(f"topic-{number}", cleanup_policy="compact")
    node.take_snapshot()
    node.create_topic("after-the-snapshot")
    node.store.close()
    return tmp_path / METADATA_DIRECTORY


def dump(*files: Path) -> str:
    names = ",".join(str(file) for file in files)
    output = java("org.apache.kafka.tools.DumpLogSegments", "--cluster-metadata-decoder", "--files", names)
    assert not [line for line in output.splitlines() if any(complaint in line for complaint in COMPLAINTS)]
    return output


def payloads(output: str) -> list[dict[str, object]]:
    return [json.loads(found) for found in re.findall(r"payload: (\{.*\})", output)]


def names_of(records: list[dict[str, object]], kind: str) -> set[object]:
    return {record["data"]["name"] for record in records if record["type"] == kind}  # type: ignore[index]


def test_dump_reads_the_log(directory: Path) -> None:
    base = directory / "00000000000000000000"
    output = dump(base.with_suffix(".log"), base.with_suffix(".index"), base.with_suffix(".timeindex"))
    records = payloads(output)
    kinds = {record["type"] for record in records}
    assert kinds >= {
        "BEGIN_TRANSACTION_RECORD",
        "FEATURE_LEVEL_RECORD",
        "END_TRANSACTION_RECORD",
        "REGISTER_BROKER_RECORD",
        "BROKER_REGISTRATION_CHANGE_RECORD",
        "TOPIC_RECORD",
        "PARTITION_RECORD",
        "CONFIG_RECORD",
    }
    assert names_of(records, "TOPIC_RECORD") == {*(f"topic-{number}" for number in range(60)), "after-the-snapshot"}
    assert "LeaderChange" in output


def test_dump_reads_the_snapshots(directory: Path) -> None:
    first, second = sorted(directory.glob("*.checkpoint"))
    output = dump(first)
    assert "KRaftVersion" in output
    assert "KRaftVoters" in output
    output = dump(second)
    assert "SnapshotHeader" in output
    assert "SnapshotFooter" in output
    records = payloads(output)
    assert names_of(records, "TOPIC_RECORD") == {f"topic-{number}" for number in range(60)}
    assert names_of(records, "FEATURE_LEVEL_RECORD") >= {"metadata.version", "group.version"}
