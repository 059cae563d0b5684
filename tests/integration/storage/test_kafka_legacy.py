"""Old messages are compacted into the batches that Apache Kafka's cleaner makes of them."""

from pathlib import Path

import pytest

from ottla.protocol.compression import CompressionType
from ottla.protocol.records.batch import Batch, Batches
from ottla.protocol.records.reader import decode_batch
from ottla.storage.cleaner.compaction import Compaction
from ottla.storage.cleaner.work_order import WorkOrder
from ottla.storage.disk.local import LocalDisk
from tests.kafka.peer import java, require_kafka
from tests.unit.storage.legacy_builder import message, wrapper, write_segment

pytestmark = pytest.mark.long

T0 = 1_700_000_000_000
DAY_MS = 86_400_000
LOG_APPEND_TIME = 8


def old_log() -> bytes:
    """Offsets 0 to 18 with the keys a to e, of both magics, plain and wrapped, with tombstones."""
    return b"".join(
        [
            message(0, 0, (b"a", b"0")),
            message(1, 0, (b"b", b"1")),
            message(2, 1, (b"c", b"2"), timestamp=T0 + 2),
            wrapper(3, 0, [(b"a", b"3"), (b"d", b"4"), (b"d", b"5")], CompressionType.GZIP),
            wrapper(6, 1, [(b"e", b"6"), (b"x", b"7"), (b"x", b"8")], CompressionType.SNAPPY, T0 + 10),
            message(9, 1, (b"y", b"9"), attributes=LOG_APPEND_TIME, timestamp=T0 + 20),
            wrapper(10, 1, [(b"y", None), (b"x", b"11"), (b"z", None)], CompressionType.LZ4, T0 + 30),
            message(13, 0, (b"n", None)),
            message(14, 1, (None, b"no key"), timestamp=T0 + 40),
            message(15, 1, (b"q", b"15"), attributes=LOG_APPEND_TIME, timestamp=T0 + 50),
            wrapper(16, 1, [(b"r", b"16"), (b"q", b"17"), (b"r", b"18")], CompressionType.GZIP, T0 + 60),
        ]
    )


LATEST = (1, 2, 3, 5, 6, 10, 11, 12, 13, 17, 18)


def compacted(directory: Path) -> bytes:
    order = WorkOrder(
        directory=str(directory),
        segments=(0,),
        first_dirty_offset=0,
        end_offset=19,
        now_ms=T0,
        keys_max=1000,
        io_buffer_bytes=1000,
        io_max_bytes_per_second=1e300,
        segment_bytes=1 << 20,
        segment_index_bytes=1 << 20,
        index_interval_bytes=4096,
        delete_retention_ms=DAY_MS,
    )
    for _ in Compaction(LocalDisk(), order, bytes(16), lambda count: None).run():
        pass
    return (directory / f"{0:020d}.log.cleaned").read_bytes()


def facts(batch: Batch) -> tuple[object, ...]:
    """All of a batch but its size and CRC, which the codec's implementation decides."""
    return (
        batch.base_offset,
        batch.last_offset,
        batch.partition_leader_epoch,
        batch.attributes,
        batch.base_timestamp,
        batch.max_timestamp,
        (batch.producer_id, batch.producer_epoch, batch.base_sequence),
        decode_batch(batch),
    )


def test_old_messages_become_the_batches_that_kafka_makes_of_them(tmp_path: Path) -> None:
    require_kafka()
    write_segment(LocalDisk(), str(tmp_path), 0, old_log())
    ours = list(Batches(compacted(tmp_path)))
    kept = ",".join(map(str, LATEST))
    theirs = list(
        Batches(bytes.fromhex(java("LegacyFilter.java", f"{tmp_path}/{0:020d}.log", kept, str(T0), str(DAY_MS))))
    )
    assert [facts(batch) for batch in ours] == [facts(batch) for batch in theirs]
    assert [bytes(batch.data) for batch in ours if not batch.codec_id] == [
        bytes(batch.data) for batch in theirs if not batch.codec_id
    ]
    assert [record[0] for batch in ours for record in decode_batch(batch)] == list(LATEST)
