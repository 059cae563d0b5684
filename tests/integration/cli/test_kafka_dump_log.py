"""`kafka-dump-log` beside Kafka's own, on copies of the same files."""

import re
import shutil
from pathlib import Path

import pytest

from ottla.base.ids import Uuid
from ottla.client import Admin, Consumer, NewTopic, Producer
from ottla.protocol.metadata_log.log import encode_record
from ottla.protocol.remote_log import (
    RemoteLogSegmentIdEntry,
    RemoteLogSegmentMetadataRecord,
    RemoteLogSegmentMetadataSnapshotRecord,
    RemoteLogSegmentMetadataUpdateRecord,
    RemotePartitionDeleteMetadataRecord,
    SegmentLeaderEpochEntry,
    TopicIdPartitionEntry,
)
from tests.clients.client.java import Outcome, ToolHost
from tests.integration.cli.side_by_side import SideBySide, run_tool
from tests.kafka.server import Server

_MAIN = re.compile(r'^Exception in thread "main" ')


class Dump:
    """The tool, twice, on a copied directory."""

    def __init__(self, both: SideBySide, directory: Path) -> None:
        self._both = both
        self.directory = directory

    def same(self, ending: str, *options: str) -> Outcome:
        """Both show the same, and complain of the same."""
        files = ",".join(str(path) for path in sorted(self.directory.glob(f"*{ending}")))
        assert files
        java, ours = (run("--files", files, *options) for run in (self._both.java, self._both.ours))
        assert ours.out == java.out
        assert (ours.code, _MAIN.sub("", ours.err)) == (java.code, java.err)
        return ours


@pytest.fixture
def both(java_tools: ToolHost, tool_server: Server) -> SideBySide:
    return SideBySide(java_tools, tool_server, "DumpLogSegments", "dump_log")


@pytest.fixture(scope="module")
def filled(tool_server: Server) -> Server:
    """A server with a topic of all kinds of batches, a group that committed and a transactional producer."""
    with Admin(bootstrap_servers=tool_server.bootstrap) as admin:
        admin.create_topics([NewTopic("dumped", partitions=1, configs={"index.interval.bytes": "100"})])
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        with Producer(bootstrap_servers=tool_server.bootstrap, compression_type=codec, linger_ms=50) as producer:
            for number in range(5):
                headers = [("a", b"1"), ("b", None)] if number % 2 else None
                producer.send("dumped", b"value " * 10, None if number == 3 else b"key", headers=headers)
            producer.send("dumped", None, b"gone", timestamp_ms=1_700_000_000_000)
    with Producer(bootstrap_servers=tool_server.bootstrap, transactional_id="dumping") as producer:
        producer.init_transactions()
        for has_worked in (True, False):
            producer.begin_transaction()
            producer.send("dumped", b"in a transaction").result(30)
            (producer.commit_transaction if has_worked else producer.abort_transaction)()
    settings = {"group.id": "dumping", "auto.offset.reset": "earliest"}
    with Consumer(settings, bootstrap_servers=tool_server.bootstrap) as consumer:
        consumer.subscribe(["dumped"])
        while not consumer.poll(1):
            pass
        consumer.commit()
    return tool_server


def _dump_of(server: Server, both: SideBySide, partition: str, tmp_path: Path) -> Dump:
    shutil.copytree(server.log_directory / partition, tmp_path / partition)
    return Dump(both, tmp_path / partition)


@pytest.fixture
def dump(filled: Server, both: SideBySide, tmp_path: Path) -> Dump:
    return _dump_of(filled, both, "dumped-0", tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--deep-iteration",),
        ("--print-data-log",),
        ("--print-data-log", "--skip-record-metadata"),
        ("--deep-iteration", "--max-bytes", "700"),
        ("--value-decoder-class", "org.apache.kafka.tools.api.LongDecoder", "--max-bytes", "500"),
    ],
)
def test_batches_and_records(dump: Dump, options: tuple[str, ...]) -> None:
    shown = dump.same(".log", *options)
    assert shown.out.startswith("Dumping ")
    assert "Log starting offset: 0\nbaseOffset: 0 lastOffset: " in shown.out


def test_indexes(dump: Dump) -> None:
    for ending in (".index", ".timeindex"):
        for options in ((), ("--verify-index-only",), ("--index-sanity-check",)):
            dump.same(ending, *options)
    assert "version: 0 producerId: " in dump.same(".txnindex").out


def test_internal_topics(filled: Server, both: SideBySide, tmp_path: Path) -> None:
    offsets = _partition_of(filled, "__consumer_offsets")
    shown = _dump_of(filled, both, offsets, tmp_path).same(".log", "--offsets-decoder")
    assert '"assignedPartitions":[{"topic":"dumped","partitions":[0]}]' in shown.out
    transactions = _partition_of(filled, "__transaction_state")
    dumped = _dump_of(filled, both, transactions, tmp_path)
    assert '{"type":"0","data":{"transactionalId":"dumping"}}' in dumped.same(".log", "--transaction-log-decoder").out
    dumped.same(".log", "--transaction-log-decoder", "--skip-record-metadata")


def _partition_of(server: Server, topic: str) -> str:
    """The partition of an internal topic that something was written to."""
    logs = server.log_directory.glob(f"{topic}-*/*.log")
    return max(logs, key=lambda path: path.stat().st_size).parent.name


