"""Writes tests/fixtures/kafka-4.3.1 with a real Apache Kafka: `python -m tests.kafka.make_fixture` (needs Java, Maven).

A broker is started, filled (Fixture.java) and stopped cleanly; started again, told to compact some topics, given time
for one round, and stopped. Kept are the compacted topics' directories as they were before (`before-compaction`), all
test topics' directories and the checkpoints after (`logs`), and `records.tsv`: every record as Kafka's own consumer
sees it then.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kafka.peer import VERSION, KafkaServer, java, require_kafka

FIXTURE = Path(__file__).parent.parent / "fixtures" / f"kafka-{VERSION}"
COMPACTED = ("compacted", "compacted-transactions")
TOPICS = ("codecs", "transactions", *COMPACTED)
CLUSTER_ID = "b3R0bGEtZml4dHVyZS0wMQ"
_COMPACTION_SECONDS = 20


def main() -> None:
    """Runs the broker and copies what it wrote."""
    require_kafka()
    with tempfile.TemporaryDirectory() as scratch:
        server = KafkaServer(
            Path(scratch),
            log_cleaner_backoff_ms="200",
            log_cleaner_dedupe_buffer_size="4194304",
            log_initial_task_delay_ms="500",
            log_segment_delete_delay_ms="100",
            log_index_size_max_bytes="65536",
        )
        server.format(CLUSTER_ID)
        shutil.rmtree(FIXTURE, ignore_errors=True)
        with _running(server):
            java("Fixture.java", server.bootstrap)
        for topic in COMPACTED:
            shutil.copytree(server.log_directory / f"{topic}-0", FIXTURE / "before-compaction" / f"{topic}-0")
        with _running(server):
            java("Fixture.java", server.bootstrap, "compact")
            time.sleep(_COMPACTION_SECONDS)
            records = java("Consume.java", server.bootstrap, *TOPICS)
        _copy(server.log_directory, FIXTURE / "logs")
        (FIXTURE / "records.tsv").write_text(records)


@contextmanager
def _running(server: KafkaServer) -> Iterator[None]:
    server.start()
    try:
        yield
    finally:
        server.stop()


def _copy(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        if path.is_file() and path.name not in (".lock", "bootstrap.checkpoint"):
            shutil.copy(path, target)
        elif path.name.removesuffix("-0") in TOPICS:
            shutil.copytree(path, target / path.name)


if __name__ == "__main__":
    main()
