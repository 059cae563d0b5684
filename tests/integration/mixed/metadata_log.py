"""What controllers left on disk: the batches of their metadata logs, their snapshots, and the image that these make."""

from pathlib import Path

from ottla.metadata.batch import read_batches
from ottla.metadata.image.metadata_image import MetadataImage, Provenance
from ottla.metadata.loader import MetadataLoader
from ottla.metadata.store.snapshot_file import check_snapshot, read_records
from ottla.metadata.store.snapshot_name import parse
from ottla.protocol.records.batch import batches
from tests.integration.mixed.cluster import MixedCluster
from tests.integration.mixed.topics import Topics


class MetadataReplica:
    """One controller's `__cluster_metadata-0`, of a controller that does not run."""

    def __init__(self, directory: Path) -> None:
        self.batches: dict[int, bytes] = {}
        """The bytes of the batches in its segments, by base offset."""
        self.end_offset = 0
        for segment in sorted(directory.glob("*.log")):
            data = segment.read_bytes()
            for batch in batches(data):
                assert batch.crc_matches()
                self.batches[batch.base_offset] = data[batch.position : batch.end]
                self.end_offset = batch.next_offset
        self.snapshots = {
            file.name: file.read_bytes() for file in sorted(directory.glob("*.checkpoint")) if file.name[:1].isdigit()
        }

    def image(self, end_offset: int) -> MetadataImage:
        """What its latest snapshot and the log behind it, up to an offset, come to."""
        loader = MetadataLoader()
        for name, data in self.snapshots.items():
            found = parse(name)
            assert found is not None
            snapshot_id = found.snapshot_id
            header = check_snapshot(data, name)
            if 0 < snapshot_id.offset <= end_offset:
                place = Provenance(snapshot_id.offset - 1, snapshot_id.epoch, header.last_contained_log_timestamp)
                loader.load_snapshot(read_records(data), place)
        behind = [self.batches[base] for base in sorted(self.batches) if loader.last_offset < base < end_offset]
        loader.load(read_batches(b"".join(behind)))
        return loader.image


def same_log(replicas: list[MetadataReplica]) -> int:
    """Asserts that the logs hold the same bytes wherever they overlap, and that the images are equal; up to where."""
    end = min(replica.end_offset for replica in replicas)
    first, *others = replicas
    for other in others:
        shared = [base for base in first.batches if base in other.batches]
        assert shared
        assert max(shared) == max(base for base in first.batches if base < min(first.end_offset, other.end_offset))
        for base in shared:
            assert first.batches[base] == other.batches[base], f"the batches at {base} differ"
    images = [replica.image(end) for replica in replicas]
    assert all(image == images[0] for image in images)
    return end


def assert_same(cluster: MixedCluster, topics: Topics) -> None:
    """All controllers hold the same log, and with it all topics. Ends the cluster."""
    cluster.until_caught_up()
    cluster.kill()
    replicas = [MetadataReplica(member.metadata_directory) for member in cluster.controllers.values()]
    end = same_log(replicas)
    for replica in replicas:
        assert {topic.name for topic in replica.image(end).topics.by_id.values()} == topics.created
