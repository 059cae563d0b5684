"""A state that is lost starts from a snapshot and what the changelogs have since: without Spark, with a real server."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.producer.producer import Producer
from ottla.streams import Consumed, Grouped, Materialized, Serdes, StreamsBuilder, Topology
from ottla.streams.engine.error_handler import InputRecord
from ottla.streams.errors import StreamsError
from tests.integration.pipelines.conftest import CreateTopic
from tests.kafka.server import Server

pytest.importorskip("pyspark", reason="needs pyspark: pip install ottla[spark]")

from ottla.pipelines.option.parse import parse_stream_read
from ottla.pipelines.streams.setting import StreamsSettings
from ottla.pipelines.streams.shipment import Shipment, SnapshotTerms
from ottla.pipelines.streams.state_opening import StateOpening
from ottla.pipelines.streams.task_output import output_of
from ottla.pipelines.streams.task_partition import TaskPartition
from ottla.pipelines.streams.topic_setup import TopicSetup
from ottla.streams.host.batch_run import BatchRun
from ottla.streams.state.local_state import remove_state

TEXT = Serdes.string()


def counting(source: str) -> Topology:
    builder = StreamsBuilder()
    grouped = builder.stream(source, Consumed.with_(TEXT, TEXT)).group_by_key(Grouped.with_(TEXT, TEXT))
    grouped.count(materialized_as=Materialized.as_("counts"))
    return builder.build()


class Counting:
    """The one task of an application that counts: batches run here, their changelog records are written at once."""

    def __init__(self, broker: Server, source: str, directory: Path, interval_ms: int) -> None:
        config = {
            "application.id": f"snapshots-of-{source}",
            "bootstrap.servers": broker.bootstrap,
            "state.dir": str(directory / "state"),
            "replication.factor": "1",
        }
        settings = StreamsSettings.of(config)
        application, _ = TopicSetup(counting(source), config, settings).prepare()
        terms = SnapshotTerms(directory / "snapshots", interval_ms)
        self.shipment = Shipment(application, settings.state_dir / "state", False, settings.writer, None, terms)
        given = {"kafka.bootstrap.servers": broker.bootstrap, "subscribe": source}
        self._options = parse_stream_read({name.lower(): value for name, value in given.items()})
        self._source = source
        self._offset = 0
        self._producer = Producer(bootstrap_servers=broker.bootstrap)

    def batch(self, *keys: str) -> dict[str, int]:
        """Counts these; the counts that the state had before."""
        opening = self._opening(self._offset + len(keys))
        try:
            batch = opening.begin()
            assert batch is not None
            run = BatchRun(self.shipment.application, 0, batch)
            before = {
                key.decode(): int.from_bytes(value[8:], "big") for key, value in batch.map("counts").scan(b"", None)
            }
            records = [
                InputRecord(self._source, 0, self._offset + number, number, key.encode(), b"x")
                for number, key in enumerate(keys)
            ]
            for written in run.outputs({self._source: iter(records)}):
                for record in (record for columns in written for record in columns.records()):
                    self._producer.send(record.topic, record.value, key=record.key, timestamp_ms=record.timestamp)
            self._producer.flush()
            batch.commit({self._source: self._offset + len(keys)}, run.times)
        finally:
            opening.close()
        self._offset += len(keys)
        return before

    def lose_the_disk(self) -> None:
        remove_state(self.shipment.state_dir)

    def snapshots(self) -> list[Path]:
        return sorted((self.shipment.snapshots.directory if self.shipment.snapshots else Path()).rglob("manifest.json"))

    def close(self) -> None:
        self._producer.close()

    def _opening(self, end: int) -> StateOpening:
        task = TaskPartition(0, [], ({self._source: self._offset}, {self._source: end}))
        return StateOpening(self.shipment, self._options, task, output_of(self.shipment, 0))


@pytest.fixture
def counted(broker: Server, topic: CreateTopic, tmp_path: Path) -> Iterator[Counting]:
    found = Counting(broker, topic(), tmp_path, 0)
    yield found
    found.close()


def restored(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the log says of restoring, without the name of the application."""
    said = [record.getMessage().partition("] ")[2] for record in caplog.records if "] " in record.getMessage()]
    caplog.clear()
    return [line for line in said if "restored" in line or "snapshot" in line]


def test_only_what_came_after_the_snapshot_is_read_again(counted: Counting, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    counted.batch("a", "b", "a")
    counted.batch("c", "a")
    assert counted.batch("a", "d", "d", "d") == {"a": 3, "b": 1, "c": 1}
    # Two are kept: of the states at the starts of the last two batches.
    assert len(counted.snapshots()) == 2
    counted.lose_the_disk()
    assert counted.batch("b") == {"a": 4, "b": 1, "c": 1, "d": 3}
    assert restored(caplog) == ["starts from a snapshot", "restored 4 records from changelogs"]
    assert counted.batch("b") == {"a": 4, "b": 2, "c": 1, "d": 3}


def test_a_snapshot_that_is_damaged_or_of_another_changelog_is_not_used(
    counted: Counting, caplog: pytest.LogCaptureFixture, admin: Admin
) -> None:
    caplog.set_level(logging.WARNING)
    counted.batch("a", "b", "a")
    counted.batch("c")
    manifest = counted.snapshots()[-1]
    (manifest.parent / "data.mdb").unlink()
    counted.lose_the_disk()
    assert counted.batch("a") == {"a": 2, "b": 1, "c": 1}
    said = restored(caplog)
    assert "the snapshot cannot be read" in said[0]
    assert said[1] == "restored 4 records from changelogs"
    counted.batch("a")
    [changelog] = counted.shipment.application.changelogs.values()
    admin.delete_topics([changelog.name])
    counted.lose_the_disk()
    with pytest.raises(StreamsError, match=r"the changelog .* is gone, .* Reset the application"):
        counted.batch("a")


def test_a_snapshot_that_the_changelog_does_not_go_on_from(counted: Counting, caplog: pytest.LogCaptureFixture) -> None:
    """As after an unclean election: the end of the changelog that the snapshot knows is lost."""
    caplog.set_level(logging.WARNING)
    counted.batch("a", "b", "a")
    counted.batch("c", "c")
    manifest = counted.snapshots()[-1]
    found = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**found, "offsets": dict.fromkeys(found["offsets"], 1_000)}))
    counted.lose_the_disk()
    assert counted.batch("a") == {"a": 2, "b": 1, "c": 2}
    assert restored(caplog) == [
        "the changelogs do not go on from the snapshot: they are read as a whole",
        "restored 5 records from changelogs",
    ]


def test_without_changelogs_and_before_it_is_due_there_is_none(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    counted = Counting(broker, topic(), tmp_path, 3_600_000)
    for _ in range(3):
        counted.batch("a")
    assert len(counted.snapshots()) == 1
    counted.close()
