"""A controller on a disk: what it answered is there when it starts again."""

import shutil
from pathlib import Path

import pytest

from ottla.metadata.batch import read_batches
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.metadata.loader import MetadataLoader
from ottla.metadata.store.format import QuorumKind
from ottla.metadata.store.metadata_log_config import MetadataLogConfig
from ottla.metadata.store.metadata_store import METADATA_DIRECTORY, MetadataStore
from ottla.raft.endpoint import Address
from ottla.raft.voters.voter_set import VoterSet
from ottla.storage.disk.local import LocalDisk
from ottla.storage.errors import CorruptFileError
from tests.unit.metadata.store.node import CLUSTER_ID, LISTENER, NODE_ID, Node, TestClock, format_standalone

FIXTURE = Path(__file__).parents[3] / "fixtures" / "kafka-4.3.1-metadata"


def state(image: MetadataImage) -> tuple[object, ...]:
    """Everything in an image but where in the log it stands."""
    return (
        image.features,
        image.cluster,
        image.topics,
        image.configs,
        image.client_quotas,
        image.next_producer_id,
        image.acls,
        image.scram,
        image.delegation_tokens,
    )


@pytest.fixture
def directory(tmp_path: Path) -> str:
    format_standalone(LocalDisk(), str(tmp_path))
    return str(tmp_path)


def test_image_outlives_the_process(directory: str) -> None:
    node = Node(LocalDisk(), directory)
    assert node.core.voters.ids == (NODE_ID,)
    assert node.core.kraft_version == 1
    node.start_broker(NODE_ID)
    node.create_topic("orders", cleanup_policy="compact")
    snapshot_id = node.take_snapshot()
    node.create_topic("payments")
    before = state(node.image)
    node.store.close()

    again = Node(LocalDisk(), directory)
    assert again.store.snapshots.latest_id == snapshot_id
    assert state(again.image) == before
    assert again.topics() == {"orders", "payments"}
    assert again.core.leader.epoch > node.core.leader.epoch


def test_snapshot_replaces_the_log(directory: str) -> None:
    config = MetadataLogConfig(segment_bytes=2000)
    node = Node(LocalDisk(), directory, config)
    node.start_broker(NODE_ID)
    for number in range(20):
        node.create_topic(f"topic-{number}")
    node.core.delete_before_snapshot(node.take_snapshot())
    before = state(node.image)
    node.store.close()
    names = [path.name for path in (Path(directory) / METADATA_DIRECTORY).iterdir()]
    assert sum(name.endswith(".log") for name in names) == 1
    assert sum(name.endswith(".checkpoint") for name in names) == 1

    again = Node(LocalDisk(), directory, config)
    assert again.store.log.start_offset > 0
    assert state(again.image) == before
    again.create_topic("one-more")
    assert len(again.topics()) == 21


def test_static_voters(tmp_path: Path) -> None:
    format_standalone(LocalDisk(), str(tmp_path), controllers=QuorumKind.STATIC)
    voters = VoterSet.of_static(LISTENER, {NODE_ID: Address("127.0.0.1", 9093)})
    node = Node(LocalDisk(), str(tmp_path), static_voters=voters)
    node.start_broker(NODE_ID)
    node.create_topic("orders")
    node.store.close()
    again = Node(LocalDisk(), str(tmp_path), static_voters=voters)
    assert (again.topics(), again.core.kraft_version) == ({"orders"}, 0)
    text = again.store.quorum_state.read()
    assert text is not None
    assert '"data_version":0' in text


def test_a_flipped_bit_loses_no_topic_in_silence(directory: str) -> None:
    node = Node(LocalDisk(), directory)
    node.start_broker(NODE_ID)
    node.create_topic("orders")
    node.create_topic("payments")
    path = Path(directory) / METADATA_DIRECTORY / "00000000000000000000.log"
    data = bytearray(path.read_bytes())
    data[data.index(b"orders")] ^= 1
    path.write_bytes(data)
    with pytest.raises(CorruptFileError, match="no interrupted write") as refusal:
        MetadataStore.open(LocalDisk(), directory, TestClock())
    assert refusal.value.path == str(path)
    assert path.read_bytes() == data


def test_a_corrupt_vote_stops_the_node(directory: str) -> None:
    Node(LocalDisk(), directory).store.close()
    path = Path(directory) / METADATA_DIRECTORY / "quorum-state"
    path.write_text("{")
    with pytest.raises(CorruptFileError, match=str(path)):
        MetadataStore.open(LocalDisk(), directory, TestClock())


def test_a_directory_that_kafka_used(tmp_path: Path) -> None:
    format_standalone(LocalDisk(), str(tmp_path))
    for path in FIXTURE.glob("0*"):
        shutil.copy(path, tmp_path / METADATA_DIRECTORY / path.name)
    shutil.copy(FIXTURE / "bootstrap.checkpoint", tmp_path)
    store = MetadataStore.open(LocalDisk(), str(tmp_path), TestClock())
    snapshot_id = store.snapshots.latest_id
    assert snapshot_id is not None
    from_snapshot, from_log = MetadataLoader(), MetadataLoader()
    from_snapshot.load_snapshot(*store.snapshot(snapshot_id))
    offset = 0
    while offset < snapshot_id.offset:
        for batch in read_batches(store.log.read(offset, 1000)):
            if batch.last_offset < snapshot_id.offset:
                from_log.load([batch])
            offset = batch.last_offset + 1
    assert state(from_snapshot.image) == state(from_log.image)
    assert from_snapshot.image.provenance.offset == from_log.image.provenance.offset == snapshot_id.offset - 1
    assert len(from_log.image.topics.by_id) > 1


def test_identity(directory: str) -> None:
    store = MetadataStore.open(LocalDisk(), directory, TestClock())
    assert (store.properties.cluster_id, store.properties.node_id) == (CLUSTER_ID, NODE_ID)
