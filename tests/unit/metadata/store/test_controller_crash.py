"""The power goes at every operation of a controller's life in turn: what it answered is in the image afterwards."""

from random import Random

import pytest

from ottla.metadata.store.metadata_log_config import MetadataLogConfig
from ottla.storage.disk.simulated import PowerCut, SimulatedDisk
from tests.unit.metadata.store.node import NODE_ID, Node, format_standalone

CONFIG = MetadataLogConfig(segment_bytes=2500)
TOPICS = 9


def live(disk: SimulatedDisk, answered: list[str]) -> None:
    """Creates topics, with a snapshot now and then and a restart in the middle."""
    node = Node(disk, "/data", CONFIG)
    node.start_broker(NODE_ID)
    for number in range(TOPICS):
        node.create_topic(f"topic-{number}")
        answered.append(f"topic-{number}")
        if number % 3 == 2:
            node.core.delete_before_snapshot(node.take_snapshot())
        if number == 4:
            node.store.close()
            node = Node(disk, "/data", CONFIG)


def formatted() -> SimulatedDisk:
    disk = SimulatedDisk()
    format_standalone(disk, "/data")
    return disk


@pytest.mark.parametrize("seed", range(2))
def test_answered_topics_survive_a_power_cut(seed: int) -> None:
    disk = formatted()
    before = disk.operations
    live(disk, [])
    for operations in range(seed, disk.operations - before, 2):
        crashing, answered = formatted(), list[str]()
        crashing.cut_after(operations)
        with pytest.raises(PowerCut):
            live(crashing, answered)
        crashing.crash(Random(operations))
        node = Node(crashing, "/data", CONFIG)
        assert node.topics() >= set(answered), f"power cut at operation {operations}"
        assert len(node.topics()) <= len(answered) + 1
