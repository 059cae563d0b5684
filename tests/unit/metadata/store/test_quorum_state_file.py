"""The vote is on the disk, old or new, and never half of it."""

from random import Random

import pytest

from ottla.metadata.store.quorum_state_file import QuorumStateFile
from ottla.raft.identity import ReplicaKey
from ottla.raft.quorum_state import ElectionState, encode
from ottla.storage.disk.atomic import write_atomically
from ottla.storage.disk.simulated import PowerCut, SimulatedDisk
from ottla.storage.errors import CorruptFileError

OLD = encode(ElectionState(epoch=3, leader_id=2), kraft_version=1)
NEW = encode(ElectionState(epoch=4, voted_key=ReplicaKey(3)), kraft_version=1)


@pytest.fixture
def disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directory("/data")
    disk.flush_directory("/")
    return disk


def test_a_node_that_never_voted(disk: SimulatedDisk) -> None:
    assert QuorumStateFile(disk, "/data").read() is None


@pytest.mark.parametrize("text", [b"{}", b"\xff\xfe", b"", b'{"leaderId":1,"data_version":7}'])
def test_refuses_what_it_cannot_read(disk: SimulatedDisk, text: bytes) -> None:
    write_atomically(disk, "/data/quorum-state", text)
    with pytest.raises(CorruptFileError, match=r"/data/quorum-state.* starts without this file"):
        QuorumStateFile(disk, "/data").read()


@pytest.mark.parametrize("seed", range(5))
def test_a_power_cut_leaves_the_old_or_the_new(seed: int) -> None:
    seen = set()
    for operations in range(10):
        disk = SimulatedDisk()
        disk.make_directory("/data")
        disk.flush_directory("/")
        file = QuorumStateFile(disk, "/data")
        file.write(OLD)
        disk.cut_after(operations)
        try:
            file.write(NEW)
            done = True
        except PowerCut:
            done = False
        disk.crash(Random(seed * 100 + operations))
        found = QuorumStateFile(disk, "/data").read()
        assert found == NEW if done else found in (OLD, NEW)
        seen.add(found)
    assert seen == {OLD, NEW}
