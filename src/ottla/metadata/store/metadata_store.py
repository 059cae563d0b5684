"""Everything of one node's quorum and metadata that outlives the process, opened together from a log directory.

The directory may have been formatted or used by Ottla or by Apache Kafka. The opener holds its `DirectoryLock`
already. Voters, kraft.version and the cluster's state come out of these parts when `RaftCore` starts on them.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from ottla.base.clock import Clock
from ottla.base.frozen import frozen
from ottla.metadata.image.metadata_image import Provenance
from ottla.metadata.store.bootstrap_file import read_bootstrap
from ottla.metadata.store.metadata_log import MetadataLog
from ottla.metadata.store.metadata_log_config import MetadataLogConfig
from ottla.metadata.store.quorum_state_file import QuorumStateFile
from ottla.metadata.store.snapshot_directory import SnapshotDirectory
from ottla.metadata.store.snapshot_file import check_snapshot, read_records
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.raft.context import RaftPorts
from ottla.raft.identity import METADATA_PARTITION, METADATA_TOPIC, OffsetAndEpoch
from ottla.raft.ports import RandomPort
from ottla.storage.disk.port import Disk
from ottla.storage.errors import StorageError
from ottla.storage.meta_properties import MetaProperties, read_meta_properties

METADATA_DIRECTORY: Final = f"{METADATA_TOPIC}-{METADATA_PARTITION}"


class NotFormattedError(StorageError):
    """The directory has no `meta.properties`."""


class StoredSnapshot(NamedTuple):
    """The state in a snapshot, for `MetadataLoader.load_snapshot`."""

    records: Iterator[MetadataRecord]
    provenance: Provenance


@frozen
class MetadataStore:
    """The parts, consistent with each other."""

    properties: MetaProperties
    """Cluster, node and directory, as formatting left them; whether they are the expected ones is for the caller."""
    bootstrap: list[VersionedRecord]
    """The records that the first controller of an empty log writes."""
    log: MetadataLog
    snapshots: SnapshotDirectory
    quorum_state: QuorumStateFile

    @classmethod
    def open(cls, disk: Disk, directory: str, clock: Clock, config: MetadataLogConfig | None = None) -> "MetadataStore":
        """Opens a log directory; `StorageError` names the file that stands in the way."""
        properties = read_meta_properties(disk, directory)
        if properties is None:
            raise NotFormattedError("no readable meta.properties: the directory is not formatted", directory)
        bootstrap = read_bootstrap(disk, directory)
        metadata_directory = f"{directory}/{METADATA_DIRECTORY}"
        quorum_state = QuorumStateFile(disk, metadata_directory)
        # Damage is found before recovery changes anything.
        quorum_state.read()
        log = MetadataLog.open(disk, metadata_directory, config or MetadataLogConfig(), clock)
        snapshots = SnapshotDirectory.open(disk, metadata_directory, log)
        return cls(properties, bootstrap, log, snapshots, quorum_state)

    def ports(self, random: RandomPort) -> RaftPorts:
        """The ports of `RaftCore`."""
        return RaftPorts(self.log, self.snapshots, self.quorum_state, random)

    def snapshot(self, snapshot_id: OffsetAndEpoch) -> StoredSnapshot:
        """The state of a snapshot that a `LoadSnapshot` names; `CorruptFileError` if it is broken."""
        data = self.snapshots.read_whole(snapshot_id)
        header = check_snapshot(data, self.snapshots.path(snapshot_id))
        provenance = Provenance(snapshot_id.offset - 1, snapshot_id.epoch, header.last_contained_log_timestamp)
        return StoredSnapshot(read_records(data), provenance)

    def close(self) -> None:
        """Brings the log to the disk and lets go of its files."""
        self.log.close()