def test_the_metadata_of_a_cluster(filled: Server, both: SideBySide, tmp_path: Path) -> None:
    metadata = _dump_of(filled, both, "__cluster_metadata-0", tmp_path)
    shown = metadata.same(".log", "--cluster-metadata-decoder")
    assert '"name":"dumped"' in shown.out
    assert metadata.same(".checkpoint", "--cluster-metadata-decoder").out


def test_producers(filled: Server, both: SideBySide, tmp_path: Path, dump: Dump) -> None:
    # A clean stop writes the snapshot.
    filled.stop()
    filled.start()
    again = tmp_path / "again"
    stopped = _dump_of(filled, both, "dumped-0", again)
    assert "currentTxnFirstOffset: OptionalLong.empty" in stopped.same(".snapshot").out
    for ending in (".index", ".timeindex"):
        stopped.same(ending)


def test_where_tiered_segments_are(tool_server: Server, both: SideBySide, tmp_path: Path) -> None:
    topic = TopicIdPartitionEntry(name="orders", id=Uuid(bytes(range(16))), partition=3)
    segment = RemoteLogSegmentIdEntry(topic_id_partition=topic, id=Uuid(bytes(range(16, 32))))
    epochs = [SegmentLeaderEpochEntry(leader_epoch=2, offset=7), SegmentLeaderEpochEntry(leader_epoch=0, offset=5)]
    offsets = {"start_offset": 5, "end_offset": 9, "segment_leader_epochs": epochs, "custom_metadata": b"ab"}
    backwards = {"start_offset": 9, "end_offset": 5}
    run_tool("topics", "--bootstrap-server", tool_server.bootstrap, "--create", "--topic", "tiered")
    with Producer(bootstrap_servers=tool_server.bootstrap) as producer:
        for record in (
            RemoteLogSegmentMetadataRecord(remote_log_segment_id=segment, txn_index_empty=True, **offsets),
            RemoteLogSegmentMetadataRecord(remote_log_segment_id=segment, **backwards),
            RemoteLogSegmentMetadataUpdateRecord(remote_log_segment_id=segment, remote_log_segment_state=3),
            RemoteLogSegmentMetadataUpdateRecord(remote_log_segment_id=segment, remote_log_segment_state=9),
            RemotePartitionDeleteMetadataRecord(topic_id_partition=topic, remote_partition_delete_state=1),
            RemoteLogSegmentMetadataSnapshotRecord(segment_id=segment.id, **offsets),
        ):
            producer.send("tiered", encode_record(record, 0)).result()
    shown = _dump_of(tool_server, both, "tiered-0", tmp_path).same(".log", "--remote-log-metadata-decoder")
    assert "segmentLeaderEpochs={0=5, 2=7}" in shown.out
    assert shown.out.count("skipping.") == 2


def test_records_that_a_decoder_can_not_read(dump: Dump) -> None:
    # The line of the record ends where its key should stand.
    assert dump.same(".log", "--offsets-decoder").out.splitlines()[-1].endswith(" headerKeys: [a,b]")
    assert dump.same(".log", "--max-bytes", "-1").code == 1
    assert dump.same(".log", "--max-bytes", "x").out.startswith("Dumping ")
    assert dump.same(".log", "--value-decoder-class", "no.such.Decoder").out.startswith("Dumping ")


def test_damage(dump: Dump) -> None:
    [log] = dump.directory.glob("*.log")
    whole = log.read_bytes()
    log.write_bytes(whole[:-3])
    assert "invalid bytes at the end of 00000000000000000000.log" in dump.same(".log").out
    flipped = bytearray(whole)
    flipped[60] ^= 1
    log.write_bytes(flipped)
    assert "isvalid: false" in dump.same(".log").out
    log.write_bytes(whole + bytes(20))
    assert dump.same(".log").code == 1
    [index] = dump.directory.glob("*.index")
    index.write_bytes(bytes([0, 0, 0, 3, 0, 0, 0, 0]) + bytes(8))
    log.write_bytes(whole)
    assert "Mismatches in :" in dump.same(".index").err
    [times] = dump.directory.glob("*.timeindex")
    times.write_bytes((5).to_bytes(8, "big") + (5).to_bytes(4, "big") + (4).to_bytes(8, "big") + (2).to_bytes(4, "big"))
    assert dump.same(".timeindex").err
    assert dump.same(".timeindex", "--index-sanity-check").code == 1
    times.write_bytes(bytes(13))
    assert dump.same(".timeindex", "--index-sanity-check").code == 1
    [aborted] = dump.directory.glob("*.txnindex")
    aborted.write_bytes(aborted.read_bytes() + bytes(5))
    assert "version: 0 producerId: " in dump.same(".txnindex").out


@pytest.mark.parametrize("wrong", ["--files /nowhere/00000000000000000000.log", "--nonsense", "--help", "--version"])
def test_wrong_calls(both: SideBySide, wrong: str) -> None:
    java, ours = both.java(*wrong.split()), both.ours(*wrong.split())
    assert (ours.code, ours.out) == (java.code, java.out)
    assert _MAIN.sub("", ours.err).partition("\n")[0] == java.err.partition("\n")[0]


def test_unknown_files_are_passed_over(both: SideBySide, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "notes").write_text("x")
    both.same("--files", f"{tmp_path}/notes.txt,{tmp_path}//notes,")
