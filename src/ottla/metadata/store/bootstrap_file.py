"""The file `bootstrap.checkpoint`: the first records of a new cluster, in the form of a snapshot.

Formatting writes it into every log directory; the first controller that is elected on an empty log writes the records.
"""

from collections.abc import Sequence
from typing import Final

from ottla.metadata.batch import record_values
from ottla.metadata.controller.bootstrap import bootstrap_records
from ottla.metadata.metadata_version import FEATURE_NAME, LATEST
from ottla.metadata.store.snapshot_file import check_snapshot
from ottla.protocol.metadata_log.log import VersionedRecord, decode_record
from ottla.protocol.records.batch import batches
from ottla.protocol.records.reader import decode_batch
from ottla.raft.snapshot.writer import bootstrap_snapshot
from ottla.storage.disk.atomic import read_whole, write_atomically
from ottla.storage.disk.port import Disk

BOOTSTRAP_FILE: Final = "bootstrap.checkpoint"


def write_bootstrap(disk: Disk, directory: str, records: Sequence[VersionedRecord], now_ms: int) -> None:
    """Replaces the file; it is on the disk when this returns."""
    data = bootstrap_snapshot(kraft_version=0, voters=None, values=record_values(records), now_ms=now_ms)
    write_atomically(disk, f"{directory}/{BOOTSTRAP_FILE}", data)


def read_bootstrap(disk: Disk, directory: str) -> list[VersionedRecord]:
    """The records in the file; without one, as in Kafka, those of the newest metadata.version and nothing else."""
    path = f"{directory}/{BOOTSTRAP_FILE}"
    data = read_whole(disk, path)
    if data is None:
        return bootstrap_records({FEATURE_NAME: int(LATEST)})
    check_snapshot(data, path)
    return [
        decode_record(value)
        for batch in batches(data)
        if not batch.is_control
        for _, _, _, value, _ in decode_batch(batch)
        if value is not None
    ]
