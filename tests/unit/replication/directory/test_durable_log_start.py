from collections.abc import Callable

import pytest

from ottla.replication.directory.durable_log_start import SafeStarts
from ottla.replication.partition.partition import Partition
from tests.unit.replication.broker_under_test import BrokerUnderTest, Metadata
from tests.unit.replication.manual_loop import ManualLoop


@pytest.fixture
def partition() -> Partition:
    broker = BrokerUnderTest(ManualLoop())
    metadata = Metadata(broker)
    metadata.register(1)
    metadata.create("orders", [1])
    broker.loop.run()
    broker.produce(count=10)
    return broker.partition()


def test_a_log_start_is_told_when_it_is_written_down(partition: Partition) -> None:
    writes: list[Callable[[], None]] = []
    saved: list[int] = []
    starts = SafeStarts(writes.append)
    starts.saved = lambda found: saved.append(starts.of(found))

    def move(offset: int) -> None:
        before = partition.log.log_start_offset
        partition.log.increment_log_start_offset(offset)
        starts.moved(partition, before)

    assert starts.of(partition) == 0
    move(4)
    assert starts.of(partition) == 0
    # This comes while 4 is on its way, which is all that is safe when that is over.
    move(6)
    assert len(writes) == 1
    writes.pop()()
    assert (starts.of(partition), saved) == (4, [4])
    writes.pop()()
    assert (starts.of(partition), saved, writes) == (6, [4, 6], [])
