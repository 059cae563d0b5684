"""What cannot be read stops a load; what is only unknown does not."""

import pytest

from ottla.coordinator.runtime.loading import LoadError, StoredBatch
from ottla.coordinator.runtime.shard import Shard, ShardStatus
from ottla.coordinator.runtime.timers import Timers
from tests.unit.coordinator.runtime.fake import MemoryLog, NumberMachine, number_record

UNKNOWN_TYPE = b"\x00\x63some key"


def test_records_of_unknown_types_are_counted_and_left_alone() -> None:
    shard = Shard(0, NumberMachine(), MemoryLog(), Timers())
    key, value = shard.machine.encode(number_record("a", 1))
    shard.load(StoredBatch(2, [(0, UNKNOWN_TYPE, b"some value"), (1, key, value)]))
    assert shard.finish_load(2, 0) == (2, 1)
    assert dict(shard.state.by_name) == {"a": 1}


@pytest.mark.parametrize(("key", "value"), [(b"", b""), (b"\0\0\0", b""), (b"\0\0\0\1a", b"\0\x63")])
def test_a_broken_record_fails_the_shard(key: bytes, value: bytes) -> None:
    shard = Shard(0, NumberMachine(), MemoryLog(), Timers())
    with pytest.raises(LoadError, match="Record 5 of partition 0"):
        shard.load(StoredBatch(6, [(5, key, value)]))
    assert shard.status is ShardStatus.FAILED
    with pytest.raises(LoadError, match="is failed, not loading"):
        shard.finish_load(6, 0)


def test_a_loaded_shard_cannot_be_loaded_again() -> None:
    shard = Shard(0, NumberMachine(), MemoryLog(), Timers())
    shard.finish_load(0, 0)
    with pytest.raises(LoadError, match="is active, not loading"):
        shard.load(StoredBatch(0, []))
