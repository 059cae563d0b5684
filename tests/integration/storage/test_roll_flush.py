"""Closed segments are flushed while the broker runs: after a kill -9 only what came since is read again."""

from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from tests.clients.patience import until
from tests.clients.server import CLUSTER_ID, OttlaServer
from tests.clients.topic import create

SEGMENT_BYTES = 1 << 20
SEGMENTS = 8
VALUE = b"v" * 10_000


def recovery_point(server: OttlaServer) -> int:
    """Of the only partition, as the checkpoint has it; 0 before it is named there."""
    path = server.log_directory / "recovery-point-offset-checkpoint"
    lines = path.read_text().splitlines() if path.exists() else []
    return next((int(line.split()[2]) for line in lines if line.startswith("orders 0 ")), 0)


def index_times(partition: Path) -> dict[str, int]:
    """When each offset index was last written: recovery writes those anew whose segments it reads."""
    return {path.name: path.stat().st_mtime_ns for path in sorted(partition.glob("*.index"))}


def test_a_start_after_kill_9_reads_what_was_not_flushed(tmp_path: Path) -> None:
    server = OttlaServer(tmp_path, log_flush_offset_checkpoint_interval_ms="200", log_initial_task_delay_ms="100")
    server.format(CLUSTER_ID)
    server.start()
    try:
        create(server, "orders", segment_bytes=str(SEGMENT_BYTES))
        producer = Producer({"bootstrap.servers": server.bootstrap, "linger.ms": 0, "batch.size": 100_000})
        count = SEGMENTS * SEGMENT_BYTES // len(VALUE)
        for _ in range(count):
            producer.produce("orders", VALUE, partition=0)
        assert producer.flush(60) == 0

        partition = server.log_directory / "orders-0"
        active = max(int(path.stem) for path in partition.glob("*.log"))
        until(True, lambda: recovery_point(server) >= active)
        server.kill()
        before = index_times(partition)
        assert len(before) >= SEGMENTS - 1
        server.start()
        after = index_times(partition)
        # The segment before the active one is looked at, too: its trim may not have been on the disk.
        kept = sorted(before)[:-2]
        assert {name: after[name] for name in kept} == {name: before[name] for name in kept}

        consumer = Consumer({"bootstrap.servers": server.bootstrap, "group.id": "none", "enable.auto.commit": False})
        assert consumer.get_watermark_offsets(TopicPartition("orders", 0), timeout=30) == (0, count)
        consumer.close()
    finally:
        server.kill()
